"""The stored account: closed days and months, and how far closing has come (docs/adr/0032)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from limes.core.metering.account import Account
from limes.db.compiled import any_of, compiled, compiled_insert, lock
from limes.db.engine import Engine
from limes.db.models import (
    MeteringState,
    Project,
    UsageCorrection,
    UsageDay,
    UsageGap,
    UsageMonth,
    UsageStep,
)
from limes.db.queries.usage_sources import Meter, StoredAccount


class State(NamedTuple):
    """How far the account has come."""

    begun_at: int
    closed_until: int
    closed_at: int
    last_project: str
    event_number: int


_STATE_FIELDS = [getattr(MeteringState, name) for name in State._fields]
_STATE = compiled(lambda p: MeteringState.select(*_STATE_FIELDS))
_LOCKED_STATE = compiled(lambda p: lock(MeteringState.select(*_STATE_FIELDS)))
_BEGIN = compiled(
    lambda p: MeteringState.insert(
        id=1, begun_at=p.now, closed_until=p.closed_until, closed_at=p.now, last_project="", event_number=0
    ).on_conflict("NOTHING", conflict_target=[MeteringState.id])
)
_SET_STATE = compiled(lambda p: MeteringState.update({field: getattr(p, field.name) for field in _STATE_FIELDS}))


def state(engine: Engine) -> State | None:
    """Returns how far the account has come; None before its beginning."""
    return engine.first(_STATE, State)


def lock_state(engine: Engine) -> State | None:
    """Returns the same. Until the transaction ends, nobody else closes or corrects anything."""
    return engine.first(_LOCKED_STATE, State)


def begin(engine: Engine, now: int, closed_until: int) -> None:
    """Notes that the account has begun, unless it has before."""
    engine.write(_BEGIN, now=now, closed_until=closed_until)


def set_state(engine: Engine, new: State) -> None:
    """Writes how far the account has come."""
    engine.write(_SET_STATE, **new._asdict())


_PROJECTS_AFTER = compiled(
    lambda p: Project.select(Project.id, Project.uuid).where(Project.id > p.after).order_by(Project.id).limit(p.limit)
)


def projects_after(engine: Engine, after: int, limit: int) -> dict[int, str]:
    """Returns at most `limit` projects that exist at present, by id, after this id."""
    return dict(engine.tuples(_PROJECTS_AFTER, after=after, limit=limit))


# -- writing accounts --------------------------------------------------------------------------------------------------

_KEY = ("project_uuid", "service_type", "resource_name", "az", "begins")
_FIGURES = ("used", "committed", "beyond", "unknown", "smallest", "largest", "last", "version")


def _upsert(model: Any, figures: Sequence[str]) -> Any:
    fields = [getattr(model, name) for name in figures]
    key = [getattr(model, name) for name in _KEY]
    return compiled_insert(
        model, *key, *fields, finish=lambda insert: insert.on_conflict(conflict_target=key, preserve=fields)
    )


_WRITE_DAYS = _upsert(UsageDay, _FIGURES)
_WRITE_MONTHS = _upsert(UsageMonth, (*_FIGURES, "counted_until"))
_ROWS = 2000
"""Of one statement."""


def write_days(engine: Engine, rows: Iterable[tuple[Meter, StoredAccount]]) -> None:
    """Writes days."""
    _write(engine, _WRITE_DAYS, [(*meter, *_values(stored)) for meter, stored in rows])


def write_months(engine: Engine, rows: Iterable[tuple[Meter, StoredAccount]]) -> None:
    """Writes months."""
    _write(engine, _WRITE_MONTHS, [(*meter, *_values(stored), stored.counted_until) for meter, stored in rows])


def _values(stored: StoredAccount) -> tuple[Any, ...]:
    used, committed, beyond, *rest = stored.account
    return (stored.begin, str(used), str(committed), str(beyond), *rest, stored.version)


def _write(engine: Engine, query: Any, rows: Sequence[tuple[Any, ...]]) -> None:
    for start in range(0, len(rows), _ROWS):
        engine.write(query, rows=rows[start : start + _ROWS])


# -- corrections -------------------------------------------------------------------------------------------------------


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


def add_corrections(engine: Engine, corrections: Sequence[Correction]) -> None:
    """Notes corrections."""
    rows = []
    for each in corrections:
        used, committed, beyond, *rest = each.before.account
        # totals may have more than 64 bits
        document = orjson.dumps([str(used), str(committed), str(beyond), *rest]).decode()
        key = (*each.meter, each.before.begin, each.before.version)
        rows.append((each.corrected_at, each.reason, each.granularity, *key, document))
    _write(engine, _ADD_CORRECTIONS, rows)


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


# -- retention ---------------------------------------------------------------------------------------------------------

# nothing is recorded before its time, and there is an index of when it was
_FORGET_STEPS = compiled(lambda p: UsageStep.delete().where(UsageStep.recorded_at < p.before, UsageStep.at < p.before))
_FORGET_GAPS = compiled(lambda p: UsageGap.delete().where(UsageGap.ends < p.before))
_FORGET_DAYS = compiled(lambda p: UsageDay.delete().where(UsageDay.begins < p.before))
_FORGET_MONTHS = compiled(lambda p: UsageMonth.delete().where(UsageMonth.begins < p.before))


def forget(engine: Engine, hours_before: int, days_before: int, months_before: int | None) -> Mapping[str, int]:
    """Deletes what single hours, days and months before these times are computed from. Returns how many rows."""
    deleted = {
        "steps": engine.write(_FORGET_STEPS, before=hours_before),
        "gaps": engine.write(_FORGET_GAPS, before=hours_before),
        "days": engine.write(_FORGET_DAYS, before=days_before),
    }
    if months_before is not None:
        deleted["months"] = engine.write(_FORGET_MONTHS, before=months_before)
    return deleted


_FORGET_LATER_DAYS = compiled(lambda p: UsageDay.delete().where(UsageDay.begins >= p.day))
_FORGET_LATER_MONTHS = compiled(lambda p: UsageMonth.delete().where(UsageMonth.begins >= p.month))


def forget_from(engine: Engine, day: int, month: int) -> None:
    """Deletes this day and month, and later ones."""
    engine.write(_FORGET_LATER_DAYS, day=day)
    engine.write(_FORGET_LATER_MONTHS, month=month)
