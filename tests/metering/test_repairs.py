"""What earlier releases have closed, what a clock that was ahead has closed, and units of closed months."""

from collections.abc import Callable

import pytest
from msgspec import structs

from limes.app.context import Limes
from limes.collector.discover import discover_projects
from limes.kernel.calendar import DAY, HOUR, Granularity, next_month
from limes.kernel.errors import BadRequest
from limes.kernel.units import Unit
from limes.metering import accounts as usage_corrections
from limes.metering import close as closing
from limes.metering.close import close_days
from tests.collector.lab import BERLIN, DRESDEN, GERMANY, PARIS, FakeKeystone, Lab
from tests.collector.previous_release import close_as_previous, close_month_as_before, previous_rules
from tests.metering.in_lab import (
    CORES,
    START,
    close,
    commitment_event,
    cores_in,
    entries,
    keep_scraping,
    of_cores,
    scrape,
)

FEBRUARY = next_month(START)
KEYSTONE = (DRESDEN, PARIS)


@pytest.fixture
def metered(lab: Lab) -> Lab:
    scrape(lab, 4)
    close(lab)
    return lab


def close_as_before(lab: Lab) -> None:
    """What the previous release has left behind: nobody has checked it, and a commitment covers its own zone only."""
    lab.execute("UPDATE metering_state SET checked_until = NULL, checked_project = NULL")


@pytest.mark.parametrize("zone", ["any", "az-one", "az-two"])
def test_commitments_of_a_project_that_was_deleted_in_the_month(lab: Lab, zone: str) -> None:
    """Nothing was used, so that there is no row until the month is closed."""
    scrape(lab, 0)
    close(lab)
    commitment_event(lab, "created", "c", 10, START + 9 * DAY, availability_zone=zone)
    keep_scraping(lab, 0, START + 11 * DAY)
    lab.keystone = FakeKeystone(*KEYSTONE)
    discover_projects(lab.limes, GERMANY.id)
    close(lab)

    def told() -> list[int]:
        days = sum(entry.account.committed for entry in of_cores(lab, START, START + 12 * DAY, Granularity.DAY))
        (month,) = of_cores(lab, START, FEBRUARY, Granularity.MONTH)
        return [days, month.account.committed]

    assert told() == [10 * 9 * DAY] * 2
    lab.clock.advance(30 * DAY)
    close(lab)
    assert told() == [10 * 9 * DAY] * 2
    # the previous release has lost it
    lab.execute("DELETE FROM usage_months WHERE project_uuid = %s AND resource_name = 'cores'", BERLIN.id)
    close_as_before(lab)
    close(lab)
    assert told() == [10 * 9 * DAY] * 2
    (month,) = of_cores(lab, START, FEBRUARY, Granularity.MONTH)
    assert (month.version, month.corrections) == (
        2,
        [(int(lab.now), "commitments are counted as in the present release")],
    )
    rows = len(lab.rows("SELECT * FROM usage_corrections"))
    close_as_before(lab)
    close(lab)
    assert len(lab.rows("SELECT * FROM usage_corrections")) == rows


@pytest.mark.parametrize("zone", ["any", "az-one"])
@pytest.mark.parametrize("used", [0, 4])
def test_a_month_whose_days_are_not_kept_any_more_gets_the_commitments_that_it_lost(
    lab: Lab, zone: str, used: int
) -> None:
    """Whether there is a row of the month that ends too early, or none."""
    keep = {"keep_hours": 2, "keep_days": 40}
    scrape(lab, used)
    close(lab, **keep)
    commitment_event(lab, "created", "c", 10, START + 9 * DAY, availability_zone=zone)
    keep_scraping(lab, used, START + 3 * DAY)
    keep_scraping(lab, 0, START + 11 * DAY)
    lab.keystone = FakeKeystone(*KEYSTONE)
    discover_projects(lab.limes, GERMANY.id)
    lab.clock.advance(30 * DAY)
    close(lab, **keep)
    told = of_cores(lab, START, FEBRUARY, Granularity.MONTH, every_az=True)
    # as the previous release has closed it
    close_month_as_before(lab, BERLIN.id, START)
    lost = of_cores(lab, START, FEBRUARY, Granularity.MONTH)
    assert sum(entry.account.committed for entry in lost) < 10 * 9 * DAY
    lab.clock.advance(120 * DAY)
    close(lab, **keep)
    assert lab.rows("SELECT COUNT(*) FROM usage_days WHERE begins < %s", FEBRUARY) == [(0,)]
    close_as_before(lab)
    close(lab, **keep)
    repaired = of_cores(lab, START, FEBRUARY, Granularity.MONTH, every_az=True)
    assert [entry.account[:2] for entry in repaired] == [entry.account[:2] for entry in told]
    assert sum(entry.account.committed for entry in repaired) == 10 * 9 * DAY
    assert {entry.version for entry in repaired if entry.meter.az == zone} == {2}
    rows = lab.rows("SELECT * FROM usage_corrections")
    close_as_before(lab)
    close(lab, **keep)
    assert lab.rows("SELECT * FROM usage_corrections") == rows


def test_months_that_are_not_kept_any_more_stay_away(lab: Lab) -> None:
    keep = {"keep_hours": 2, "keep_days": 40, "keep_months": 3}
    scrape(lab, 0)
    close(lab, **keep)
    commitment_event(lab, "created", "c", 10, START + 400 * DAY)
    lab.clock.advance(220 * DAY)
    close(lab, **keep)
    months = lab.rows("SELECT DISTINCT begins FROM usage_months ORDER BY begins")
    close_as_before(lab)
    close(lab, **keep)
    assert lab.rows("SELECT DISTINCT begins FROM usage_months ORDER BY begins") == months
    assert lab.rows("SELECT COUNT(*) FROM usage_corrections") == [(0,)]


def test_what_the_previous_release_corrects_is_corrected_again(lab: Lab) -> None:
    """It runs beside this one, and knows nothing of pooled commitments."""
    used = {"az-one": 4, "az-two": 4}
    scrape(lab, used)
    close(lab)
    commitment_event(lab, "created", "c", 8, START + 20 * DAY, availability_zone="any")
    keep_scraping(lab, used, START + 20 * HOUR)
    lab.clock.advance(6 * HOUR)
    close(lab)
    scrape(lab, used)
    close_as_previous(lab)
    beyond = [entry.account.beyond for entry in of_cores(lab, START, START + DAY, Granularity.DAY)]
    assert beyond != [0]
    close(lab)
    (day,) = of_cores(lab, START, START + DAY, Granularity.DAY)
    assert (day.account.beyond, day.version) == (0, 3)
    close(lab)
    state = lab.rows("SELECT checked_correction FROM metering_state")
    assert state == lab.rows("SELECT MAX(number) FROM usage_corrections")


@pytest.mark.parametrize("days_later", [2, 40])
def test_pooled_commitments_in_closed_days_of_an_earlier_release(lab: Lab, days_later: int) -> None:
    """Exactly, as long as hours are kept; later as far as sums tell."""
    scrape(lab, 4)
    close(lab)
    commitment_event(lab, "created", "c", 3, START + 20 * DAY, availability_zone="any")
    keep_scraping(lab, 4, START + 12 * HOUR)
    keep_scraping(lab, 6, START + 5 * DAY + HOUR)
    with previous_rules():
        close(lab)
    before = of_cores(lab, START, START + 5 * DAY, Granularity.DAY, every_az=True)
    lab.clock.advance(days_later * DAY)
    close_as_before(lab)
    close(lab)
    days = of_cores(lab, START, START + 5 * DAY, Granularity.DAY)
    assert [day.account.beyond for day in days] == [13 * HOUR + 11 * 3 * HOUR, *[3 * DAY] * 4]
    assert {day.version for day in days} == {2}
    by_az = of_cores(lab, START, START + 5 * DAY, Granularity.DAY, every_az=True)
    assert {entry.meter.az for entry in by_az if entry.account.beyond} == {"any"}
    assert sum(entry.account.beyond for entry in before) >= sum(entry.account.beyond for entry in by_az)


def test_a_unit_that_changes_when_a_month_begins(metered: Lab) -> None:
    """The month before is not closed yet, and nothing has happened in it: it has its own unit, and a total has two
    entries, whether its last month is closed or not."""
    mib, gib = (structs.replace(metered.limes, catalog=cores_in(unit)) for unit in (Unit.MIB, Unit.GIB))
    close_days(mib)
    keep_scraping(metered, 4, FEBRUARY + 300)
    close_days(gib)
    keep_scraping(metered, 4, FEBRUARY + DAY)
    march = next_month(FEBRUARY)
    for end in (FEBRUARY + DAY, march):
        keep_scraping(metered, 4, end)
        metered.clock.advance(HOUR)
        close_days(gib)
        for every_az in (True, False):
            months = of_cores(metered, START, march, Granularity.MONTH, every_az=every_az)
            assert [(entry.begin, entry.unit) for entry in months] == [(START, "MiB"), (FEBRUARY, "GiB")]
            total = of_cores(metered, START, end, Granularity.TOTAL, every_az=every_az)
            assert [entry[2:4] for entry in total] == [(START, FEBRUARY), (FEBRUARY, end)]
            assert [(entry.unit, entry.account.used) for entry in total] == [
                ("MiB", 4 * 31 * DAY),
                ("GiB", 4 * (end - FEBRUARY)),
            ]


def test_a_day_that_a_wrong_clock_has_closed_is_corrected_when_it_is_closed_again(metered: Lab) -> None:
    """Somebody may have read it."""
    keep_scraping(metered, 4, START + 2 * DAY + HOUR)
    close(metered)
    (told,) = of_cores(metered, START + DAY, START + 2 * DAY, Granularity.DAY)
    metered.clock.advance(-20 * HOUR)  # back into the second day, which is closed
    scrape(metered, 9)
    close(metered)
    keep_scraping(metered, 9, START + 3 * DAY + HOUR)
    close(metered)
    days = of_cores(metered, START, START + 3 * DAY, Granularity.DAY)
    assert [day.account.used for day in days] == [4 * DAY, 4 * 5 * HOUR + 9 * 19 * HOUR, 9 * DAY]
    assert [day.version for day in days] == [1, 2, 1]
    found = metered.engine.snapshot(lambda: usage_corrections.corrections(metered.engine, [BERLIN.id], START, 2**40))
    assert [(row.granularity, row.begins, row.account) for row in found if row.meter == CORES] == [
        ("day", START + DAY, told.account._replace(smallest=4, largest=4))
    ]
    (january,) = of_cores(metered, START, FEBRUARY, Granularity.MONTH)
    assert january.account.used == sum(day.account.used for day in days) + 9 * HOUR


def test_a_month_that_a_wrong_clock_has_closed(metered: Lab) -> None:
    keep_scraping(metered, 4, START + DAY)
    metered.clock.advance(40 * DAY)
    close(metered)
    metered.clock.advance(-40 * DAY)
    scrape(metered, 4)
    close(metered)
    keep_scraping(metered, 4, FEBRUARY + HOUR)
    close(metered)
    (january,) = of_cores(metered, START, FEBRUARY, Granularity.MONTH)
    assert (january.account.used, january.account.unknown, january.version) == (4 * 31 * DAY, 0, 2)
    assert [reason for _, reason in january.corrections] == ["it was closed before by a clock that was ahead"]


def test_as_of_a_time_at_which_the_day_was_not_closed(metered: Lab) -> None:
    """The collector did not run for a day."""
    keep_scraping(metered, 4, START + 2 * DAY + HOUR)
    close(metered)
    with pytest.raises(BadRequest, match="an `until` of 2026-01-01T00:00:00Z or before"):
        entries(metered, START, START + DAY, Granularity.DAY, as_of=int(metered.now) - 1)
    assert entries(metered, START, START + DAY, Granularity.DAY, as_of=int(metered.now))


def test_a_project_that_is_discovered_before_midnight_by_a_clock_that_is_ahead(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    close(lab)
    lab.clock.advance(DAY - 1 + 2)
    lab.discover()
    lab.clock.advance(-2)
    scrape(lab, 4)
    keep_scraping(lab, 4, START + 3 * DAY + HOUR)
    close(lab)
    days = of_cores(lab, START, START + 3 * DAY, Granularity.DAY)
    assert [day.account.used for day in days] == [4, 4 * DAY, 4 * DAY]


def test_a_day_that_both_releases_have_closed_is_looked_at_again(metered: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_scraping(metered, 4, START + DAY + HOUR)
    repaired: list[int] = []
    repair = closing.corrections._repair_some

    def note(limes: Limes, marker: str, begin: int, now: int) -> str | None:
        repaired.append(begin)
        return repair(limes, marker, begin, now)

    monkeypatch.setattr(closing.corrections, "_repair_some", note)
    close(metered)
    assert repaired == []
    keep_scraping(metered, 4, START + 2 * DAY + HOUR)
    metered.execute("UPDATE metering_state SET last_project = 'p-berlin'")  # by the other one
    close(metered)
    assert repaired
    assert metered.rows("SELECT closed_until - checked_until FROM metering_state") == [(0,)]
