"""Answers of capacitors that have much less than before: a single one takes nothing away."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.backends import AZCapacity, BackendError
from limes.catalog.catalog import select
from limes.kernel.units import falls
from limes.projects.scope import Place
from limes.reports.attention import find_alerts
from tests.autogrow.in_lab import az_quotas, make_used, provide, set_due
from tests.collector.lab import FakeCapacitor, Lab
from tests.support.statements import count_statements

AZS = "SELECT r.name, a.az, a.raw_capacity FROM az_resources a JOIN resources r ON r.id = a.resource_id ORDER BY 1, 2"
FULL = {"compute": {"cores": {"az-one": 100, "az-two": 100}, "ram": {"any": 1000}}}
KEPT = [("cores", "az-one", 100), ("cores", "az-two", 100), ("ram", "any", 1000)]


def answer(capacitor: FakeCapacitor, services: dict[str, dict[str, dict[str, int]]]) -> None:
    capacitor.capacity = {
        service: {name: {az: AZCapacity(amount) for az, amount in by_az.items()} for name, by_az in resources.items()}
        for service, resources in services.items()
    }


def scrape(lab: Lab, services: dict[str, dict[str, dict[str, int]]], capacitor: str = "nova") -> None:
    answer(lab.capacitors[capacitor], services)
    lab.clock.advance(900)
    lab.execute("UPDATE capacitors SET next_scrape_at = %s + 60", lab.now)
    lab.execute("UPDATE capacitors SET next_scrape_at = %s WHERE name = %s", lab.now, capacitor)
    outcome = lab.scrape_capacity()
    assert outcome is not None
    assert outcome.success


def alerts(lab: Lab) -> list[Any]:
    """Those about capacity that waits: resource, capacitor, and since when."""
    rows, _ = find_alerts(lab.limes, Place(), select(lab.catalog), 100)
    return [
        ("/".join(row.resource.ref), row.capacitor, row.since)
        for row in rows
        if row.kind.value == "capacity_drop" and row.resource is not None
    ]


@pytest.mark.parametrize(
    "partial",
    [
        {"compute": {"ram": {"any": 1000}}},
        {"compute": {"cores": {"az-one": 100}, "ram": {"any": 1000}}},
        {"compute": {"cores": {"az-one": 100, "az-two": 0}, "ram": {"any": 1000}}},
        {"compute": {"cores": {"az-one": 100, "az-two": 69}, "ram": {"any": 1000}}},
        {"compute": {"cores": {"az-one": 200, "az-two": 10}, "ram": {"any": 1000}}},
    ],
    ids=["resource", "zone", "nothing in a zone", "much less", "more elsewhere"],
)
def test_a_partial_answer_takes_nothing_away(lab: Lab, partial: dict[str, Any]) -> None:
    scrape(lab, FULL)
    assert lab.rows(AZS) == KEPT
    scrape(lab, partial)
    assert lab.rows(AZS) == KEPT
    assert alerts(lab) == [("compute/cores", "nova", lab.now)]
    scrape(lab, FULL)
    assert (lab.rows(AZS), alerts(lab)) == (KEPT, [])
    scrape(lab, partial)
    assert lab.rows(AZS) == KEPT, "the full answer in between has ended it"


def test_an_empty_answer_takes_nothing_away(lab: Lab) -> None:
    scrape(lab, FULL)
    scrape(lab, {})
    assert lab.rows(AZS) == KEPT
    assert alerts(lab) == [("compute/cores", "nova", lab.now), ("compute/ram", "nova", lab.now)]
    scrape(lab, {})
    assert (lab.rows(AZS), alerts(lab)) == ([], [])
    assert lab.rows("SELECT name FROM resources WHERE capacitor_id IS NOT NULL") == []


def test_the_next_answer_is_believed(lab: Lab) -> None:
    """Whatever it says: less than the first one, or something in between."""
    scrape(lab, FULL)
    scrape(lab, {"compute": {"cores": {"az-one": 10}, "ram": {"any": 1000}}})
    scrape(lab, {"compute": {"cores": {"az-one": 50}, "ram": {"any": 500}}})
    assert lab.rows(AZS) == [("cores", "az-one", 50), ("ram", "any", 1000)]
    assert alerts(lab) == [("compute/ram", "nova", lab.now)], "each resource by itself"


def test_small_changes_are_written_at_once(lab: Lab) -> None:
    """Also what is missing where there was nothing."""
    scrape(lab, {"compute": {"cores": {"az-one": 100, "az-two": 0}}})
    scrape(lab, {"compute": {"cores": {"az-one": 70}}})
    assert (lab.rows(AZS), alerts(lab)) == ([("cores", "az-one", 70)], [])


def test_what_counts_as_much_less() -> None:
    kept = {"az-one": 10, "az-two": 3}
    assert not falls(kept, {"az-one": 7, "az-two": 3}, 30)
    assert falls(kept, {"az-one": 6, "az-two": 3}, 30)
    assert falls(kept, {"az-one": 9, "az-two": 3}, 0)
    assert not falls(kept, {"az-one": 0, "az-two": 0}, 100)
    assert falls(kept, {"az-one": 10}, 100), "what is missing always waits"
    assert not falls({}, {}, 0)


def test_a_failure_in_between_confirms_nothing(lab: Lab) -> None:
    scrape(lab, FULL)
    scrape(lab, {})
    seen_at = lab.now
    lab.capacitors["nova"].error = BackendError("no answer")
    for _ in range(3):
        lab.clock.advance(900)
        assert lab.scrape_capacity()
    assert lab.rows(AZS) == KEPT
    assert alerts(lab) == [("compute/cores", "nova", seen_at), ("compute/ram", "nova", seen_at)]


def test_a_resource_that_changes_its_capacitor(make_lab: Callable[..., Lab]) -> None:
    """The answer of the former one, which lacks it now, does not confirm what the new one has seen."""
    lab = make_lab(capacitors={"new": FakeCapacitor(), "old": FakeCapacitor()})
    scrape(lab, FULL, "old")
    scrape(lab, {"compute": {"cores": {"az-one": 50, "az-two": 50}}}, "new")
    scrape(lab, {"compute": {"ram": {"any": 1000}}}, "old")
    assert lab.rows(AZS) == KEPT
    assert [each[:2] for each in alerts(lab)] == [("compute/cores", "new")]
    scrape(lab, {"compute": {"cores": {"az-one": 50, "az-two": 50}}}, "new")
    assert lab.rows(AZS) == [("cores", "az-one", 50), ("cores", "az-two", 50), ("ram", "any", 1000)]


def test_quota_that_follows_usage_is_not_lowered(make_lab: Callable[..., Lab]) -> None:
    lab = make_used(make_lab)
    lab.distribute_all()
    before = az_quotas(lab)
    scrape(lab, {"compute": {"ram": {"any": 1000}}})
    lab.distribute_all()
    assert az_quotas(lab) == before
    provide(lab, az_one=100, az_two=100)
    set_due(lab, lab.now)
    assert lab.distribute_all() == 0


def test_statements(lab: Lab) -> None:
    """What is compared costs one; what waits takes one for all, and is not written."""
    few = {"compute": {"cores": {"az-one": 9}, "ram": {"any": 9}}}
    scrape(lab, FULL)
    full = count_statements(lab.engine, lambda: scrape(lab, FULL))
    one = count_statements(lab.engine, lambda: scrape(lab, {"compute": {**FULL["compute"], "ram": {"any": 9}}}))
    assert one < full
    scrape(lab, FULL)
    assert count_statements(lab.engine, lambda: scrape(lab, few)) < one, "both"
    assert count_statements(lab.engine, lambda: scrape(lab, few)) == full
