"""The stored account: closed days and months, and how far closing has come (docs/adr/0032)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from peewee import fn

from limes.core.metering.calendar import month_of, previous_month
from limes.db.compiled import Compiled, Parameters, Select, any_of, compiled, compiled_insert, lock
from limes.db.engine import Engine
from limes.db.models import (
    ClosedDay,
    MeteringState,
    Project,
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
    checked_until: int | None = None
    """Earlier days were closed, or repaired, by the present rules; None: no day was."""
    checked_project: str | None = None
    """`last_project`, if the present rules have closed the day for all projects until there."""

    def advanced(self, last_project: str) -> "State":
        """Returns the state with the day closed until this project (UUID)."""
        is_ours = self.last_project == (self.checked_project or "")
        return self._replace(last_project=last_project, checked_project=last_project if is_ours else None)

    def closed(self, day_end: int, now: int) -> "State":
        """Returns the state with the day closed for all projects."""
        is_ours = self.last_project == (self.checked_project or "") and self.checked_until == self.closed_until
        checked_until = day_end if is_ours else self.checked_until
        state = self._replace(checked_until=checked_until, checked_project=None)
        return state._replace(closed_until=day_end, closed_at=now, last_project="")

    def reopened(self, day: int, now: int) -> "State":
        """Returns the state with this day and later ones not closed."""
        checked_until = None if self.checked_until is None else min(self.checked_until, day)
        state = self._replace(closed_until=day, closed_at=now, last_project="")
        return state._replace(checked_until=checked_until, checked_project=None)

    def checked(self, until: int) -> "State":
        """Returns the state with the days before a time repaired."""
        return self._replace(checked_until=min(until, self.closed_until))


_STATE_FIELDS = [getattr(MeteringState, name) for name in State._fields]
_STATE = compiled(lambda p: MeteringState.select(*_STATE_FIELDS))
_LOCKED_STATE = compiled(lambda p: lock(MeteringState.select(*_STATE_FIELDS)))
_BEGIN = compiled(
    lambda p: MeteringState.insert(
        **{"id": 1, "begun_at": p.now, "closed_until": p.closed_until, "closed_at": p.now, "last_project": ""},
        **{"event_number": 0, "checked_until": p.closed_until},
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


_NOTE_CLOSING = compiled(
    lambda p: ClosedDay.insert(begins=p.day, closed_at=p.now).on_conflict(
        conflict_target=[ClosedDay.begins], update={ClosedDay.closed_at: p.now}
    )
)
_FIRST_CLOSED_AFTER = compiled(lambda p: ClosedDay.select(fn.MIN(ClosedDay.begins)).where(ClosedDay.closed_at > p.time))


def note_closing(engine: Engine, day: int, now: int) -> None:
    """Notes when a day was closed."""
    engine.write(_NOTE_CLOSING, day=day, now=now)


_CLOSED_AT = compiled(lambda p: ClosedDay.select(ClosedDay.closed_at).where(ClosedDay.begins == p.day))


def was_closed(engine: Engine, day: int) -> bool:
    """Returns whether a day was closed, though it may be open again."""
    return bool(engine.column(_CLOSED_AT, day=day))


def first_closed_after(engine: Engine, time: int) -> int | None:
    """Returns the first day that was closed after a time; None if there is none."""
    days: list[int | None] = engine.column(_FIRST_CLOSED_AFTER, time=time)
    return days[0]


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
        *(model, *key, *fields), finish=lambda insert: insert.on_conflict(conflict_target=key, preserve=fields)
    )


_WRITE_DAYS = _upsert(UsageDay, _FIGURES)
_WRITE_MONTHS = _upsert(UsageMonth, (*_FIGURES, "counted_until"))
_ROWS = 2000
"""Of one statement."""


def write_days(engine: Engine, rows: Iterable[tuple[Meter, StoredAccount]]) -> None:
    """Writes days."""
    write_rows(engine, _WRITE_DAYS, [(*meter, *_values(stored)) for meter, stored in rows])


def write_months(engine: Engine, rows: Iterable[tuple[Meter, StoredAccount]]) -> None:
    """Writes months."""
    write_rows(engine, _WRITE_MONTHS, [(*meter, *_values(stored), stored.counted_until) for meter, stored in rows])


def _values(stored: StoredAccount) -> tuple[Any, ...]:
    used, committed, beyond, *rest = stored.account
    return (stored.begin, str(used), str(committed), str(beyond), *rest, stored.version)


def write_rows(engine: Engine, query: Any, rows: Sequence[tuple[Any, ...]]) -> None:
    """Writes any number of rows."""
    for start in range(0, len(rows), _ROWS):
        engine.write(query, rows=rows[start : start + _ROWS])


@cache
def _last(model: Any, time: Any, usage: Any, of_resources: bool) -> Compiled:
    meter = [getattr(model, name) for name in _KEY[:4]]

    def build(p: Parameters) -> Select:
        conditions = [any_of(model.project_uuid, p.projects), time >= p.begin]
        if of_resources:
            conditions.append(any_of(model.resource_name, p.resources))
        query: Select = model.select(*meter, time, usage)
        return query.where(*conditions).order_by(time)

    return compiled(build)


_LAST = ((UsageMonth, UsageMonth.counted_until, UsageMonth.last), (UsageStep, UsageStep.at, UsageStep.usage))


def last_usages(
    engine: Engine, projects: Sequence[str], now: int, resources: Collection[str] | None = None
) -> dict[Meter, int]:
    """Returns what the account knows last of the usage of these projects (UUIDs), by what it is about. If names of
    resources are given, it does so of these only."""
    known: dict[Meter, tuple[int, int]] = {}
    begin = previous_month(month_of(now))  # months have a row of all that was used
    for columns in _LAST:
        query = _last(*columns, resources is not None)
        for *key, at, usage in engine.tuples(query, projects=projects, begin=begin, resources=resources):
            meter = Meter._make(key)
            if at >= known.get(meter, (0, 0))[0]:
                known[meter] = (at, usage)
    return {meter: usage for meter, (_, usage) in known.items()}


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
