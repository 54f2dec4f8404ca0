"""The account of usage of a small cloud: gaps, vanished projects, closed months, corrections, clocks that jump."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from limes.app.context import Limes
from limes.collector.discover import discover_projects
from limes.kernel.calendar import DAY, HOUR, Granularity, day_of, next_month
from limes.metering import accounts as usage_corrections
from limes.metering import corrections
from limes.metering.entries import UsageEntry
from limes.metering.queries import StepRow, add_steps
from limes.metering.source_queries import MeterFilter
from limes.metering.sources import MeteringWindow
from tests.collector.lab import BERLIN, GERMANY, FakeKeystone, Lab
from tests.metering.in_lab import CORES, START, close, entries, keep_scraping, of_cores, scrape

pytestmark = pytest.mark.sql


@pytest.fixture
def metered(lab: Lab) -> Lab:
    """A lab in which metering has begun at midnight, with 4 cores of berlin in use."""
    scrape(lab, 4)
    close(lab)
    return lab


def told(lab: Lab, begin: int, end: int, granularity: Granularity = Granularity.MONTH) -> list[UsageEntry]:
    """Of berlin's cores in az-one."""
    return [entry for entry in of_cores(lab, begin, end, granularity, every_az=True) if entry.meter == CORES]


def days_of_cores(lab: Lab, count: int, begin: int | None = None) -> list[tuple[int, int]]:
    """Used and unknown on each of the first days."""
    begin = day_of(begin or START)
    days = told(lab, begin, begin + count * DAY, Granularity.DAY)
    return [(day.account.used, day.account.unknown) for day in days]


def test_usage_that_does_not_change_writes_nothing(metered: Lab) -> None:
    (before,) = metered.rows("SELECT COUNT(*) FROM usage_steps")
    keep_scraping(metered, 4, START + 10 * HOUR)
    assert metered.rows("SELECT COUNT(*) FROM usage_steps") == [before]


def test_what_the_previous_release_writes_is_noticed(metered: Lab) -> None:
    """It knows neither steps nor the column: the next scrape finds that the account ends with another usage."""
    metered.clock.advance(HOUR)
    metered.execute("UPDATE project_az_resources SET usage = 9 WHERE az = 'az-one' AND usage = 4")
    scrape(metered, 9)
    assert metered.rows("SELECT usage FROM usage_steps ORDER BY at DESC LIMIT 1") == [(9,)]


@pytest.mark.parametrize("is_known", [True, False])
def test_what_was_before_the_beginning_is_unknown(make_lab: Callable[..., Lab], is_known: bool) -> None:
    """Also of projects that are discovered then: Limes has been started for the first time, and its jobs begin at once."""
    lab = make_lab()
    if is_known:
        lab.discover()
    lab.clock.advance(9 * DAY + HOUR)
    close(lab)
    lab.discover()
    scrape(lab, 4)
    for days in (0, 1, 40):
        lab.clock.advance(days * DAY + HOUR)
        close(lab)
        for granularity in (Granularity.MONTH, Granularity.TOTAL):
            (found,) = told(lab, START, next_month(START), granularity)
            assert (found.account.unknown >= 9 * DAY + HOUR, found.account.smallest) == (True, 4)
    assert days_of_cores(lab, 2, START + 9 * DAY) == [(4 * 2 * HOUR, 22 * HOUR), (0, DAY)]


def test_zero_that_was_unknown_is_told(metered: Lab) -> None:
    """Nothing was ever used of the GPUs. But for an hour nobody knew."""
    metered.clock.advance(HOUR)
    scrape(metered, None)
    metered.clock.advance(HOUR)
    found = {
        entry.meter.resource: entry.account.unknown
        for entry in entries(metered, START, START + DAY, Granularity.DAY)
        if entry.meter.project == BERLIN.id
    }
    assert found == {"cores": HOUR, "ram": HOUR, "gpus": HOUR}


def test_a_closed_month_says_the_same_for_ever(metered: Lab) -> None:
    """Whatever happens later: other usage, another name, the project's end."""
    keep_scraping(metered, 4, START + 3 * DAY)
    metered.clock.advance(29 * DAY)
    close(metered)
    first = entries(metered, START, next_month(START), Granularity.MONTH)
    assert first[0].closed == {"month": 1}
    scrape(metered, 9)
    metered.keystone = FakeKeystone(structs.replace(BERLIN, name="renamed"))
    discover_projects(metered.limes, GERMANY.id)
    close(metered)
    metered.clock.advance(50 * DAY)
    close(metered)
    metered.keystone = FakeKeystone(structs.replace(BERLIN, id="p-other", name="other"))
    discover_projects(metered.limes, GERMANY.id)
    close(metered)
    assert entries(metered, START, next_month(START), Granularity.MONTH) == first
    later = entries(metered, next_month(START), next_month(next_month(START)), Granularity.MONTH)
    assert {entry.names.project_name for entry in later if entry.meter.project == BERLIN.id} == {"renamed"}


def late_step(lab: Lab, at: int, usage: int) -> None:
    row = StepRow(BERLIN.id, "compute", "cores", "az-one", at, usage, int(lab.now))
    lab.engine.atomic(lambda: add_steps(lab.engine, [row]))


def test_what_comes_late_is_a_new_version_with_its_reason(metered: Lab) -> None:
    keep_scraping(metered, 4, START + 2 * DAY + HOUR)
    close(metered)
    assert days_of_cores(metered, 2) == [(4 * DAY, 0), (4 * DAY, 0)]
    metered.clock.advance(HOUR)
    late_step(metered, START + DAY + 12 * HOUR, 10)
    close(metered)
    (first, second) = told(metered, START, START + 2 * DAY, Granularity.DAY)
    assert (first.version, second.version) == (1, 2)
    assert second.account.used == 12 * HOUR * 4 + 12 * HOUR * 10
    (correction,) = metered.engine.snapshot(
        lambda: usage_corrections.corrections(metered.engine, [BERLIN.id], START, 2**40)
    )
    assert (correction.granularity, correction.begins, correction.version) == ("day", START + DAY, 1)
    assert correction.account.used == 4 * DAY
    assert "recorded afterwards" in correction.reason
    close(metered)  # and once is enough
    assert len(metered.rows("SELECT number FROM usage_corrections")) == 1


def test_a_corrected_day_changes_no_other_day(metered: Lab) -> None:
    """The usage that came late ended at midnight: the days after that, which were not stored, stay what they were. One
    of them is in another month, which is not closed."""
    month = next_month(START)
    keep_scraping(metered, 4, month + 2 * DAY + HOUR)
    scrape(metered, 0)
    keep_scraping(metered, 0, month + 4 * DAY + HOUR)
    close(metered)
    late_step(metered, month - DAY, 10)
    late_step(metered, month, 4)
    late_step(metered, month + 3 * DAY, 7)
    late_step(metered, month + 3 * DAY + HOUR, 0)
    (before,) = told(metered, month, next_month(month))
    close(metered)
    assert days_of_cores(metered, 4, month - 2 * DAY) == [(4 * DAY, 0), (10 * DAY, 0), (4 * DAY, 0), (4 * DAY, 0)]
    (january,) = told(metered, START, month)
    assert january.account.used == 4 * (month - START) + 6 * DAY
    (february,) = told(metered, month, next_month(month))
    assert february.account.used == before.account.used + 7 * HOUR == 4 * (2 * DAY + HOUR) + 7 * HOUR


def test_an_outage_over_midnight_is_looked_at_once(metered: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next day is closed with what is known of the gap. When it ends, that is compared, and nothing was wrong."""
    looked_at: list[set[str]] = []
    correct = corrections.correct_days

    def note(limes: Limes, window: MeteringWindow, late: dict[str, int], *more: Any) -> None:
        looked_at.append({*late})
        correct(limes, window, late, *more)

    monkeypatch.setattr(corrections, "correct_days", note)
    keep_scraping(metered, 4, START + 23 * HOUR)
    metered.clock.advance(HOUR // 2)
    scrape(metered, None)
    metered.clock.advance(HOUR)
    close(metered)
    scrape(metered, 4)
    for _ in range(3):
        metered.clock.advance(60)
        close(metered)
    assert looked_at == [{BERLIN.id}]
    assert metered.rows("SELECT * FROM usage_corrections") == []
    assert days_of_cores(metered, 1) == [(4 * (DAY - HOUR // 2), HOUR // 2)]


def test_a_gap_that_is_counted_with_its_day_needs_no_other_look(metered: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corrections, "correct_days", None)
    metered.clock.advance(HOUR)
    scrape(metered, None)
    metered.clock.advance(HOUR)
    scrape(metered, 4)
    keep_scraping(metered, 4, START + DAY + HOUR)
    close(metered)
    close(metered)
    assert days_of_cores(metered, 1) == [(4 * (DAY - HOUR), HOUR)]


def test_a_closed_month_is_corrected_with_its_days(metered: Lab) -> None:
    month = next_month(START)
    keep_scraping(metered, 4, month + DAY + HOUR)
    close(metered)
    late_step(metered, month - 12 * HOUR, 10)
    close(metered)
    (january,) = told(metered, START, month)
    assert (january.version, january.account.used) == (2, 4 * (month - START) + 6 * 12 * HOUR)
    found = metered.engine.snapshot(lambda: usage_corrections.corrections(metered.engine, [BERLIN.id], START, 2**40))
    assert [(row.granularity, row.begins) for row in found] == [("day", month - DAY), ("day", month), ("month", START)]
    (february,) = told(metered, month, next_month(month))
    assert (february.version, february.account.used) == (1, 10 * (DAY + HOUR))


def test_days_that_a_wrong_clock_has_closed_are_opened_again(metered: Lab) -> None:
    """What their month has said is kept with its correction."""
    keep_scraping(metered, 4, START + DAY + 6 * HOUR)
    close(metered)
    metered.clock.advance(40 * DAY)  # wrong
    scrape(metered, 70)
    close(metered)
    (said,) = told(metered, START, next_month(START))
    metered.clock.advance(-40 * DAY)
    scrape(metered, 5)
    close(metered)
    found = metered.engine.snapshot(lambda: usage_corrections.corrections(metered.engine, [BERLIN.id], START, 2**40))
    kept = {row.begins: row.account.used for row in found if (row.granularity, row.meter) == ("month", CORES)}
    assert kept == {START: said.account.used}


def test_old_hours_and_days_are_forgotten_and_months_are_not(metered: Lab) -> None:
    keep_scraping(metered, 4, START + 2 * HOUR)
    keep_scraping(metered, 6, START + 4 * HOUR)
    metered.clock.advance(500 * DAY)
    close(metered)
    assert metered.rows("SELECT * FROM usage_steps") == []
    assert metered.rows("SELECT * FROM usage_days WHERE begins < %s", START + 60 * DAY) == []
    only = MeterFilter(resources=["cores"], azs=["az-one"])
    found = entries(metered, START, next_month(START), Granularity.MONTH, only=only)
    (january,) = [entry for entry in found if entry.meter == CORES]
    assert january.account.used == 4 * 3 * HOUR + 6 * (HOUR + 2 * HOUR)
