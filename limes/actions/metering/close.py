"""Keeps the account of usage and commitments: closes days, corrects closed ones, and forgets what is old.

Invariant: the row of `metering_state` is locked by whoever closes or corrects, and says which projects are done. So a
day of a project is counted exactly once in its month, whatever happens to the collector in between, and however many do
this at once.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from limes.actions.context import Limes
from limes.actions.metering import corrections
from limes.actions.metering.commitments import apply_events, changed_since, commitment_of
from limes.actions.metering.reopen import REOPENED, reopen_if_ahead
from limes.actions.metering.sources import Sources, VersionedAccount, load_gaps, load_sources, lock_account, window_at
from limes.core.calendar import DAY, Bucket, Granularity, day_of, month_of, months_kept_since, next_month, render_time
from limes.core.metering import Account
from limes.db.queries import commitment_events, metering
from limes.db.queries import usage_accounts as accounts
from limes.db.queries import usage_sources as sources
from limes.db.queries.usage_accounts import (
    CheckedCorrections,
    Correction,
    State,
    late_projects,
    note_units,
    take_pending,
)
from limes.db.queries.usage_sources import Meter, StoredAccount, committed_times, write_committed_times
from limes.db.transactions import atomic, snapshot
from limes.errors import Unavailable

log = logging.getLogger(__name__)

_PROJECTS = 200
"""Of one transaction."""
_PROJECTS_TO_BEGIN = 20
"""All of their figures are read and written."""
_EVENTS = 1000
_PROJECTS_TO_CORRECT = 100
_PROJECTS_TO_REPAIR = 20
_IN_FLIGHT = 300
"""Seconds within which a scrape that has read the clock is committed. No day is closed earlier after its end."""


def close_days(limes: Limes) -> None:
    """The job. Several may run it at once. Raises `Unavailable` if the clock is wrong."""
    now = int(limes.now())
    state = limes.engine.snapshot(partial(accounts.state, limes.engine)) or _begin(limes, now)
    if now < state.begun_at:
        # a machine that starts with a clock of years ago must not take all that was ever closed for yet to come
        begun, says = render_time(state.begun_at), render_time(now)
        raise Unavailable(f"the account of usage begins on {begun}, but the clock says {says}: nothing is done")
    reopen_if_ahead(limes, state, now)
    while _close_some(limes, now, only_begun=True):
        pass
    while _follow_commitments(limes, now):
        pass
    _note_names(limes, now)
    _repair(limes, now)
    while _correct_late(limes, now):
        pass
    while _close_some(limes, now):
        pass
    _forget(limes, now)


def _begin(limes: Limes, now: int) -> State:
    """Begins the account with what projects use now."""
    engine, last = limes.engine, -1
    while some := engine.snapshot(partial(accounts.projects_after, engine, last, _PROJECTS_TO_BEGIN)):
        engine.atomic(partial(metering.begin_projects, engine, some, now))
        last = max(some)
    engine.atomic(partial(accounts.begin, engine, now, day_of(now)))
    log.info("the account of usage over time begins")
    return engine.atomic(partial(lock_account, limes))


@atomic
def _note_names(limes: Limes, now: int) -> None:
    lock_account(limes)
    metering.note_names(limes.engine, now)
    resources = {ref: limes.catalog.find(ref) for ref in limes.catalog.refs()}
    # closed months keep the unit that they had
    note_units(limes.engine, {ref: resource.unit.value for ref, resource in resources.items() if resource}, now)


# -- commitments -------------------------------------------------------------------------------------------------------


@atomic
def _follow_commitments(limes: Limes, now: int) -> bool:
    """Adds what has happened to commitments. Returns whether there may be more."""
    engine, state = limes.engine, lock_account(limes)
    # while somebody closes a day, it is closed for some projects only: the next run comes soon
    events = [] if state.last_project else commitment_events.after(engine, state.event_number, _EVENTS)
    if not events:
        return False
    known = committed_times(engine, {commitment_of(event) for event in events})
    written = apply_events(known, events)
    late = {project: at for project, at in changed_since(known, written).items() if at < state.closed_until}
    window = window_at(limes, state, now)
    before = corrections.read_closed(limes, window, late)
    write_committed_times(engine, [*written.values()])
    corrections.correct_days(limes, window, late, before, "a commitment was changed for this time afterwards")
    accounts.set_state(engine, state._replace(event_number=events[-1].number))
    return len(events) == _EVENTS


# -- closing -----------------------------------------------------------------------------------------------------------


@atomic
def _close_some(limes: Limes, now: int, *, only_begun: bool = False) -> bool:
    """Closes the next day for some more projects; with `only_begun`, only a day that was begun. Returns whether
    there was something to do."""
    engine, state = limes.engine, lock_account(limes)
    if only_begun and not state.last_project:
        return False
    day = Bucket(Granularity.DAY, state.closed_until, state.closed_until + DAY)
    if now < day.end + max(limes.settings.metering.closes_after, _IN_FLIGHT):
        return False
    # a month is written of all that were there in it
    begin = month_of(day.begin) if _ends_month(day) else day.begin
    projects = sources.project_page(engine, begin, day.end, state.last_project, _PROJECTS)
    if projects:
        _close(limes, projects, day, state, now)
    if len(projects) == _PROJECTS:
        accounts.set_state(engine, state.advanced(projects[-1]))
    else:
        accounts.set_state(engine, state.closed(day.end, now))
        accounts.note_closing(engine, day.begin, now)
    return True


def _close(limes: Limes, projects: Sequence[str], day: Bucket, state: State, now: int) -> None:
    """Writes what has happened on this day. With the last day of a month, the month is written of all."""
    engine, window = limes.engine, window_at(limes, state, now)
    take_pending(engine, projects, day.begin, day.end)
    was_closed = accounts.was_closed(engine, day.begin)  # by a clock that was ahead
    if not _ends_month(day) and not was_closed:
        eventful = {meter.project for meter in sources.steps(engine, projects, day.begin, day.end)}
        eventful |= {project for project, _ in load_gaps(engine, projects, day.begin, day.end, window)}
        projects = [project for project in projects if project in eventful]
        if not projects:
            return
    known = load_sources(engine, projects, day.begin, day.end, Granularity.DAY, window, anew=True)
    told = sources.days(engine, projects, day.begin, day.end) if was_closed else None
    months_told = accounts.months_to_write(engine, projects, month_of(day.begin))
    closed = _ClosedDay(known, day, told, months_told)
    for zones in known.resources(told or ()):
        closed.add(zones)
    accounts.write_days(engine, closed.days)
    accounts.write_months(engine, closed.months)
    accounts.add_corrections(engine, [Correction.of(now, REOPENED, *each) for each in closed.corrected])


@atomic
def _correct_late(limes: Limes, now: int) -> bool:
    """Corrects closed days of some projects of which something was recorded after these days were counted. Returns
    whether there was something to do."""
    engine, state = limes.engine, lock_account(limes)
    # of a day that is closed for some projects only, it is not clear whether it is closed
    projects = [] if state.last_project else late_projects(engine, state.closed_until, _PROJECTS_TO_CORRECT)
    if not projects:
        return False
    late, window = take_pending(engine, projects, 0, state.closed_until), window_at(limes, state, now)
    before = corrections.read_closed(limes, window, late)
    corrections.correct_days(limes, window, late, before, "usage of this time was recorded afterwards")
    return True


def _ends_month(day: Bucket) -> bool:
    return day.end == next_month(month_of(day.begin))


@dataclass(frozen=True, slots=True)
class _ClosedDay:
    """What is known of the day, and what to write. With `told`, the day was closed before, by a clock that was ahead:
    that is what was said of it."""

    known: Sources
    day: Bucket
    told: Mapping[Meter, Sequence[StoredAccount]] | None
    months_told: Mapping[Meter, int]
    """The versions of months that are open again, by meter."""
    days: list[tuple[Meter, StoredAccount]] = field(default_factory=list)
    months: list[tuple[Meter, StoredAccount]] = field(default_factory=list)
    corrected: list[tuple[str, Meter, StoredAccount]] = field(default_factory=list)
    """Days and months that say something else now."""

    def add(self, zones: Sequence[Meter]) -> None:
        known, day, month = self.known, self.day, month_of(self.day.begin)
        (counted,) = known.accounts(zones, [day])
        to_tell = self._to_tell(zones, counted)
        self.days.extend((meter, self._day(meter, counted[meter].account)) for meter in zones if meter in to_tell)
        if to_tell or _ends_month(day):
            self.months.extend(
                (meter, self._month(meter, account))
                for meter, account in known.month_until(zones, month, day.end).items()
                if meter in to_tell or not account.is_nothing
            )

    def _to_tell(self, zones: Sequence[Meter], counted: Mapping[Meter, VersionedAccount]) -> Collection[Meter]:
        """Returns where the day has to be told: elsewhere, usage was what it was before. Where AZs are covered
        together, they are told together, as what counts in one depends on the others."""
        known, day = self.known, self.day
        if self.told is not None:
            return zones
        eventful = {
            meter
            for meter in zones
            if counted[meter].account.unknown > 0
            or any(day.begin <= step.at < day.end for step in known.steps.get(meter, ()))
        }
        return zones if eventful and known.is_pooled(zones, month_of(day.begin), day.end) else eventful

    def _day(self, meter: Meter, account: Account) -> StoredAccount:
        row = StoredAccount(self.day.begin, account, 1, self.day.end)
        if self.told is None:
            return row
        (old,) = self.told.get(meter) or [corrections.nothing(self.day.begin, self.day.end)]
        if corrections.says_the_same(old.account, account):
            return row._replace(version=old.version)
        self.corrected.append(("day", meter, old))
        return row._replace(version=old.version + 1)

    def _month(self, meter: Meter, account: Account) -> StoredAccount:
        month = month_of(self.day.begin)
        row = StoredAccount(month, account, self.months_told.get(meter, 1), self.day.end)
        if self.told is not None and _ends_month(self.day) and meter not in self.months_told and not account.is_nothing:
            self.corrected.append(("month", meter, corrections.nothing(month, self.day.end)))
            return row._replace(version=2)
        return row


# -- what earlier releases have closed ---------------------------------------------------------------------------------


def _repair(limes: Limes, now: int) -> None:
    """Corrects days and months that earlier releases have closed or corrected, perhaps beside this one."""
    state, known = _read_checked(limes)
    begin = day_of(state.begun_at) if state.checked_until is None else state.checked_until
    if known.begins is not None:
        begin = max(min(begin, known.begins), day_of(state.begun_at))
    if (months := limes.settings.metering.keep_months) is not None:
        begin = max(begin, months_kept_since(now, months))
    marker: str | None = "" if begin < state.closed_until else None
    while marker is not None:
        marker = _repair_some(limes, marker, begin, now)
    if state.checked_until != state.closed_until or known.begins is not None:
        _note_repair(limes, state.closed_until, known)


@snapshot
def _read_checked(limes: Limes) -> tuple[State, CheckedCorrections]:
    state = accounts.state(limes.engine)
    assert state is not None, "the account has begun"
    return state, accounts.checked_corrections(limes.engine)


@atomic
def _repair_some(limes: Limes, marker: str, begin: int, now: int) -> str | None:
    """Does so for some projects. Returns the last of them; None if there are none."""
    state, days_kept_since = lock_account(limes), day_of(now) - limes.settings.metering.keep_days * DAY
    projects = sources.project_page(limes.engine, month_of(begin), state.closed_until, marker, _PROJECTS_TO_REPAIR)
    corrections.repair_closed(limes, window_at(limes, state, now), projects, begin, days_kept_since)
    return projects[-1] if projects else None


@atomic
def _note_repair(limes: Limes, until: int, known: CheckedCorrections) -> None:
    accounts.set_state(limes.engine, lock_account(limes).checked(until))
    # what was corrected meanwhile is looked at in the next run
    if accounts.checked_corrections(limes.engine).until == known.until:
        accounts.check_corrections(limes.engine, known.last)


# -- the rest ----------------------------------------------------------------------------------------------------------


@atomic
def _forget(limes: Limes, now: int) -> None:
    state, keep = lock_account(limes), limes.settings.metering
    days_before = day_of(now) - keep.keep_days * DAY
    months_before = None if keep.keep_months is None else month_of(now) - keep.keep_months * 31 * DAY
    hours_before = min(state.closed_until, day_of(now) - keep.keep_hours * DAY)
    accounts.forget(limes.engine, hours_before, min(days_before, month_of(hours_before)), months_before)
