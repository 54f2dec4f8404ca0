"""Reports of quota that grows by itself: the model, sums, quota by AZ, and bounds."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from limes.catalog.catalog import DistributionRule
from tests.api.world import FRANCE, IDENTITIES, World
from tests.autogrow.growing import GROWING_CORES, RULE, make_growing
from tests.quota.quotas import DOMAIN, PROJECT, resources
from tests.support.statements import count_statements

CLUSTER = "/v1/clusters/current"
PER_AZ = {"X-Limes-V2-API-Preview": "per-az"}


@pytest.fixture
def world(make: Callable[..., World]) -> World:
    """The small cloud, in which cores grow by themselves."""
    return make_growing(make)


def cores(world: World, path: str, *, per_az: bool = False) -> Any:
    """What a report says of cores."""
    return resources(world, path, headers=PER_AZ if per_az else {})["cores"]


@pytest.mark.parametrize("path", [PROJECT, DOMAIN, CLUSTER])
def test_the_model_is_shown_on_each_level(world: World, path: str) -> None:
    resources = world.get(path).popitem()[1]["services"][0]["resources"]
    models = {each["name"]: each.get("quota_distribution_model") for each in resources}
    assert models == {"cores": "autogrow", "ram": "hierarchical", "gpus": None}


@pytest.mark.sql
def test_a_domain_has_the_sum_of_its_projects(world: World) -> None:
    germany = cores(world, DOMAIN)
    assert (germany["quota"], germany["projects_quota"]) == (39, 39)
    assert "backend_quota" not in germany
    assert cores(world, f"/v1/domains/{FRANCE}")["quota"] == 0
    listed = {
        each["name"]: each["services"][0]["resources"][0]["quota"] for each in world.get("/v1/domains")["domains"]
    }
    assert listed == {"germany": 39, "france": 0}


@pytest.mark.sql
def test_the_cloud_has_the_sum_of_all_projects(world: World) -> None:
    assert cores(world, CLUSTER)["domains_quota"] == 39


def test_quota_by_az_of_a_project(world: World) -> None:
    """Without asking for it: it is what the backend enforces."""
    expected = {"az-one": {"quota": 3, "usage": 2}, "az-two": {"quota": 5, "usage": 3}}
    assert cores(world, PROJECT)["per_az"] == expected
    assert cores(world, PROJECT, per_az=True)["per_az"] == expected
    ram = world.get(f"{PROJECT}?resource=ram")["project"]["services"][0]["resources"][0]
    assert "per_az" not in ram
    for path, token in ((f"{DOMAIN}/projects", "germany-admin"), ("/v1/projects", "cloud-admin")):
        found = [
            resource["per_az"]
            for project in world.get(path, token)["projects"]
            for resource in project["services"][0]["resources"]
            if resource["name"] == "cores"
        ]
        assert found == [expected, {"az-one": {"quota": 31, "usage": 31}}]


@pytest.mark.sql
def test_quota_in_no_particular_az(world: World) -> None:
    world.run("UPDATE project_az_quotas SET az = 'any' WHERE az = 'az-two'")
    assert cores(world, PROJECT)["per_az"] == {
        "any": {"quota": 5, "usage": 0},
        "az-one": {"quota": 3, "usage": 2},
        "az-two": {"quota": 0, "usage": 3},
    }


@pytest.mark.sql
def test_quota_by_az_of_a_domain_and_the_cloud(world: World) -> None:
    """Only who asks for it gets it, as ever."""
    assert "per_az" not in cores(world, DOMAIN)
    assert cores(world, DOMAIN, per_az=True)["per_az"] == {
        "az-one": {"quota": 34, "usage": 33},
        "az-two": {"quota": 5, "usage": 3},
    }
    by_az = cores(world, CLUSTER, per_az=True)["per_az"]
    assert {az: each["domains_quota"] for az, each in by_az.items()} == {"az-one": 34, "az-two": 5}
    ram = world.request("GET", DOMAIN, headers=PER_AZ, query_string="resource=ram").json["domain"]
    assert "quota" not in ram["services"][0]["resources"][0]["per_az"]["any"]


def test_bounds_are_not_shown_where_people_set_quota(make: Callable[..., World]) -> None:
    """The model was another one when they were set."""
    world = make()
    world.run("UPDATE project_resources SET max_quota = 1, forbids_autogrowth = %s", [True])
    assert not {"max_quota", "forbid_autogrowth", "per_az"} & set(cores(world, PROJECT))


@pytest.mark.parametrize("path", [PROJECT, f"{DOMAIN}/projects", DOMAIN, "/v1/domains", CLUSTER])
def test_reports_ask_the_database_no_more_where_people_set_quota(make: Callable[..., World], path: str) -> None:
    plain = make()
    growing = make(distributions=[GROWING_CORES], fill=False)  # on the same rows
    plain.get(path), growing.get(path)
    asked, asked_more = (count_statements(one.engine, partial(one.get, path)) for one in (plain, growing))
    assert asked_more - asked <= (3 if path.endswith("/projects") else 9 if path is PROJECT else 0)


def test_a_cloud_in_which_all_quota_grows_has_nobody_who_sets_any(make: Callable[..., World]) -> None:
    world = make(distributions=[DistributionRule(re.compile(".*"), "autogrow", autogrow=RULE)])
    for token in IDENTITIES:
        rights = world.get(f"/v1/rights?domain_id={DOMAIN[12:]}&project_id={PROJECT[-15:]}", token)["rights"]
        assert not any(rights[level]["set_quota"] for level in ("domain", "project"))
