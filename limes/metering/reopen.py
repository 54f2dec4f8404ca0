"""Opens days again that were closed by a clock that was ahead: they are yet to come.

They may have been read, so what they said is kept until they are closed again. A day that says something else then
is a correction.
"""

import logging

from limes.app.context import Limes
from limes.db.transactions import atomic
from limes.kernel.calendar import day_of, month_of, next_month, render_time
from limes.metering import accounts, corrections, source_queries
from limes.metering import source_queries as sources
from limes.metering.accounts import AccountState, Correction
from limes.metering.sources import lock_account, window_at

log = logging.getLogger(__name__)

REOPENED = "it was closed before by a clock that was ahead"
_PROJECTS = 20
"""Whose days are kept in one transaction."""


def reopen_if_ahead(limes: Limes, state: AccountState, now: int) -> None:
    if _is_ahead(state, now):
        marker: str | None = ""
        while marker is not None:  # harmless if it is done twice, or not to its end
            marker = _keep_told(limes, now, marker)
        _reopen(limes, now)


def _is_ahead(state: AccountState, now: int) -> bool:
    today = day_of(now)
    return state.closed_until > today or (bool(state.last_project) and state.closed_until == today)


@atomic
def _keep_told(limes: Limes, now: int, marker: str) -> str | None:
    """Writes what days say about some projects, even days that follow from the days before. Returns the last of these
    projects; None if there are none."""
    engine, state, today = limes.engine, lock_account(limes), day_of(now)
    projects = sources.project_page(engine, today, state.closed_until, marker, _PROJECTS)
    window = window_at(limes, state, state.closed_until)
    told = corrections.read_days(limes, window, projects, today, state.closed_until)
    rows = [(meter, row) for meter, days in told.items() for row in days if not row.account.is_nothing]
    accounts.write_days(engine, rows)
    return projects[-1] if projects else None


@atomic
def _reopen(limes: Limes, now: int) -> None:
    engine, state, today = limes.engine, lock_account(limes), day_of(now)
    if not _is_ahead(state, now):
        return
    log.error("days were closed by a clock that was ahead: those from %s on are open again", render_time(today))
    month = month_of(today)
    _note_months(limes, state, month, now)
    accounts.forget_from(engine, state.closed_until, month)
    accounts.set_state(engine, state.reopened(today, now))
    state = lock_account(limes)
    if today > max(month, day_of(state.begun_at)):
        _add_up_month(limes, state, month, now)


def _note_months(limes: Limes, state: AccountState, month: int, now: int) -> None:
    engine, marker = limes.engine, ""
    while projects := sources.project_page(engine, month, state.closed_until, marker, 10 * _PROJECTS):
        marker = projects[-1]
        stored = sources.months(engine, projects, month, state.closed_until)
        told = [(meter, row) for meter, rows in stored.items() for row in rows]
        closed = [(meter, row) for meter, row in told if next_month(row.begin) <= state.closed_until]
        accounts.add_corrections(engine, [Correction.of(now, REOPENED, "month", *each) for each in closed])


def _add_up_month(limes: Limes, state: AccountState, month: int, now: int) -> None:
    """Writes the present month, up to the present day."""
    engine, end, marker = limes.engine, state.closed_until, ""
    window = window_at(limes, state, now)
    while projects := sources.project_page(engine, month, end, marker, 10 * _PROJECTS):
        marker = projects[-1]
        versions = accounts.months_to_write(engine, projects, month)
        so_far = corrections.month_so_far(limes, window, projects, month, end)
        rows = {
            meter: source_queries.StoredAccount(month, account, versions.get(meter, 1), end)
            for meter, account in so_far.items()
        }
        accounts.write_months(engine, rows.items())
