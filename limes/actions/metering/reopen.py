"""Opens days again that were closed by a clock that was ahead: they are yet to come.

Somebody may have read them, so what they said is kept until they are closed again. A day that says something else then
is a correction.
"""

import logging
from dataclasses import dataclass
from functools import partial

from limes.actions.metering.corrections import CorrectAccounts
from limes.actions.metering.sources import Horizon
from limes.core.metering.calendar import day_of, month_of, next_month, render_time
from limes.db.engine import Engine
from limes.db.queries import usage_accounts as accounts
from limes.db.queries import usage_corrections as made
from limes.db.queries import usage_sources as sources
from limes.db.queries.usage_accounts import State
from limes.db.queries.usage_corrections import Correction
from limes.db.queries.usage_sources import StoredAccount

log = logging.getLogger(__name__)

REOPENED = "it was closed before by a clock that was ahead"
_PROJECTS = 20
"""Whose days are kept in one transaction."""


@dataclass(frozen=True, slots=True)
class ReopenAccounts:
    """The use case with what it works with. `now` is what the clock says, `keep_hours` how many days hours are kept."""

    engine: Engine
    now: int
    valid_for: float
    keep_hours: int

    def run(self) -> None:
        """Opens days again, if there are such days."""
        state = self.engine.snapshot(lambda: accounts.state(self.engine))
        if state is None or not self._is_ahead(state):
            return
        marker: str | None = ""
        while marker is not None:  # harmless if it is done twice, or not to its end
            marker = self.engine.atomic(partial(self._keep_told, marker))
        self.engine.atomic(self._reopen)

    def _is_ahead(self, state: State) -> bool:
        today = day_of(self.now)
        return state.closed_until > today or (bool(state.last_project) and state.closed_until == today)

    def _keep_told(self, marker: str) -> str | None:
        """Writes what days say of some projects, even those that follow from the days before. Returns the last of these
        projects; None if there are none."""
        engine, state, today = self.engine, self._lock(), day_of(self.now)
        projects = sources.project_page(engine, today, state.closed_until, marker, _PROJECTS)
        told = self._corrections(state, state.closed_until).told(projects, today, state.closed_until)
        rows = [(meter, row) for meter, days in told.items() for row in days if not row.account.is_nothing]
        accounts.write_days(engine, rows)
        return projects[-1] if projects else None

    def _reopen(self) -> None:
        engine, state, today = self.engine, self._lock(), day_of(self.now)
        if not self._is_ahead(state):
            return
        log.error("days were closed by a clock that was ahead: those from %s on are open again", render_time(today))
        month = month_of(today)
        self._note_months(state, month)
        accounts.forget_from(engine, state.closed_until, month)
        accounts.set_state(engine, state.reopened(today, self.now))
        state = self._lock()
        if today > max(month, day_of(state.begun_at)):
            self._add_up_month(state, month)

    def _note_months(self, state: State, month: int) -> None:
        """Keeps what was said of months that were closed."""
        marker = ""
        while projects := sources.project_page(self.engine, month, state.closed_until, marker, 10 * _PROJECTS):
            marker = projects[-1]
            stored = sources.months(self.engine, projects, month, state.closed_until)
            noted = [
                Correction(self.now, REOPENED, "month", meter, row)
                for meter, rows in stored.items()
                for row in rows
                if next_month(row.begin) <= state.closed_until
            ]
            made.add_corrections(self.engine, noted)

    def _add_up_month(self, state: State, month: int) -> None:
        """Writes the month that has begun, up to the present day."""
        engine, end, marker = self.engine, state.closed_until, ""
        corrections = self._corrections(state, self.now)
        while projects := sources.project_page(engine, month, end, marker, 10 * _PROJECTS):
            marker = projects[-1]
            versions = made.months_to_write(engine, projects, month)
            so_far = corrections.month_so_far(projects, month, end)
            rows = [
                (meter, StoredAccount(month, account, versions.get(meter, 1), end)) for meter, account in so_far.items()
            ]
            accounts.write_months(engine, rows)

    def _corrections(self, state: State, now: int) -> CorrectAccounts:
        horizon = Horizon(now, state.begun_at, state.closed_until, self.valid_for)
        return CorrectAccounts(self.engine, state, horizon, self.keep_hours)

    def _lock(self) -> State:
        state = accounts.lock_state(self.engine)
        assert state is not None, "the account has begun"
        return state
