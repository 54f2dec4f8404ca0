"""Commitments in sum, by resource and AZ."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.world import GERMANY, World
from tests.commitments.commitments import BEHAVIORS, NOW, PATHS, YEAR_2027, commit
from tests.support.statements import count_statements

SUMMARY = "/v1/commitment-summary"


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    """Berlin uses 2 cores in az-one and 512 MiB, dresden 31 cores in az-one."""
    world = make(behaviors=BEHAVIORS)
    commit(world, amount=10, duration="1 hour")
    commit(world, amount=5, duration="1 year")
    commit(world, "dresden", amount=20, duration="1 year")
    commit(world, amount=3, duration="1 year", confirm_by=YEAR_2027)
    commit(world, amount=4, availability_zone="az-two", duration="1 year")
    commit(world, resource_name="ram", availability_zone="any", amount=600, duration="1 year")
    return world


def rows(world: World, path: str = SUMMARY, token: str = "cloud-admin") -> dict[Any, dict[str, Any]]:
    found = world.get(path, token)["commitment_summary"]
    return {(row.pop("resource_name"), row.pop("availability_zone")): row for row in found}


@pytest.mark.sql
def test_by_resource_and_zone(cloud: World) -> None:
    assert list(rows(cloud)) == [("cores", "az-one"), ("cores", "az-two"), ("ram", "any")]
    assert rows(cloud)["cores", "az-one"] == {
        "service_type": "compute",
        "committed": 35,
        "used": 22,  # 2 of berlin, and all 20 of dresden
        "unused": 13,
        "usage": 33,  # 2 of berlin, and 31 of dresden
        "coverage": 0.6667,
        "waste": 0.3714,
        "expiring": 10,
        "pending": 0,
        "planned": 3,
        "commitments": 4,
        "projects": 2,
    }
    assert rows(cloud)["cores", "az-two"]["used"] == 3
    assert (rows(cloud)["cores", "az-two"]["coverage"], rows(cloud)["cores", "az-two"]["waste"]) == (1, 0.25)
    ram = rows(cloud)["ram", "any"]
    assert (ram["unit"], ram["committed"], ram["used"], ram["unused"]) == ("MiB", 600, 512, 88)


def test_of_a_domain_and_of_a_project(cloud: World) -> None:
    assert rows(cloud, f"/v1/domains/{GERMANY}/commitment-summary", "germany-viewer") == rows(cloud)
    of_dresden = rows(cloud, f"{PATHS['dresden']}/commitment-summary", "dresden-admin")
    assert list(of_dresden) == [("cores", "az-one")]
    assert (of_dresden["cores", "az-one"]["committed"], of_dresden["cores", "az-one"]["used"]) == (20, 20)
    assert rows(cloud, f"{PATHS['paris']}/commitment-summary") == {}


def test_a_selection(cloud: World) -> None:
    assert list(rows(cloud, f"{SUMMARY}?resource=ram")) == [("ram", "any")]
    assert rows(cloud, f"{SUMMARY}?resource=nothing") == {}


@pytest.mark.sql
def test_what_ends_within_so_many_days(cloud: World) -> None:
    assert rows(cloud, f"{SUMMARY}?days=366")["cores", "az-one"]["expiring"] == 35
    cloud.clock.advance(3600)
    assert (rows(cloud)["cores", "az-one"]["committed"], rows(cloud)["cores", "az-one"]["expiring"]) == (25, 0)


def test_what_was_renewed_does_not_end(cloud: World) -> None:
    hour = next(
        each for each in cloud.get(f"{PATHS['berlin']}/commitments")["commitments"] if each["duration"] == "1 hour"
    )
    assert hour["expires_at"] == NOW + 3600
    assert cloud.request("POST", f"{PATHS['berlin']}/commitments/{hour['id']}/renew").status_code == 202
    assert rows(cloud)["cores", "az-one"]["expiring"] == 0


def test_the_number_of_queries_is_fixed(cloud: World) -> None:
    before = count_statements(cloud.engine, lambda: rows(cloud))
    for _ in range(5):
        commit(cloud, "dresden", amount=1, availability_zone="az-two", duration="1 year")
    assert count_statements(cloud.engine, lambda: rows(cloud)) == before <= 8
