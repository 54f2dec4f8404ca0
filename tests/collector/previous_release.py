"""The account of usage as the previous release has kept it: it lets no commitment cover usage in several AZs, writes a
month only of the projects that are there on its last day, knows no units, and looks at nothing that others have
closed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from limes.app.context import Limes
from limes.db.transactions import atomic
from limes.kernel.calendar import DAY, Bucket, Granularity, month_of
from limes.metering import accounts, close
from limes.metering import source_queries as sources
from limes.metering.accounts import AccountState, take_pending
from limes.metering.rules import integrate_each
from limes.metering.source_queries import StoredAccount
from limes.metering.sources import Sources, load_gaps, load_sources, lock_account, window_at
from tests.collector.lab import Lab


def close_as_previous(lab: Lab) -> None:
    """The job as it was."""
    ((checked,),) = lab.rows("SELECT checked_correction FROM metering_state")
    with previous_rules(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(close, "_close_some", _close_some)
        patch.setattr(close.corrections, "repair", lambda *_: None)
        patch.setattr(close.metering, "note_units", lambda *_: None)
        close.close_days(lab.limes)
    lab.execute("UPDATE metering_state SET checked_correction = %s", checked)


def close_some_as_previous(lab: Lab) -> None:
    """Closes a day for one project more."""
    with previous_rules():
        _close_some(lab.limes, int(lab.now))


@atomic
def _close_some(limes: Limes, now: int, *, only_begun: bool = False) -> bool:
    engine, state = limes.engine, lock_account(limes)
    if only_begun and not state.last_project:
        return False
    day = Bucket(Granularity.DAY, state.closed_until, state.closed_until + DAY)
    if now < day.end + limes.settings.metering.closes_after:
        return False
    projects = sources.project_page(engine, day.begin, day.end, state.last_project, 1)
    if projects:
        _close(limes, projects, day, state, now)
        accounts.set_state(engine, state._replace(last_project=projects[-1]))
    else:
        accounts.set_state(engine, state._replace(closed_until=day.end, closed_at=now, last_project=""))
    return True


def _close(limes: Limes, projects: Sequence[str], day: Bucket, state: AccountState, now: int) -> None:
    engine, window = limes.engine, window_at(limes, state, now)
    take_pending(engine, projects, day.begin, day.end)
    eventful = {meter.project for meter in sources.steps(engine, projects, day.begin, day.end)}
    eventful |= {project for project, _ in load_gaps(engine, projects, day.begin, day.end, window)}
    if not close._ends_month(day) and not eventful:
        return
    known = load_sources(engine, projects, day.begin, day.end, Granularity.DAY, window, anew=True)
    days, months = [], []
    for meter in known.meters():
        (counted,) = known.accounts([meter], [day])
        account = counted[meter].account
        is_eventful = account.unknown > 0 or any(day.begin <= step.at < day.end for step in known.steps.get(meter, ()))
        month = known.month_until([meter], month_of(day.begin), day.end)[meter]
        if is_eventful:
            days.append((meter, StoredAccount(day.begin, account, 1, day.end)))
        if is_eventful or (close._ends_month(day) and not month.is_nothing):
            months.append((meter, StoredAccount(month_of(day.begin), month, 1, day.end)))
    accounts.write_days(engine, days)
    accounts.write_months(engine, months)


@contextmanager
def previous_rules() -> Iterator[None]:
    """Nothing is pooled."""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("limes.metering.sources.integrate_zones", integrate_each)
        patch.setattr(Sources, "is_pooled", lambda *_: False)
        yield


def close_month_as_before(lab: Lab, project: str, month: int) -> None:
    """What the previous release has left of a closed month of a project that was deleted in it: no row where nothing
    has happened, and otherwise one that ends with the last day on which something has."""
    days = lab.rows(
        "SELECT az, MAX(begins) FROM usage_days WHERE project_uuid = %s AND resource_name = 'cores' GROUP BY az",
        project,
    )
    ends = {az: begins + DAY for az, begins in days}
    engine = lab.engine
    committed = engine.snapshot(lambda: sources.committed(engine, [project], month, month + 31 * DAY))
    for meter, times in committed.items():
        end = ends.get(meter.az)
        if end is None:
            lab.execute(
                "DELETE FROM usage_months WHERE project_uuid = %s AND resource_name = 'cores' AND az = %s",
                project,
                meter.az,
            )
            continue
        kept = sum(time.amount * max(min(time.end, end) - time.begin, 0) for time in times)
        lab.execute(
            "UPDATE usage_months SET committed = %s, counted_until = %s WHERE project_uuid = %s AND resource_name = 'cores' AND az = %s AND begins = %s",
            str(kept),
            end,
            project,
            meter.az,
            month,
        )
