"""The breakdown by AZ that `X-Limes-V2-API-Preview: per-az` asks for, on all three levels."""

import pytest

from tests.api.commitments import BEHAVIORS, NOW, commit
from tests.api.world import BERLIN, GERMANY

DOMAIN = f"/v1/domains/{GERMANY}"
PROJECT = f"{DOMAIN}/projects/{BERLIN}"
PREVIEW = {"X-Limes-V2-API-Preview": "per-az"}


@pytest.fixture
def world(make):
    world = make(behaviors=BEHAVIORS)
    commit(world, amount=7)
    commit(world, amount=1)
    commit(world, amount=3, duration="1 year", confirm_by=NOW + 60)
    commit(world, amount=4, project="dresden", availability_zone="az-two")
    commit(world, resource_name="ram", availability_zone="any", amount=5, duration="1 year")
    return world


def resources(world, path, query="", headers=PREVIEW):
    """The resources of all services by name, of the one object that is answered."""
    shown = next(iter(world.request("GET", path, query_string=query, headers=headers).json.values()))
    shown = shown[0] if isinstance(shown, list) else shown
    return {one["name"]: one for service in shown["services"] for one in service["resources"]}


def test_project(world):
    found = resources(world, PROJECT)
    assert found["cores"]["per_az"] == {
        "az-one": {"usage": 2, "committed": {"1 hour": 8}, "planned_commitments": {"1 year": 3}},
        "az-two": {"usage": 3},
    }
    assert found["ram"]["per_az"] == {"any": {"usage": 512, "physical_usage": 128, "committed": {"1 year": 5}}}
    assert found["gpus"]["per_az"] == {"az-one": {"usage": 1}}
    with_detail = resources(world, PROJECT, "detail")
    assert with_detail["gpus"]["per_az"] == {"az-one": {"usage": 1, "subresources": [{"id": "gpu-1"}]}}


def test_where_commitments_can_be_made(world):
    found = resources(world, PROJECT)
    assert found["cores"]["commitment_config"]["availability_zones"] == ["az-one", "az-two"]
    assert found["ram"]["commitment_config"]["availability_zones"] == ["any"]
    assert "availability_zones" not in resources(world, PROJECT, headers={})["cores"]["commitment_config"]


def test_lists_show_the_same(world):
    for query in ("", "detail", "service=compute", "limit=1"):
        one = resources(world, PROJECT, query.replace("limit=1", ""))
        assert resources(world, f"{DOMAIN}/projects", query) == one
        assert resources(world, "/v1/projects", query) == one
    assert resources(world, "/v1/domains", "limit=1&marker=uuid-for-france") == resources(world, DOMAIN)


def test_domain(world):
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


def test_cluster(world):
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


def test_what_has_ended_does_not_count(world):
    world.clock.advance(3601)
    assert resources(world, PROJECT)["cores"]["per_az"]["az-one"] == {
        "usage": 2,
        "planned_commitments": {"1 year": 3},
    }
    assert resources(world, DOMAIN)["cores"]["per_az"]["az-two"] == {"usage": 3}


@pytest.mark.parametrize("headers", [{}, {"X-Limes-V2-API-Preview": "other"}])
@pytest.mark.parametrize("path", [PROJECT, DOMAIN, "/v1/clusters/current", "/v1/projects", "/v1/domains"])
def test_only_who_asks_gets_it(world, path, headers):
    assert "per_az" not in world.request("GET", path, headers=headers).text
