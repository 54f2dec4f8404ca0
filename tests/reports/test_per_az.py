"""The breakdown by AZ that `X-Limes-V2-API-Preview: per-az` asks for, on all three levels."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.api.world import World
from tests.commitments.commitments import BEHAVIORS, NOW, commit, listed
from tests.quota import quotas
from tests.quota.quotas import DOMAIN, PROJECT

PREVIEW = {"X-Limes-V2-API-Preview": "per-az"}
resources = partial(quotas.resources, headers=PREVIEW)


@pytest.fixture
def world(make: Callable[..., World]) -> World:
    world = make(behaviors=BEHAVIORS)
    commit(world, amount=7)
    commit(world, amount=1)
    commit(world, amount=3, duration="1 year", confirm_by=NOW + 60)
    commit(world, amount=4, project="dresden", availability_zone="az-two")
    commit(world, resource_name="ram", availability_zone="any", amount=5, duration="1 year")
    return world


@pytest.mark.sql
def test_project(world: World) -> None:
    found = resources(world, PROJECT)
    assert found["cores"]["per_az"] == {
        "az-one": {"usage": 2, "committed": {"1 hour": 8}, "planned_commitments": {"1 year": 3}},
        "az-two": {"usage": 3},
    }
    assert found["ram"]["per_az"] == {"any": {"usage": 512, "physical_usage": 128, "committed": {"1 year": 5}}}
    assert found["gpus"]["per_az"] == {"az-one": {"usage": 1}}
    with_detail = resources(world, PROJECT, "detail")
    assert with_detail["gpus"]["per_az"] == {"az-one": {"usage": 1, "subresources": [{"id": "gpu-1"}]}}


def test_where_commitments_can_be_made(world: World) -> None:
    """Also for those who do not ask for the breakdown."""
    for headers in (PREVIEW, {}):
        found = resources(world, PROJECT, headers=headers)
        assert found["cores"]["commitment_config"]["availability_zones"] == ["az-one", "az-two"]
        assert found["ram"]["commitment_config"]["availability_zones"] == ["any"]


def test_lists_show_the_same(world: World) -> None:
    for query in ("", "detail", "service=compute", "limit=1"):
        expected = resources(world, PROJECT, query.replace("limit=1", ""))
        assert resources(world, f"{DOMAIN}/projects", query) == expected
        assert resources(world, "/v1/projects", query) == expected
    assert resources(world, "/v1/domains", "limit=1&marker=uuid-for-france") == resources(world, DOMAIN)


@pytest.mark.sql
def test_lists_of_a_few_fields(world: World) -> None:
    """Commitments are summed up, and what has no default stays."""
    for path, project in ((f"{DOMAIN}/projects", world.get(PROJECT)["project"]), ("/v1/projects", None)):
        found = world.get(f"{path}?service=compute&fields=quota&fields=committed")["projects"][0]
        cores, gpus, ram = found["services"][0].pop("resources")
        assert cores == {"name": "cores", "quota": 20, "committed": 8, "usage": 5}
        assert (gpus, ram["committed"]) == ({"name": "gpus", "usage": 1}, 5)
        assert found.pop("services") == [{"type": "compute", "area": "compute"}]
        if project:
            assert found == {key: project[key] for key in ("id", "name", "parent_id")}
    cores = resources(world, "/v1/domains", "limit=1&marker=uuid-for-france&fields=committed", headers={})["cores"]
    assert cores == {"name": "cores", "usage": cores["usage"], "committed": 12}
    shown = world.get("/v1/projects?fields=scraped_at")["projects"][0]["services"][0]
    assert shown.keys() == {"type", "area", "resources", "scraped_at"}
    assert world.request("GET", "/v1/projects?fields=quotas").status_code == 400


@pytest.mark.sql
def test_domain(world: World) -> None:
    found = resources(world, DOMAIN)
    assert found["cores"]["per_az"] == {
        "az-one": {
            "usage": 33,
            "committed": {"1 hour": 8},
            "unused_commitments": 6,
            "planned_commitments": {"1 year": 3},
        },
        "az-two": {"usage": 3, "committed": {"1 hour": 4}, "unused_commitments": 4},
    }
    assert found["ram"]["per_az"] == {"any": {"usage": 512, "committed": {"1 year": 5}}}
    elsewhere = resources(world, "/v1/domains", "limit=1")
    assert elsewhere["cores"]["per_az"] == {"any": {"usage": 0}}


@pytest.mark.sql
def test_cluster(world: World) -> None:
    found = resources(world, "/v1/clusters/current", "detail")
    assert found["cores"]["per_az"] == {
        "az-one": {
            "capacity": 100,
            "usage": 33,
            "subcapacities": [{"az": "az-one"}],
            "projects_usage": 33,
            "committed": {"1 hour": 8},
            "unused_commitments": 6,
            "planned_commitments": {"1 year": 3},
        },
        "az-two": {
            "capacity": 101,
            "usage": 0,
            "subcapacities": [{"az": "az-two"}],
            "projects_usage": 3,
            "committed": {"1 hour": 4},
            "unused_commitments": 4,
        },
    }
    assert found["cores"]["per_availability_zone"], "still there beside it"
    assert found["ram"]["per_az"] == {
        "any": {"capacity": 8192, "projects_usage": 512, "physical_usage": 128, "committed": {"1 year": 5}}
    }
    without_rights = world.request("GET", "/v1/clusters/current", "nobody", query_string="detail", headers=PREVIEW)
    assert "subcapacities" not in without_rights.text


@pytest.mark.sql
def test_no_projects_usage_is_left_out(world: World) -> None:
    world.run("UPDATE project_az_resources SET usage = 0 WHERE az = 'az-two'")
    zone = resources(world, "/v1/clusters/current")["cores"]["per_az"]["az-two"]
    assert "projects_usage" not in zone
    assert zone["committed"] == {"1 hour": 4}


@pytest.mark.sql
def test_a_project_without_physical_usage_counts_with_its_usage(world: World) -> None:
    ram = "SELECT 2, id, 'any', 7, '' FROM resources WHERE name = 'ram'"
    insert = f"INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources) {ram}"
    world.run(insert)
    found = resources(world, "/v1/clusters/current")["ram"]["per_az"]["any"]
    assert (found["projects_usage"], found["physical_usage"]) == (519, 135)


@pytest.mark.sql
def test_what_was_made_of_others_counts_once(world: World) -> None:
    ids = [
        commitment["id"]
        for commitment in listed(world)
        if (commitment["duration"], commitment["amount"]) in (("1 hour", 7), ("1 hour", 1))
    ]
    merged = world.request("POST", f"{PROJECT}/commitments/merge", json={"commitment_ids": ids})
    assert merged.status_code == 202
    for path in (PROJECT, DOMAIN, "/v1/clusters/current"):
        assert resources(world, path)["cores"]["per_az"]["az-one"]["committed"] == {"1 hour": 8}


def test_what_waits_for_capacity(world: World) -> None:
    commit(world, amount=500, duration="1 year", confirm_by=NOW + 30)
    commit(world, amount=600, confirm_by=NOW + 30)
    world.clock.advance(31)
    commit(
        world, amount=1, project="dresden", availability_zone="az-two"
    )  # whoever asks next, looks at all that is due
    waiting = {"1 hour": 600, "1 year": 500}
    for path in (PROJECT, DOMAIN, "/v1/clusters/current"):
        found = resources(world, path)["cores"]["per_az"]["az-one"]
        assert list(found["pending_commitments"].items()) == list(waiting.items())
        assert found["planned_commitments"] == {"1 year": 3}


def test_what_is_only_committed_to(world: World) -> None:
    """In an AZ that nobody uses, beside others."""
    for table, zero in (("project_az_resources", "usage"), ("az_resources", "raw_capacity")):
        world.run(f"UPDATE {table} SET {zero} = 0")
    ram = "SELECT p.id, r.id, 'az-one', 1, '' FROM projects p CROSS JOIN resources r WHERE p.id = 1 AND r.name = 'ram'"
    insert = f"INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources) {ram}"
    world.run(insert)
    for path in (PROJECT, DOMAIN, "/v1/clusters/current"):
        found = resources(world, path)["ram"]["per_az"]
        assert list(found) == ["any", "az-one"]
        assert found["any"]["committed"] == {"1 year": 5}


def test_what_has_ended_does_not_count(world: World) -> None:
    world.clock.advance(3601)
    assert resources(world, PROJECT)["cores"]["per_az"]["az-one"] == {"usage": 2, "planned_commitments": {"1 year": 3}}
    assert resources(world, DOMAIN)["cores"]["per_az"]["az-two"] == {"usage": 3}


@pytest.mark.parametrize("headers", [{}, {"X-Limes-V2-API-Preview": "other"}])
@pytest.mark.parametrize("path", [PROJECT, DOMAIN, "/v1/clusters/current", "/v1/projects", "/v1/domains"])
def test_only_who_asks_gets_it(world: World, path: str, headers: dict[str, Any]) -> None:
    assert "per_az" not in world.request("GET", path, headers=headers).text
