"""The stored account: closed days and months, how far closing has come, and units (docs/adr/0032)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from peewee import fn

from limes.core.calendar import MonthUnits, month_of, previous_month
from limes.core.catalog import Ref
from limes.db.compiled import Select, any_of, lock
from limes.db.engine import Engine
from limes.db.models import ClosedDay, MeteredUnit, MeteringState, Project, UsageDay, UsageGap, UsageMonth, UsageStep
from limes.db.queries.usage_sources import Meter, StoredAccount, meter_columns
from limes.db.query import Insert, Node, collected, exists, first, first_value, mapping, tuples, writes


class State(NamedTuple):
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


_STATE = MeteringState.select(*(getattr(MeteringState, name) for name in State._fields))


@first(State)
def state() -> Node:
    """How far the account has come; None before its beginning."""
    return _STATE


@first(State)
def lock_state() -> Node:
    """The same. Until the transaction ends, nobody else closes or corrects anything."""
    return lock(_STATE)


@writes
def begin(now: int, closed_until: int) -> Node:
    """Notes that the account has begun, unless it has before."""
    new = {"id": 1, "begun_at": now, "closed_until": closed_until, "closed_at": now, "last_project": ""}
    insert = MeteringState.insert(**new, event_number=0, checked_until=closed_until)
    return insert.on_conflict("NOTHING", conflict_target=[MeteringState.id])


@writes
def set_state(new: State) -> Node:
    return MeteringState.update(**new._asdict())


@writes
def note_closing(day: int, now: int) -> Node:
    insert = ClosedDay.insert(begins=day, closed_at=now)
    return insert.on_conflict(conflict_target=[ClosedDay.begins], update={ClosedDay.closed_at: now})


@exists
def was_closed(day: int) -> Node:
    """Whether a day was closed, though it may be open again."""
    return ClosedDay.select(ClosedDay.closed_at).where(ClosedDay.begins == day)


@first_value(int)
def first_closed_after(time: int) -> Node:
    """The first day that was closed after a time."""
    return ClosedDay.select(fn.MIN(ClosedDay.begins)).where(ClosedDay.closed_at > time)


@mapping(int, str)
def projects_after(after: int, limit: int) -> Node:
    """At most `limit` projects that exist at present, by id, after this id."""
    return Project.select(Project.id, Project.uuid).where(Project.id > after).order_by(Project.id).limit(limit)


# -- writing accounts --------------------------------------------------------------------------------------------------

ROWS = 2000
"""Of one statement."""


def _insert(model: Any) -> Insert[tuple[Any, ...]]:
    figures = (model.used, model.committed, model.beyond, model.unknown, model.smallest, model.largest, model.last)
    counted_until = [model.counted_until] if model is UsageMonth else []
    fields = (*meter_columns(model), model.begins, *figures, model.version, *counted_until)
    return Insert(tuple[Any, ...], model, *fields, key=5, at_once=ROWS)


_insert_days, _insert_months = _insert(UsageDay), _insert(UsageMonth)


def write_days(engine: Engine, rows: Iterable[tuple[Meter, StoredAccount]]) -> None:
    _insert_days(engine, [(*meter, *_values(stored)) for meter, stored in rows])


def write_months(engine: Engine, rows: Iterable[tuple[Meter, StoredAccount]]) -> None:
    _insert_months(engine, [(*meter, *_values(stored), stored.counted_until) for meter, stored in rows])


def _values(stored: StoredAccount) -> tuple[Any, ...]:
    used, committed, beyond, *rest = stored.account
    return (stored.begin, str(used), str(committed), str(beyond), *rest, stored.version)


@tuples(tuple[str, str, str, str, int, int])
def _last(of_months: bool, projects: Sequence[str], begin: int, resources: Collection[str] | None) -> Node:
    row: Any = UsageMonth if of_months else UsageStep
    time, usage = (row.counted_until, row.last) if of_months else (row.at, row.usage)
    query: Select = row.select(*meter_columns(row), time, usage).where(
        any_of(row.project_uuid, projects), time >= begin
    )
    return (query if resources is None else query.where(any_of(row.resource_name, resources))).order_by(time)


def last_usages(
    engine: Engine, projects: Sequence[str], now: int, resources: Collection[str] | None = None
) -> dict[Meter, int]:
    """What the account knows last of the usage of these projects (UUIDs), by what it is about. If names of resources
    are given, it does so of these only."""
    known: dict[Meter, tuple[int, int]] = {}
    begin = previous_month(month_of(now))  # months have a row of all that was used
    for of_months in (True, False):
        for *key, at, usage in _last(engine, of_months, projects, begin, resources):
            meter = Meter._make(key)
            if at >= known.get(meter, (0, 0))[0]:
                known[meter] = (at, usage)
    return {meter: usage for meter, (_, usage) in known.items()}


# -- retention ---------------------------------------------------------------------------------------------------------


_What = Literal["steps", "gaps", "days", "months"]


@writes
def _forget(what: _What, before: int) -> Node:
    return {
        # nothing is recorded before its time, and there is an index of when it was
        "steps": UsageStep.delete().where(UsageStep.recorded_at < before, UsageStep.at < before),
        "gaps": UsageGap.delete().where(UsageGap.ends < before),
        "days": UsageDay.delete().where(UsageDay.begins < before),
        "months": UsageMonth.delete().where(UsageMonth.begins < before),
    }[what]


def forget(engine: Engine, hours_before: int, days_before: int, months_before: int | None) -> Mapping[str, int]:
    """Deletes what single hours, days and months before these times are computed from. Returns how many rows."""
    before: dict[_What, int | None] = {"steps": hours_before, "gaps": hours_before, "days": days_before}
    before["months"] = months_before
    return {what: _forget(engine, what, time) for what, time in before.items() if time is not None}


@writes
def _forget_later(of_months: bool, begin: int) -> Node:
    model: Any = UsageMonth if of_months else UsageDay
    deleted: Node = model.delete().where(model.begins >= begin)
    return deleted


def forget_from(engine: Engine, day: int, month: int) -> None:
    _forget_later(engine, False, day)
    _forget_later(engine, True, month)


# -- units of resources over time --------------------------------------------------------------------------------------

_COLUMNS = (MeteredUnit.service_type, MeteredUnit.resource_name, MeteredUnit.since, MeteredUnit.unit)
_add = Insert(tuple[str, str, int, str], MeteredUnit, *_COLUMNS, key=3)


@collected(tuple[str, str], tuple[int, str])
def _noted() -> Node:
    return MeteredUnit.select(*_COLUMNS).order_by(MeteredUnit.since)


def metered_units(engine: Engine) -> MonthUnits:
    """The units of all resources that were ever metered."""
    return MonthUnits(_noted(engine))


def note_units(engine: Engine, units: Mapping[Ref, str], now: int) -> None:
    """Notes the units of resources from now on, where they have changed."""
    noted = metered_units(engine).noted
    changed = [(ref, unit) for ref, unit in sorted(units.items()) if ref not in noted or noted[ref][-1][1] != unit]
    _add(engine, [(*ref, now, unit) for ref, unit in changed])
