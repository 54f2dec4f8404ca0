"""What a scrape of a capacitor writes."""

from collections.abc import Callable

import pytest

from limes.backends import AZCapacity, BackendError
from limes.collector.scrape_capacity import CapacityOutcome
from tests.collector.lab import FakeCapacitor, Lab
from tests.support.rows import all_rows, changes

CAPACITY = (
    "SELECT r.name, c.name, a.az, a.raw_capacity, a.usage, a.subcapacities FROM az_resources a"
    " JOIN resources r ON r.id = a.resource_id JOIN capacitors c ON c.id = r.capacitor_id ORDER BY 1, 3"
)
TIMES = "SELECT scraped_at, checked_at, next_scrape_at, scrape_error FROM capacitors WHERE name = %s"


@pytest.fixture
def nova(lab: Lab) -> FakeCapacitor:
    lab.capacitors["nova"].capacity = {
        "compute": {
            "cores": {"az-one": AZCapacity(100, 10, ({"name": "host1"},)), "az-nine": AZCapacity(5)},
            "flux": {"any": AZCapacity(1)},
        },
        "volume": {"capacity": {"any": AZCapacity(7)}},
    }
    return lab.capacitors["nova"]


def test_a_scrape_writes_capacity(lab: Lab, nova: FakeCapacitor) -> None:
    assert lab.scrape_capacity() == CapacityOutcome(True, "nova")
    assert lab.rows(CAPACITY) == [
        ("capacity", "nova", "any", 7, None, "[]"),
        ("cores", "nova", "az-one", 100, 10, '[{"name":"host1"}]'),
        ("cores", "nova", "unknown", 5, None, "[]"),
    ]
    assert lab.rows(TIMES, "nova") == [(lab.now, lab.now, lab.now + 900, "")]
    assert lab.scrape_capacity() is None


def scrape_twice(lab: Lab) -> None:
    """So that it is believed that there is much less (test_capacity_drops.py)."""
    for _ in range(2):
        lab.clock.advance(900)
        assert lab.scrape_capacity() == CapacityOutcome(True, "nova")


def test_a_later_scrape_replaces_it(lab: Lab, nova: FakeCapacitor) -> None:
    lab.scrape_capacity()
    nova.capacity = {"compute": {"cores": {"az-two": AZCapacity(50)}}}
    scrape_twice(lab)
    assert lab.rows(CAPACITY) == [("cores", "nova", "az-two", 50, None, "[]")]
    assert lab.rows("SELECT COUNT(*) FROM az_resources") == [(1,)]
    assert lab.rows("SELECT name FROM resources WHERE capacitor_id IS NOT NULL") == [("cores",)]
    nova.capacity = {}
    scrape_twice(lab)
    assert lab.rows("SELECT COUNT(*) FROM az_resources") == [(0,)]


def test_a_failed_scrape_keeps_the_capacity(lab: Lab, nova: FakeCapacitor) -> None:
    lab.scrape_capacity()
    scraped_at = lab.now
    lab.clock.advance(900)
    nova.error = BackendError("no answer")
    before = all_rows(lab.engine)
    assert lab.scrape_capacity() == CapacityOutcome(False, "nova")
    assert set(changes(before, all_rows(lab.engine))) == {"capacitors"}
    assert lab.rows(TIMES, "nova") == [(scraped_at, lab.now, lab.now + 180, "capacitor nova: no answer")]
    lab.clock.advance(180)
    nova.error = None
    assert lab.scrape_capacity() == CapacityOutcome(True, "nova")
    assert lab.rows(TIMES, "nova") == [(lab.now, lab.now, lab.now + 900, "")]


def test_the_last_report_of_a_resource_counts(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(capacitors={"one": FakeCapacitor(), "two": FakeCapacitor()})
    lab.capacitors["one"].capacity = {"compute": {"cores": {"az-one": AZCapacity(1)}, "ram": {"any": AZCapacity(2)}}}
    lab.capacitors["two"].capacity = {"compute": {"cores": {"az-one": AZCapacity(3)}}}
    assert [lab.scrape_capacity().capacitor for _ in range(2)] == ["one", "two"]
    assert lab.rows(CAPACITY) == [("cores", "two", "az-one", 3, None, "[]"), ("ram", "one", "any", 2, None, "[]")]


def test_a_scrape_that_outlived_its_lease_writes_nothing(lab: Lab, nova: FakeCapacitor) -> None:
    def another_collector_meanwhile() -> None:
        nova.during = lambda: None
        lab.clock.advance(301)
        nova.capacity["volume"]["capacity"]["any"] = AZCapacity(8)
        assert lab.scrape_capacity() == CapacityOutcome(True, "nova")
        nova.capacity["volume"]["capacity"]["any"] = AZCapacity(9)

    nova.during = another_collector_meanwhile
    lab.scrape_capacity()
    assert ("capacity", "nova", "any", 8, None, "[]") in lab.rows(CAPACITY)


def test_only_configured_capacitors_are_asked(lab: Lab) -> None:
    lab.execute("INSERT INTO capacitors (name, next_scrape_at, scrape_error) VALUES ('old', 0, '')")
    assert lab.scrape_capacity() == CapacityOutcome(True, "nova")
    assert lab.scrape_capacity() is None
