"""Keeps the account of usage and commitments: closes days, corrects closed ones, and forgets what is old.

Invariant: the row of `metering_state` is locked by whoever closes or corrects, and says which projects are done. So a
day of a project is counted exactly once in its month, whatever happens to the collector in between, and however many do
this at once.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from limes.actions.metering.closed_day import ClosedDay, ends_month
from limes.actions.metering.commitments import apply_events, changed_since, commitment_of
from limes.actions.metering.corrections import CorrectAccounts
from limes.actions.metering.reopen import REOPENED, ReopenAccounts
from limes.actions.metering.sources import Horizon, load_gaps, load_sources
from limes.actions.metering.usage import VALID_FOR
from limes.core.catalog import Ref
from limes.core.metering.calendar import DAY, Bucket, Granularity, day_of, month_of, months_kept_since, render_time
from limes.db.engine import Engine
from limes.db.queries import commitment_events, metering
from limes.db.queries import usage_accounts as accounts
from limes.db.queries import usage_corrections as made
from limes.db.queries import usage_sources as sources
from limes.db.queries.usage_accounts import State, note_units
from limes.db.queries.usage_corrections import CheckedCorrections, Correction, late_projects, take_pending
from limes.db.queries.usage_sources import committed_times, write_committed_times
from limes.errors import Unavailable
from limes.system import Clock

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


@dataclass(frozen=True, slots=True)
class Retention:
    """How many days single hours and days can be told apart. Months are kept for ever, unless there is a limit."""

    hours: int = 14
    days: int = 400
    months: int | None = None


DEFAULT_RETENTION = Retention()


@dataclass(frozen=True, slots=True)
class CloseAccounts:
    """The job with what it works with. Durations are in seconds."""

    engine: Engine
    clock: Clock
    valid_for: float = VALID_FOR
    delay: float = 900.0
    """How long after its end a day is closed: what is still on its way is counted then."""
    retention: Retention = DEFAULT_RETENTION
    units: Mapping[Ref, str] = field(default_factory=dict)
    """Of all resources: they are noted, as closed months keep theirs."""

    def run(self) -> None:
        """The job. Several may run it at once. Raises `Unavailable` if the clock is wrong."""
        now = self._now()
        self._begin(now)
        self._check_clock(now)
        ReopenAccounts(self.engine, now, self.valid_for, self.retention.hours).run()
        while self.engine.atomic(lambda: self._close_some(now, only_begun=True)):
            pass
        while self.engine.atomic(lambda: self._follow_commitments(now)):
            pass
        self.engine.atomic(lambda: self._note_names(now))
        self._repair(now)
        while self.engine.atomic(lambda: self._correct_late(now)):
            pass
        while self.engine.atomic(lambda: self._close_some(now)):
            pass
        self.engine.atomic(lambda: self._forget(now))

    def _now(self) -> int:
        return int(self.clock.now().timestamp())

    def _begin(self, now: int) -> None:
        """Begins the account with what projects use now, unless it has begun."""
        engine = self.engine
        if engine.snapshot(lambda: accounts.state(engine)) is not None:
            return
        last = -1
        while some := engine.snapshot(partial(accounts.projects_after, engine, last, _PROJECTS_TO_BEGIN)):
            engine.atomic(partial(metering.begin_projects, engine, some, now))
            last = max(some)
        engine.atomic(lambda: accounts.begin(engine, now, day_of(now)))
        log.info("the account of usage over time begins")

    def _check_clock(self, now: int) -> None:
        """A machine that starts with a clock of years ago must not take all that was ever closed for yet to come."""
        state = self.engine.snapshot(lambda: accounts.state(self.engine))
        if state is not None and now < state.begun_at:
            begun, says = render_time(state.begun_at), render_time(now)
            raise Unavailable(f"the account of usage begins on {begun}, but the clock says {says}: nothing is done")

    def _note_names(self, now: int) -> None:
        self._lock()
        metering.note_names(self.engine, now)
        note_units(self.engine, self.units, now)

    # -- commitments ---------------------------------------------------------------------------------------------------

    def _follow_commitments(self, now: int) -> bool:
        """Adds what has happened to commitments. Returns whether there may be more."""
        engine, state = self.engine, self._lock()
        # while somebody closes a day, it is closed for some projects only: the next run comes soon
        events = [] if state.last_project else commitment_events.after(engine, state.event_number, _EVENTS)
        if not events:
            return False
        known = committed_times(engine, {commitment_of(event) for event in events})
        written = apply_events(known, events)
        late = {project: at for project, at in changed_since(known, written).items() if at < state.closed_until}
        corrections = self._corrections(state, now)
        before = corrections.present(late)
        write_committed_times(engine, [*written.values()])
        corrections.correct(late, before, "a commitment was changed for this time afterwards")
        accounts.set_state(engine, state._replace(event_number=events[-1].number))
        return len(events) == _EVENTS

    # -- closing -------------------------------------------------------------------------------------------------------

    def _close_some(self, now: int, *, only_begun: bool = False) -> bool:
        """Closes the next day for some more projects; with `only_begun`, only a day that was begun. Returns whether
        there was something to do."""
        engine, state = self.engine, self._lock()
        if only_begun and not state.last_project:
            return False
        day = Bucket(Granularity.DAY, state.closed_until, state.closed_until + DAY)
        if now < day.end + max(self.delay, _IN_FLIGHT):
            return False
        # a month is written of all that were there in it
        begin = month_of(day.begin) if ends_month(day) else day.begin
        projects = sources.project_page(engine, begin, day.end, state.last_project, _PROJECTS)
        if projects:
            self._close(projects, day, state, now)
        if len(projects) == _PROJECTS:
            accounts.set_state(engine, state.advanced(projects[-1]))
        else:
            accounts.set_state(engine, state.closed(day.end, now))
            accounts.note_closing(engine, day.begin, now)
        return True

    def _close(self, projects: Sequence[str], day: Bucket, state: State, now: int) -> None:
        """Writes what has happened on this day. With the last day of a month, the month is written of all."""
        engine, horizon = self.engine, self._horizon(state, now)
        take_pending(engine, projects, day.begin, day.end)
        was_closed = accounts.was_closed(engine, day.begin)  # by a clock that was ahead
        if not ends_month(day) and not was_closed:
            eventful = {meter.project for meter in sources.steps(engine, projects, day.begin, day.end)}
            eventful |= {project for project, _ in load_gaps(engine, projects, day.begin, day.end, horizon)}
            projects = [project for project in projects if project in eventful]
            if not projects:
                return
        known = load_sources(engine, projects, day.begin, day.end, Granularity.DAY, horizon, anew=True)
        told = sources.days(engine, projects, day.begin, day.end) if was_closed else None
        months_told = made.months_to_write(engine, projects, month_of(day.begin))
        closed = ClosedDay(known, day, told, months_told)
        for zones in known.resources(told or ()):
            closed.add(zones)
        accounts.write_days(engine, closed.days)
        accounts.write_months(engine, closed.months)
        made.add_corrections(engine, [Correction(now, REOPENED, *each) for each in closed.corrected])

    def _correct_late(self, now: int) -> bool:
        """Corrects closed days of some projects of which something was recorded after these days were counted. Returns
        whether there was something to do."""
        engine, state = self.engine, self._lock()
        # of a day that is closed for some projects only, it is not clear whether it is closed
        projects = [] if state.last_project else late_projects(engine, state.closed_until, _PROJECTS_TO_CORRECT)
        if not projects:
            return False
        late = take_pending(engine, projects, 0, state.closed_until)
        corrections = self._corrections(state, now)
        corrections.correct(late, corrections.present(late), "usage of this time was recorded afterwards")
        return True

    # -- what earlier releases have closed -----------------------------------------------------------------------------

    def _repair(self, now: int) -> None:
        """Corrects days and months that earlier releases have closed or corrected, perhaps beside this one."""
        engine = self.engine
        state, known = engine.snapshot(lambda: (self._state(), made.checked_corrections(engine)))
        begin = day_of(state.begun_at) if state.checked_until is None else state.checked_until
        if known.begins is not None:
            begin = max(min(begin, known.begins), day_of(state.begun_at))
        if self.retention.months is not None:
            begin = max(begin, months_kept_since(now, self.retention.months))
        marker: str | None = "" if begin < state.closed_until else None
        while marker is not None:
            marker = engine.atomic(partial(self._repair_some, marker, begin, now))
        if state.checked_until != state.closed_until or known.begins is not None:
            engine.atomic(lambda: self._note_repair(state.closed_until, known))

    def _repair_some(self, marker: str, begin: int, now: int) -> str | None:
        """Does so for some projects. Returns the last of them; None if there are none."""
        state = self._lock()
        projects = sources.project_page(self.engine, month_of(begin), state.closed_until, marker, _PROJECTS_TO_REPAIR)
        self._corrections(state, now).repair(projects, begin, day_of(now) - self.retention.days * DAY)
        return projects[-1] if projects else None

    def _note_repair(self, until: int, known: CheckedCorrections) -> None:
        accounts.set_state(self.engine, self._lock().checked(until))
        # what was corrected meanwhile is looked at in the next run
        if made.checked_corrections(self.engine).until == known.until:
            made.check_corrections(self.engine, known.last)

    # -- the rest ------------------------------------------------------------------------------------------------------

    def _forget(self, now: int) -> None:
        state, keep = self._lock(), self.retention
        days_before = day_of(now) - keep.days * DAY
        months_before = None if keep.months is None else month_of(now) - keep.months * 31 * DAY
        hours_before = min(state.closed_until, day_of(now) - keep.hours * DAY)
        accounts.forget(self.engine, hours_before, min(days_before, month_of(hours_before)), months_before)

    def _state(self) -> State:
        state = accounts.state(self.engine)
        assert state is not None, "the account has begun"
        return state

    def _lock(self) -> State:
        state = accounts.lock_state(self.engine)
        assert state is not None, "the account has begun"
        return state

    def _corrections(self, state: State, now: int) -> CorrectAccounts:
        return CorrectAccounts(self.engine, state, self._horizon(state, now), self.retention.hours)

    def _horizon(self, state: State, now: int) -> Horizon:
        return Horizon(now, state.begun_at, state.closed_until, self.valid_for)
