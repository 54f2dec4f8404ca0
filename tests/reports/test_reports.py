"""GET on the three levels: every field with its presence rule."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, World


@pytest.mark.sql
def test_cluster(world: World) -> None:
    assert world.get("/v1/clusters/current") == {
        "cluster": {
            "id": "current",
            "services": [
                {
                    "type": "compute",
                    "area": "compute",
                    "resources": [
                        {
                            "name": "cores",
                            "quota_distribution_model": "hierarchical",
                            "capacity": 201,
                            "per_availability_zone": [
                                {"name": "az-one", "capacity": 100, "usage": 33},
                                {"name": "az-two", "capacity": 101, "usage": 3},
                            ],
                            "domains_quota": 150,
                            "usage": 36,
                        },
                        {"name": "gpus", "contained_in": "cores", "usage": 1},
                        {
                            "name": "ram",
                            "unit": "MiB",
                            "quota_distribution_model": "hierarchical",
                            "capacity": 8192,
                            "domains_quota": 4096,
                            "usage": 512,
                            "physical_usage": 128,
                        },
                    ],
                    "max_scraped_at": 1020,
                    "min_scraped_at": 1010,
                },
                {
                    "type": "volume",
                    "area": "storage",
                    "resources": [
                        {
                            "name": "capacity",
                            "unit": "GiB",
                            "category": "block",
                            "quota_distribution_model": "hierarchical",
                            "domains_quota": 0,
                            "usage": 3,
                        }
                    ],
                    "max_scraped_at": 1020,
                    "min_scraped_at": 1010,
                },
            ],
            "max_scraped_at": 900,
            "min_scraped_at": 900,
        }
    }


def test_usage_by_az_is_what_projects_report_else_what_the_capacitor_says(world: World) -> None:
    def shown() -> dict[Any, Any]:
        cores = world.get("/v1/clusters/current?resource=cores")["cluster"]["services"][0]["resources"][0]
        return {az["name"]: az.get("usage") for az in cores["per_availability_zone"]}

    world.run("UPDATE az_resources SET usage = 77")
    assert shown() == {"az-one": 33, "az-two": 3}, "2 and 31 in az-one, 3 in az-two"
    world.run("DELETE FROM project_az_resources WHERE az = 'az-two'")
    assert shown() == {"az-one": 33, "az-two": 77}
    world.run("UPDATE az_resources SET usage = NULL")
    assert shown() == {"az-one": 33, "az-two": None}
    world.run("UPDATE project_az_resources SET usage = 0 WHERE az = 'az-one'")
    assert shown() == {"az-one": 0, "az-two": None}


def test_subcapacities_need_detail_and_permission(world: World) -> None:
    def subcapacities(query: str, token: str) -> list[Any]:
        services = world.get(f"/v1/clusters/current{query}", token)["cluster"]["services"]
        return [resource.get("subcapacities") for resource in services[0]["resources"]]

    assert subcapacities("?detail", "cloud-viewer") == [[{"az": "az-one"}, {"az": "az-two"}], None, None]
    assert subcapacities("", "cloud-viewer") == [None, None, None]
    assert subcapacities("?detail", "berlin-member") == [None, None, None]


@pytest.mark.sql
def test_domain(world: World) -> None:
    document = world.get(f"/v1/domains/{GERMANY}", "germany-viewer")
    assert document == {
        "domain": {
            "id": GERMANY,
            "name": "germany",
            "services": [
                {
                    "type": "compute",
                    "area": "compute",
                    "resources": [
                        {
                            "name": "cores",
                            "quota_distribution_model": "hierarchical",
                            "quota": 100,
                            "projects_quota": 50,
                            "usage": 36,
                            "backend_quota": 50,
                        },
                        {"name": "gpus", "contained_in": "cores", "usage": 1},
                        {
                            "name": "ram",
                            "unit": "MiB",
                            "quota_distribution_model": "hierarchical",
                            "quota": 4096,
                            "projects_quota": 1024,
                            "usage": 512,
                            "physical_usage": 128,
                            "backend_quota": 2048,
                        },
                    ],
                    "max_scraped_at": 1020,
                    "min_scraped_at": 1010,
                },
                {
                    "type": "volume",
                    "area": "storage",
                    "resources": [
                        {
                            "name": "capacity",
                            "unit": "GiB",
                            "category": "block",
                            "quota_distribution_model": "hierarchical",
                            "quota": 0,
                            "projects_quota": 10,
                            "usage": 3,
                            "infinite_backend_quota": True,
                        }
                    ],
                    "max_scraped_at": 1020,
                    "min_scraped_at": 1010,
                },
            ],
        }
    }


@pytest.mark.sql
def test_domains_are_listed_by_uuid_and_show_quota_before_any_scrape(world: World) -> None:
    france, germany = world.get("/v1/domains?service=compute&resource=cores")["domains"]
    assert (france["id"], germany["id"]) == (FRANCE, GERMANY)
    assert france["services"] == [
        {
            "type": "compute",
            "area": "compute",
            "resources": [{"name": "cores", "quota_distribution_model": "hierarchical", "quota": 50, "usage": 0}],
        }
    ]


BERLIN_DOCUMENT = {
    "id": BERLIN,
    "name": "berlin",
    "parent_id": GERMANY,
    "services": [
        {
            "type": "compute",
            "area": "compute",
            "resources": [
                {
                    "name": "cores",
                    "quota_distribution_model": "hierarchical",
                    "quota": 20,
                    "usable_quota": 20,
                    "usage": 5,
                },
                {"name": "gpus", "contained_in": "cores", "usage": 1},
                {
                    "name": "ram",
                    "unit": "MiB",
                    "quota_distribution_model": "hierarchical",
                    "quota": 1024,
                    "usable_quota": 1024,
                    "backend_quota": 2048,
                    "usage": 512,
                    "physical_usage": 128,
                },
            ],
            "scraped_at": 1010,
        },
        {
            "type": "volume",
            "area": "storage",
            "resources": [
                {
                    "name": "capacity",
                    "unit": "GiB",
                    "category": "block",
                    "quota_distribution_model": "hierarchical",
                    "quota": 10,
                    "usable_quota": 10,
                    "backend_quota": -1,
                    "usage": 3,
                }
            ],
            "scraped_at": 1010,
        },
    ],
}


@pytest.mark.sql
def test_project(world: World) -> None:
    assert world.get(f"/v1/domains/{GERMANY}/projects/{BERLIN}", "berlin-member") == {"project": BERLIN_DOCUMENT}


def test_projects_of_a_domain(world: World) -> None:
    berlin, dresden = world.get(f"/v1/domains/{GERMANY}/projects")["projects"]
    assert berlin == BERLIN_DOCUMENT
    assert (dresden["id"], dresden["services"][1]["resources"]) == (DRESDEN, [])


def test_project_before_its_first_scrape(world: World) -> None:
    document = world.get(f"/v1/domains/{FRANCE}/projects/{PARIS}")
    assert document["project"]["services"] == [
        {"type": "compute", "area": "compute", "resources": []},
        {"type": "volume", "area": "storage", "resources": []},
    ]


def test_subresources_need_detail(world: World) -> None:
    path = f"/v1/domains/{GERMANY}/projects/{BERLIN}?resource=gpus"
    assert world.get(path)["project"]["services"][0]["resources"] == [
        {"name": "gpus", "contained_in": "cores", "usage": 1}
    ]
    assert world.get(f"{path}&detail")["project"]["services"][0]["resources"] == [
        {"name": "gpus", "contained_in": "cores", "usage": 1, "subresources": [{"id": "gpu-1"}]}
    ]


@pytest.mark.sql
def test_bursting_project(make: Callable[..., World]) -> None:
    world = make(burst_multiplier=0.2)
    world.run("UPDATE projects SET has_bursting = %s WHERE id <> 3", [True])
    dresden = world.get(f"/v1/domains/{GERMANY}/projects/{DRESDEN}")["project"]
    assert dresden["bursting"] == {"enabled": True, "multiplier": 0.2}
    assert dresden["services"][0]["resources"][0] == {
        "name": "cores",
        "quota_distribution_model": "hierarchical",
        "quota": 30,
        "usable_quota": 36,
        "backend_quota": 30,
        "burst_usage": 1,
        "usage": 31,
    }
    assert world.get(f"/v1/domains/{GERMANY}")["domain"]["services"][0]["resources"][0]["burst_usage"] == 1
    assert world.get("/v1/clusters/current")["cluster"]["services"][0]["resources"][0]["burst_usage"] == 1


def test_documents_end_with_a_newline(world: World) -> None:
    assert world.request("GET", "/v1/domains").content.endswith(b"]}\n")
