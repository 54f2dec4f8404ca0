"""Keeps the account of usage and commitments: closes days, corrects closed ones, and forgets what is old.

Invariant: the row of `metering_state` is locked by whoever closes or corrects, and says which projects are done. So a
day of a project is counted exactly once in its month, whatever happens to the collector in between, and however many do
this at once.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from limes.actions.metering.commitments import apply_events, changed_since, commitment_of
from limes.actions.metering.corrections import CorrectAccounts
from limes.actions.metering.sources import Horizon, Sources, load_gaps, load_sources
from limes.actions.metering.usage import VALID_FOR
from limes.core.metering.account import Account
from limes.core.metering.calendar import DAY, Bucket, Granularity, day_of, month_of, next_month, render_time
from limes.db.engine import Engine
from limes.db.queries import commitment_events, metering
from limes.db.queries import usage_accounts as accounts
from limes.db.queries import usage_sources as sources
from limes.db.queries.committed_times import committed_times, write_committed_times
from limes.db.queries.late_usage import late_projects, take_pending
from limes.db.queries.usage_accounts import State
from limes.db.queries.usage_sources import Meter, StoredAccount
from limes.errors import Unavailable
from limes.system import Clock

log = logging.getLogger(__name__)

_PROJECTS = 200
"""Of one transaction."""
_PROJECTS_TO_BEGIN = 20
"""All of their figures are read and written."""
_EVENTS = 1000
_PROJECTS_TO_CORRECT = 100
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

    def run(self) -> None:
        """The job. Several may run it at once. Raises `Unavailable` if the clock is wrong."""
        now = self._now()
        self._begin(now)
        self._check_clock(now)
        self.engine.atomic(lambda: self._reopen_future(now))
        while self.engine.atomic(lambda: self._close_some(now, only_begun=True)):
            pass
        while self.engine.atomic(lambda: self._follow_commitments(now)):
            pass
        self.engine.atomic(lambda: self._note_names(now))
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
        projects = sources.project_page(engine, day.begin, day.end, state.last_project, _PROJECTS)
        if projects:
            self._close(projects, day, state, now)
        if len(projects) == _PROJECTS:
            accounts.set_state(engine, state._replace(last_project=projects[-1]))
        else:
            accounts.set_state(engine, state._replace(closed_until=day.end, closed_at=now, last_project=""))
        return True

    def _close(self, projects: Sequence[str], day: Bucket, state: State, now: int) -> None:
        """Writes what has happened on this day. With the last day of a month, the month is written of all."""
        engine, month, horizon = self.engine, month_of(day.begin), self._horizon(state, now)
        take_pending(engine, projects, day.begin, day.end)
        ends_month = day.end == next_month(month)
        if not ends_month:
            eventful = {meter.project for meter in sources.steps(engine, projects, day.begin, day.end)}
            eventful |= {project for project, _ in load_gaps(engine, projects, day.begin, day.end, horizon)}
            projects = [project for project in projects if project in eventful]
            if not projects:
                return
        known = load_sources(engine, projects, day.begin, day.end, Granularity.DAY, horizon, anew=True)
        days, months = [], []
        for meter in known.meters():
            (counted,) = known.accounts(meter, [day])
            is_eventful = _is_eventful(known, meter, day, counted.account)
            if is_eventful:
                days.append((meter, StoredAccount(day.begin, counted.account, 1, day.end)))
            if is_eventful or ends_month:
                account = known.month_until(meter, month, day.end)
                if is_eventful or not account.is_nothing:
                    months.append((meter, StoredAccount(month, account, 1, day.end)))
        accounts.write_days(engine, days)
        accounts.write_months(engine, months)

    def _reopen_future(self, now: int) -> None:
        """Opens days again that were closed by a clock that was ahead: they are yet to come."""
        engine, state, today = self.engine, self._lock(), day_of(now)
        if state.closed_until <= today and not (state.last_project and state.closed_until == today):
            return
        log.error("days were closed by a clock that was ahead: those from %s on are open again", render_time(today))
        accounts.forget_from(engine, today, month_of(today))
        state = state._replace(closed_until=today, closed_at=now, last_project="")
        accounts.set_state(engine, state)
        if today > max(month_of(today), day_of(state.begun_at)):
            self._add_up_month(state, now)

    def _add_up_month(self, state: State, now: int) -> None:
        """Writes the month that has begun, up to the present day."""
        engine, end = self.engine, state.closed_until
        month, marker = month_of(end), ""
        corrections = self._corrections(state, now)
        while projects := sources.project_page(engine, month, end, marker, _PROJECTS):
            marker = projects[-1]
            so_far = corrections.month_so_far(projects, month, end)
            told = [(meter, account) for meter, account in so_far.items() if not account.is_nothing]
            accounts.write_months(engine, [(meter, StoredAccount(month, account, 1, end)) for meter, account in told])

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

    # -- the rest ------------------------------------------------------------------------------------------------------

    def _forget(self, now: int) -> None:
        state, keep = self._lock(), self.retention
        days_before = day_of(now) - keep.days * DAY
        months_before = None if keep.months is None else month_of(now) - keep.months * 31 * DAY
        hours_before = min(state.closed_until, day_of(now) - keep.hours * DAY)
        accounts.forget(self.engine, hours_before, min(days_before, month_of(hours_before)), months_before)

    def _lock(self) -> State:
        state = accounts.lock_state(self.engine)
        assert state is not None, "the account has begun"
        return state

    def _corrections(self, state: State, now: int) -> CorrectAccounts:
        return CorrectAccounts(self.engine, state, self._horizon(state, now), self.retention.hours)

    def _horizon(self, state: State, now: int) -> Horizon:
        return Horizon(now, state.begun_at, state.closed_until, self.valid_for)


def _is_eventful(known: Sources, meter: Meter, day: Bucket, account: Account) -> bool:
    """Returns whether the day has to be told: on other days usage was what it was before."""
    has_step = any(day.begin <= step.at < day.end for step in known.steps.get(meter, ()))
    return has_step or account.unknown > 0
