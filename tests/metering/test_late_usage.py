"""What comes after its day was closed, and a job that does not run, or runs with a wrong clock."""

from typing import Any

import pytest

from limes.kernel.calendar import DAY, HOUR, Granularity
from limes.kernel.errors import Unavailable
from limes.metering.queries import StepRow, add_steps
from tests.collector.lab import Lab
from tests.metering.in_lab import CORES, START, close, entries, scrape

pytestmark = pytest.mark.sql

PROJECTS = ("p-berlin", "p-dresden", "p-paris")


@pytest.fixture
def metered(lab: Lab) -> Lab:
    """A lab in which 4 cores of berlin were in use for a day, which is closed."""
    scrape(lab, 4)
    close(lab)
    lab.clock.advance(DAY + HOUR)
    scrape(lab, 4)
    close(lab)
    return lab


def record_late(lab: Lab, *projects: str) -> None:
    """They have used more than was known at noon of the closed day."""
    rows = [
        StepRow(project, "compute", "cores", "az-one", START + 12 * HOUR + number, 10, int(lab.now))
        for project in projects
        for number in range(5)
    ]
    lab.engine.atomic(lambda: add_steps(lab.engine, rows))


def corrected(lab: Lab) -> list[tuple[str]]:
    return lab.rows("SELECT DISTINCT project_uuid FROM usage_corrections ORDER BY project_uuid")


def count_of_run(lab: Lab, queries: list[Any]) -> int:
    """How many queries the job takes."""
    before = len(queries)
    close(lab)
    return len(queries) - before


def test_corrections_take_as_many_queries_for_one_project_as_for_many(metered: Lab, queries: list[Any]) -> None:
    """A backend that did not answer at midnight makes corrections for all of its projects."""
    record_late(metered, "p-dresden")
    for_one = count_of_run(metered, queries)
    assert corrected(metered) == [("p-dresden",)]
    metered.clock.advance(HOUR)
    close(metered)
    record_late(metered, "p-paris", "p-vanished")
    assert count_of_run(metered, queries) == for_one
    assert corrected(metered) == [("p-dresden",), ("p-paris",), ("p-vanished",)]


def test_what_was_looked_at_is_not_looked_at_all_day(metered: Lab, queries: list[Any]) -> None:
    metered.clock.advance(HOUR)
    close(metered)
    nothing_late = count_of_run(metered, queries)
    record_late(metered, *PROJECTS)
    assert count_of_run(metered, queries) > nothing_late
    metered.clock.advance(HOUR)
    close(metered)
    assert count_of_run(metered, queries) == nothing_late


def test_what_comes_late_is_found_after_a_run_was_killed(metered: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next run is hours later."""
    record_late(metered, *PROJECTS)
    with monkeypatch.context() as patch:
        patch.setattr("limes.metering.corrections.correct_days", kill)
        with pytest.raises(KeyboardInterrupt):
            close(metered)
    metered.clock.advance(2 * DAY)
    close(metered)
    assert corrected(metered) == [(project,) for project in PROJECTS]


def kill(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_job_that_fails_for_months(metered: Lab) -> None:
    """What was used is known from scrapes: it is what it was when the last day was closed."""
    metered.clock.advance(75 * DAY - HOUR)
    scrape(metered, 4)
    begin = int(metered.now)
    metered.clock.advance(HOUR)
    assert [
        (entry.account.used, entry.account.unknown)
        for granularity in (Granularity.HOUR, Granularity.TOTAL)
        for entry in entries(metered, begin, begin + HOUR, granularity)
        if entry.meter == CORES
    ] == [(4 * HOUR, 0)] * 2


def test_a_clock_of_years_ago_opens_nothing_again(metered: Lab) -> None:
    """A machine that starts without a battery for its clock, and has not heard of the time yet."""
    closed = metered.rows("SELECT * FROM usage_days"), metered.rows("SELECT * FROM usage_months")
    assert all(closed)
    metered.clock.advance(-20 * 365 * DAY)
    with pytest.raises(Unavailable, match="begins on 2026-01-01T00:00:00Z, but the clock says 2006"):
        close(metered)
    assert (metered.rows("SELECT * FROM usage_days"), metered.rows("SELECT * FROM usage_months")) == closed
