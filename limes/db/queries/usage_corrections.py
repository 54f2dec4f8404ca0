"""Corrections of the stored account with what it said before, and what is recorded late (docs/adr/0032)."""

from collections.abc import Sequence
from typing import NamedTuple

import orjson
from peewee import fn

from limes.core.calendar import Granularity
from limes.core.metering import Account
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.models import MeteringState, UsageCorrection, UsageGap, UsageStep
from limes.db.queries.metering import PENDING
from limes.db.queries.usage_accounts import ROWS
from limes.db.queries.usage_sources import Meter, StoredAccount
from limes.db.query import Insert, Node, column, rows, tuples, writes


class Correction(NamedTuple):
    """A closed day or month that said something else before."""

    corrected_at: int
    reason: str
    granularity: str
    meter: Meter
    before: StoredAccount


class CorrectionRow(NamedTuple):
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
        return Meter(self.project_uuid, self.service_type, self.resource_name, self.az)

    @property
    def account(self) -> Account:
        used, committed, beyond, *rest = orjson.loads(self.before)
        return Account(int(used), int(committed), int(beyond), *rest)


_insert = Insert(CorrectionRow, UsageCorrection, at_once=ROWS)


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


@rows(CheckedCorrections)
def _checked() -> Node:
    row, state = UsageCorrection, MeteringState
    last = fn.COALESCE(row.select(fn.MAX(row.number)), 0)
    later = row.select(fn.MIN(row.begins)).where(row.number > state.checked_correction)
    return state.select(state.checked_correction, last, later)


def checked_corrections(engine: Engine) -> CheckedCorrections:
    """Which corrections are known to be made by the present rules. To be called once the account has begun."""
    (found,) = _checked(engine)
    return found


@writes
def check_corrections(until: int) -> Node:
    """Notes that all corrections until this number were made by the present rules, or repaired."""
    return MeteringState.update(checked_correction=until)


def add_corrections(engine: Engine, corrections: Sequence[Correction]) -> None:
    """Notes corrections that were made by the present rules."""
    if not corrections:
        return
    before = checked_corrections(engine)
    new = []
    for each in corrections:
        used, committed, beyond, *rest = each.before.account
        # totals may have more than 64 bits
        document = orjson.dumps([str(used), str(committed), str(beyond), *rest]).decode()
        key = (*each.meter, each.before.begin, each.before.version)
        new.append(CorrectionRow(each.corrected_at, each.reason, each.granularity, *key, document))
    _insert(engine, new)
    if before.until == before.last:
        check_corrections(engine, checked_corrections(engine).last)


@rows(CorrectionRow)
def corrections(projects: Sequence[str], begin: int, end: int) -> Node:
    """The corrections of days and months that begin in this time, in their order."""
    row = UsageCorrection
    query = row.select(*(getattr(row, name) for name in CorrectionRow._fields))
    return query.where(any_of(row.project_uuid, projects), row.begins >= begin, row.begins < end).order_by(row.number)


def months_to_write(engine: Engine, projects: Sequence[str], month: int) -> dict[Meter, int]:
    """Returns the versions of an open month that was closed before, by a clock that was ahead."""
    found: dict[Meter, int] = {}
    for row in corrections(engine, projects, month, month + 1):
        if row.granularity == Granularity.MONTH:
            found[row.meter] = max(row.version + 1, found.get(row.meter, 1))
    return found


# -- what no closed day has counted so far -----------------------------------------------------------------------------


@column(str)
def _find(of_gaps: bool, end: int, limit: int) -> Node:
    row, since = (UsageGap, UsageGap.begins) if of_gaps else (UsageStep, UsageStep.at)
    # equality with a constant: PostgreSQL knows how few there are, and looks them up in the index of `recorded_at`
    return row.select(row.project_uuid).where(row.recorded_at == PENDING, since < end).limit(limit)


@tuples(tuple[str, int])
def _take(of_gaps: bool, projects: Sequence[str], begin: int, end: int) -> Node:
    row, since = (UsageGap, UsageGap.begins) if of_gaps else (UsageStep, UsageStep.at)
    is_wanted = (row.recorded_at == PENDING, since >= begin, since < end, any_of(row.project_uuid, projects))
    return row.update(recorded_at=since).where(*is_wanted).returning(row.project_uuid, since)


def late_projects(engine: Engine, end: int, limit: int) -> list[str]:
    """At most `limit` projects (UUIDs) of which something is pending that is about a time before `end`; none only if
    there are none."""
    found = {project for of_gaps in (False, True) for project in _find(engine, of_gaps, end, limit)}
    return sorted(found)[:limit]


def take_pending(engine: Engine, projects: Sequence[str], begin: int, end: int) -> dict[str, int]:
    """Takes what is pending of these projects in this time: the caller counts it. Returns from when on that is, by
    project."""
    found: dict[str, int] = {}
    for of_gaps in (False, True):
        for project, at in _take(engine, of_gaps, projects, begin, end):
            found[project] = min(at, found.get(project, at))
    return found
