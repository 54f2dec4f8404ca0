"""The stored account: closed days and months, their corrections, and how far closing has come (docs/adr/0032)."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import orjson
from peewee import fn

from limes.db.compiled import Select, any_of, lock
from limes.db.engine import Engine
from limes.db.query import Insert, Node, column, exists, first, first_value, mapping, rows, tuples, writes
from limes.kernel.calendar import Granularity, month_of, previous_month
from limes.metering import queries, rules
from limes.metering.models import ClosedDay, MeteringState, UsageCorrection, UsageDay, UsageGap, UsageMonth, UsageStep
from limes.metering.source_queries import Meter, StoredAccount, meter_columns
from limes.projects.models import Project


class AccountState(NamedTuple):
    begun_at: int
    closed_until: int
    closed_at: int
    last_project: str
    event_number: int
    checked_until: int | None = None
    """Earlier days were closed, or repaired, by the present rules; None: no day was."""
    checked_project: str | None = None
    """`last_project`, if the present rules have closed the day for all projects until there."""

    def advanced(self, last_project: str) -> "AccountState":
        """The day is closed until this project (UUID)."""
        is_ours = self.last_project == (self.checked_project or "")
        return self._replace(last_project=last_project, checked_project=last_project if is_ours else None)

    def closed(self, day_end: int, now: int) -> "AccountState":
        is_ours = self.last_project == (self.checked_project or "") and self.checked_until == self.closed_until
        checked_until = day_end if is_ours else self.checked_until
        state = self._replace(checked_until=checked_until, checked_project=None)
        return state._replace(closed_until=day_end, closed_at=now, last_project="")

    def reopened(self, day: int, now: int) -> "AccountState":
        checked_until = None if self.checked_until is None else min(self.checked_until, day)
        state = self._replace(closed_until=day, closed_at=now, last_project="")
        return state._replace(checked_until=checked_until, checked_project=None)

    def checked(self, until: int) -> "AccountState":
        return self._replace(checked_until=min(until, self.closed_until))


_STATE = MeteringState.select(*(getattr(MeteringState, name) for name in AccountState._fields))


@first(AccountState)
def state() -> Node:
    """How far the account has come; None before its beginning."""
    return _STATE


@first(AccountState)
def lock_state() -> Node:
    """The same. Until the transaction ends, nothing else is closed or corrected."""
    return lock(_STATE)


@writes
def begin(now: int, closed_until: int) -> Node:
    new = {"id": 1, "begun_at": now, "closed_until": closed_until, "closed_at": now, "last_project": ""}
    insert = MeteringState.insert(**new, event_number=0, checked_until=closed_until)
    return insert.on_conflict("NOTHING", conflict_target=[MeteringState.id])


@writes
def set_state(new: AccountState) -> Node:
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
    return ClosedDay.select(fn.MIN(ClosedDay.begins)).where(ClosedDay.closed_at > time)


@mapping(int, str)
def projects_after(after: int, limit: int) -> Node:
    """At most `limit` projects that exist at present, by id, after this id."""
    row = Project
    return row.select(row.id, row.uuid).where(row.id > after).order_by(row.id).limit(limit)


ROWS = 2000
"""Of one statement."""


def _insert(model: Any) -> Insert[tuple[Any, ...]]:
    figures = (model.used, model.committed, model.beyond, model.unknown, model.smallest, model.largest, model.last)
    counted_until = [model.counted_until] if model is UsageMonth else []
    fields = (*meter_columns(model), model.begins, *figures, model.version, *counted_until)
    return Insert(tuple[Any, ...], model, *fields, key=5, at_once=ROWS)


_insert_days, _insert_months = _insert(UsageDay), _insert(UsageMonth)


def write_days(engine: Engine, rows: Iterable[tuple[Meter, StoredAccount]]) -> None:
    new = [(*meter, stored.begin, *as_stored(stored.account), stored.version) for meter, stored in rows]
    _insert_days(engine, new)


def write_months(engine: Engine, rows: Iterable[tuple[Meter, StoredAccount]]) -> None:
    new = [(*meter, row.begin, *as_stored(row.account), row.version, row.counted_until) for meter, row in rows]
    _insert_months(engine, new)


def as_stored(account: rules.Account) -> tuple[str, str, str, int, int | None, int | None, int]:
    """Totals as text: they may have more than 64 bits."""
    return (str(account.used), str(account.committed), str(account.beyond), *account[3:])


@tuples(tuple[str, str, str, str, int, int])
def _last(of_months: bool, projects: Sequence[str], begin: int, resources: Collection[str] | None) -> Node:
    row: Any = UsageMonth if of_months else UsageStep
    time, usage = (row.counted_until, row.last) if of_months else (row.at, row.usage)
    query: Select = row.select(*meter_columns(row), time, usage)
    query = query.where(any_of(row.project_uuid, projects), time >= begin)
    return (query if resources is None else query.where(any_of(row.resource_name, resources))).order_by(time)


def last_usages(
    engine: Engine, projects: Sequence[str], now: int, resources: Collection[str] | None = None
) -> dict[Meter, int]:
    """What the account knows last of the usage of these projects (UUIDs), and of these resources (by name)."""
    known: dict[Meter, tuple[int, int]] = {}
    begin = previous_month(month_of(now))  # months have a row of all that was used
    for of_months in (True, False):
        for *key, at, usage in _last(engine, of_months, projects, begin, resources):
            meter = Meter._make(key)
            if at >= known.get(meter, (0, 0))[0]:
                known[meter] = (at, usage)
    return {meter: usage for meter, (_, usage) in known.items()}


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


def forget(engine: Engine, hours_before: int, days_before: int, months_before: int | None) -> None:
    """Deletes what single hours, days and months before these times are computed from."""
    _forget(engine, "steps", hours_before)
    _forget(engine, "gaps", hours_before)
    _forget(engine, "days", days_before)
    if months_before is not None:
        _forget(engine, "months", months_before)


@writes
def _forget_later(of_months: bool, begin: int) -> Node:
    model = UsageMonth if of_months else UsageDay
    return model.delete().where(model.begins >= begin)


def forget_from(engine: Engine, day: int, month: int) -> None:
    _forget_later(engine, False, day)
    _forget_later(engine, True, month)


# -- corrections -------------------------------------------------------------------------------------------------------


class Correction(NamedTuple):
    """A closed day or month that said something else before."""

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
    """The account as JSON."""

    @classmethod
    def of(cls, at: int, reason: str, granularity: str, meter: Meter, old: StoredAccount) -> "Correction":
        document = orjson.dumps(as_stored(old.account)).decode()
        return cls(at, reason, granularity, *meter, old.begin, old.version, document)

    @property
    def meter(self) -> Meter:
        return Meter(self.project_uuid, self.service_type, self.resource_name, self.az)

    @property
    def account(self) -> rules.Account:
        used, committed, beyond, *rest = orjson.loads(self.before)
        return rules.Account(int(used), int(committed), int(beyond), *rest)


_insert_corrections = Insert(Correction, UsageCorrection, at_once=ROWS)


class CheckedCorrections(NamedTuple):
    """Which corrections were made by the present rules. All who correct have locked the state, so that numbers are in
    the order in which they commit."""

    until: int
    """The number of the last one for which that is known."""
    last: int
    """The number of the last one."""
    begins: int | None
    """When the first day or month begins that was corrected after that."""


@first(CheckedCorrections)
def _checked() -> Node:
    row, state = UsageCorrection, MeteringState
    last = fn.COALESCE(row.select(fn.MAX(row.number)), 0)
    later = row.select(fn.MIN(row.begins)).where(row.number > state.checked_correction)
    return state.select(state.checked_correction, last, later)


def checked_corrections(engine: Engine) -> CheckedCorrections:
    """Which corrections are known to be made by the present rules."""
    found = _checked(engine)
    assert found is not None, "metering has started"
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
    _insert_corrections(engine, corrections)
    if before.until == before.last:
        check_corrections(engine, checked_corrections(engine).last)


@rows(Correction)
def corrections(projects: Sequence[str], begin: int, end: int) -> Node:
    """The corrections of days and months that begin in this time, in their order."""
    row = UsageCorrection
    query = row.select(*(getattr(row, name) for name in Correction._fields))
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
    return row.select(row.project_uuid).where(row.recorded_at == queries.PENDING, since < end).limit(limit)


@tuples(tuple[str, int])
def _take(of_gaps: bool, projects: Sequence[str], begin: int, end: int) -> Node:
    row, since = (UsageGap, UsageGap.begins) if of_gaps else (UsageStep, UsageStep.at)
    is_wanted = (row.recorded_at == queries.PENDING, since >= begin, since < end, any_of(row.project_uuid, projects))
    return row.update(recorded_at=since).where(*is_wanted).returning(row.project_uuid, since)


def late_projects(engine: Engine, end: int, limit: int) -> list[str]:
    """At most `limit` projects (UUIDs) with something pending about a time before `end`; none only if
    there are none."""
    found = {project for of_gaps in (False, True) for project in _find(engine, of_gaps, end, limit)}
    return sorted(found)[:limit]


def take_pending(engine: Engine, projects: Sequence[str], begin: int, end: int) -> dict[str, int]:
    """Takes what is pending of these projects in this time: the caller counts it. Returns since when that is, by
    project."""
    found: dict[str, int] = {}
    for of_gaps in (False, True):
        for project, at in _take(engine, of_gaps, projects, begin, end):
            found[project] = min(at, found.get(project, at))
    return found
