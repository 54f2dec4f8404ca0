"""Corrections of the stored account, with what it said before (docs/adr/0032)."""

from collections.abc import Sequence
from typing import NamedTuple

import orjson
from peewee import fn

from limes.core.metering.account import Account
from limes.core.metering.calendar import Granularity
from limes.db.compiled import any_of, compiled, compiled_insert
from limes.db.engine import Engine
from limes.db.models import MeteringState, UsageCorrection
from limes.db.queries.usage_accounts import write_rows
from limes.db.queries.usage_sources import Meter, StoredAccount


class Correction(NamedTuple):
    """A closed day or month that said something else before."""

    corrected_at: int
    reason: str
    granularity: str
    meter: Meter
    before: StoredAccount


_ADD_CORRECTIONS = compiled_insert(
    UsageCorrection,
    UsageCorrection.corrected_at, UsageCorrection.reason, UsageCorrection.granularity, UsageCorrection.project_uuid,
    UsageCorrection.service_type, UsageCorrection.resource_name, UsageCorrection.az, UsageCorrection.begins,
    UsageCorrection.version, UsageCorrection.before,
)  # fmt: skip


class CheckedCorrections(NamedTuple):
    """Which corrections were made by the present rules.

    All who correct have locked the state, so that numbers are in the order in which they commit.
    """

    until: int
    """The number of the last one of which that is known."""
    last: int
    """The number of the last one."""
    begins: int | None
    """When the first day or month begins that was corrected after that."""


_LATER = UsageCorrection.select(fn.MIN(UsageCorrection.begins)).where(
    UsageCorrection.number > MeteringState.checked_correction
)
_CHECKED = compiled(
    lambda p: MeteringState.select(
        MeteringState.checked_correction,
        fn.COALESCE(UsageCorrection.select(fn.MAX(UsageCorrection.number)), 0),
        _LATER,
    )
)
_CHECK_UNTIL = compiled(lambda p: MeteringState.update(checked_correction=p.number))


def checked_corrections(engine: Engine) -> CheckedCorrections:
    """Returns which corrections are known to be made by the present rules. To be called once the account has begun."""
    (found,) = engine.all(_CHECKED, CheckedCorrections)
    return found


def check_corrections(engine: Engine, until: int) -> None:
    """Notes that all corrections until this number were made by the present rules, or repaired."""
    engine.write(_CHECK_UNTIL, number=until)


def add_corrections(engine: Engine, corrections: Sequence[Correction]) -> None:
    """Notes corrections that were made by the present rules."""
    if not corrections:
        return
    before = checked_corrections(engine)
    rows = []
    for each in corrections:
        used, committed, beyond, *rest = each.before.account
        # totals may have more than 64 bits
        document = orjson.dumps([str(used), str(committed), str(beyond), *rest]).decode()
        key = (*each.meter, each.before.begin, each.before.version)
        rows.append((each.corrected_at, each.reason, each.granularity, *key, document))
    write_rows(engine, _ADD_CORRECTIONS, rows)
    if before.until == before.last:
        check_corrections(engine, checked_corrections(engine).last)


class CorrectionRow(NamedTuple):
    """A stored correction."""

    corrected_at: int
    reason: str
    granularity: str
    project_uuid: str
    service_type: str
    resource_name: str
    az: str
    begins: int
    version: int
    before: str

    @property
    def meter(self) -> Meter:
        """What it is about."""
        return Meter(self.project_uuid, self.service_type, self.resource_name, self.az)

    @property
    def account(self) -> Account:
        """What was said before."""
        used, committed, beyond, *rest = orjson.loads(self.before)
        return Account(int(used), int(committed), int(beyond), *rest)


_CORRECTIONS = compiled(
    lambda p: (
        UsageCorrection.select(*(getattr(UsageCorrection, name) for name in CorrectionRow._fields))
        .where(
            any_of(UsageCorrection.project_uuid, p.projects),
            UsageCorrection.begins >= p.begin,
            UsageCorrection.begins < p.end,
        )
        .order_by(UsageCorrection.number)
    )
)


def corrections(engine: Engine, projects: Sequence[str], begin: int, end: int) -> list[CorrectionRow]:
    """Returns the corrections of days and months that begin in this time, in their order."""
    return engine.all(_CORRECTIONS, CorrectionRow, projects=projects, begin=begin, end=end)


def months_to_write(engine: Engine, projects: Sequence[str], month: int) -> dict[Meter, int]:
    """Returns the versions of an open month that was closed before, by a clock that was ahead."""
    found: dict[Meter, int] = {}
    for row in corrections(engine, projects, month, month + 1):
        if row.granularity == Granularity.MONTH:
            found[row.meter] = max(row.version + 1, found.get(row.meter, 1))
    return found
