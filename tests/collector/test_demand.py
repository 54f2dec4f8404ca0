"""What capacitors are told of the demand."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.backends import AZCapacity, AZDemand, CapacityBackend, CapacityReport, ResourceDemand
from limes.collector.scrape_capacity import read_demand
from tests.collector.lab import Lab
from tests.commitments.in_lab import RULE, YEAR, add, make_committed
from tests.support.statements import count_statements

CORES, RAM = ("compute", "cores"), ("compute", "ram")


class Curious(CapacityBackend):
    """Asks for the demand, and keeps what it was told."""

    def __init__(self, *wanted: tuple[str, str]) -> None:
        self.wanted = wanted
        self.told = []

    def needs_demand(self) -> tuple[Any, ...]:
        return self.wanted

    def report_capacity(self) -> CapacityReport:
        return self.report_capacity_for({})

    def report_capacity_for(self, demand: dict[Any, Any]) -> CapacityReport:
        self.told.append(demand)
        return CapacityReport({"compute": {"cores": {"az-one": AZCapacity(7)}}})


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    """Berlin uses 10 cores in az-one and 2 in an unknown AZ, dresden 4 in az-one and 5 in az-two."""
    rule = RULE.model_copy(update={"overcommit_factor": 1.5})
    return make_committed(make_lab, rule, berlin={"az-one": 10, "az-nine": 2}, dresden={"az-one": 4, "az-two": 5})


def scrape(lab: Lab, backend: Curious) -> None:
    lab.capacitors["nova"] = backend
    lab.clock.advance(901)
    assert lab.scrape_capacity().success


def test_usage_and_commitments_of_all_projects(lab: Lab) -> None:
    add(lab, 1, 16, status="confirmed")  # berlin uses 10 of these
    add(lab, 2, 3, project="dresden", status="confirmed")  # less than it uses
    add(lab, 3, 7, az="az-two", status="confirmed")
    add(lab, 4, 20, status="pending")
    add(lab, 5, 30, project="dresden", status="pending")
    add(lab, 6, 100, status="planned", confirm_by=lab.now + YEAR)
    add(lab, 7, 100, status="expired", expires_at=lab.now - 1)
    add(lab, 8, 100, status="superseded")
    backend = Curious(CORES, RAM, ("compute", "flux"))
    scrape(lab, backend)
    assert backend.told == [
        {
            CORES: ResourceDemand(
                1.5,
                {"any": AZDemand(), "az-one": AZDemand(14, 6, 50), "az-two": AZDemand(5, 7, 0), "unknown": AZDemand(2)},
            ),
            RAM: ResourceDemand(0, {"any": AZDemand(), "az-one": AZDemand(), "az-two": AZDemand()}),
        }
    ]
    assert lab.rows("SELECT raw_capacity FROM az_resources") == [(7,)]


def test_no_demand_for_a_resource_that_has_left_the_configuration(lab: Lab) -> None:
    """Its row is kept: the service may come back, and its commitments have to end."""
    lab.execute("INSERT INTO resources (service_id, name, is_known) VALUES (1, 'floppies', %s)", False)
    backend = Curious(("compute", "floppies"), CORES)
    scrape(lab, backend)
    assert [set(demand) for demand in backend.told] == [{CORES}]


def test_nobody_is_told_what_he_does_not_ask_for(lab: Lab) -> None:
    backend = Curious()
    scrape(lab, backend)
    assert backend.told == [{}]


def test_the_number_of_statements_does_not_grow_with_that_of_the_resources(lab: Lab) -> None:
    one, two = (
        count_statements(lab.engine, lambda wanted=wanted: read_demand(lab.limes, wanted))
        for wanted in ([CORES], [CORES, RAM])
    )
    assert one == two
