"""Amounts near, at and beyond the largest one: nothing fails, nothing wraps, and whoever says 2^63-1 means "unlimited"."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.backends import AZCapacity, AZUsage
from limes.catalog.catalog import BehaviorRule
from limes.commitments.reading import sample_utilisation
from limes.kernel.units import MAX_AMOUNT
from tests.api.world import World, make_world
from tests.collector.lab import Lab

pytestmark = pytest.mark.sql

PROJECT = "/v1/domains/d-germany/projects/p-berlin"
PREVIEW = {"X-Limes-V2-API-Preview": "per-az"}
MAX_SHOWN = 2**64 - 1
BEYOND = [2**63 - 1, 2**63, 2**64 - 1, 10**30]

OPTIONS = {
    "burst_multiplier": 0.5,
    "behaviors": [
        BehaviorRule(
            resource="compute/.*", overcommit_factor=4, commitment_durations=("1 hour",), commitment_is_az_aware=True
        ),
        BehaviorRule(resource="volume/.*", commitment_durations=("1 hour",)),
    ],
}


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    lab = make_lab(catalog_options=OPTIONS)
    lab.discover()
    return lab


@pytest.fixture
def api(lab: Lab) -> World:
    world = make_world(lab.engine, fill=False, **OPTIONS)
    world.clock = lab.clock
    return world


def cores_of(document: Any) -> Any:
    (compute,) = (one for one in document["services"] if one["type"] == "compute")
    return next(one for one in compute["resources"] if one["name"] == "cores")


@pytest.mark.parametrize("number", BEYOND)
def test_a_number_beyond_stops_nothing(lab: Lab, api: World, number: int) -> None:
    """Quota: unlimited. Usage and capacity: the largest amount. Other resources and services: as ever."""
    lab.compute.usage["berlin"] = {"cores": {"az-one": AZUsage(number, number)}, "ram": {"any": AZUsage(7)}}
    lab.compute.quota["berlin"] = {"cores": number, "ram": 5}
    lab.compute.bounds["cores"] = (number, number)
    lab.capacitors["nova"].capacity = {
        "compute": {
            "cores": {"az-one": AZCapacity(number, number), "az-two": AZCapacity(5)},
            "ram": {"any": AZCapacity(9)},
        }
    }
    assert lab.rescrape() is True
    assert lab.scrape_capacity().success is True
    project = api.get(PROJECT)["project"]
    cores, ram = cores_of(project), project["services"][0]["resources"][2]
    assert (cores["usage"], cores["physical_usage"], cores["backend_quota"]) == (MAX_AMOUNT, MAX_AMOUNT, -1)
    assert (ram["usage"], ram["backend_quota"]) == (7, 5)
    cluster = cores_of(api.get("/v1/clusters/current")["cluster"])
    assert (cluster["raw_capacity"], cluster["capacity"]) == (MAX_AMOUNT + 5, MAX_SHOWN), (
        "four times as much as there is"
    )
    assert [one["usage"] for one in cluster["per_availability_zone"] if one["name"] == "az-one"] == [MAX_AMOUNT]


def test_sums_of_the_largest_amounts(lab: Lab, api: World) -> None:
    """All projects use and have all there is, in two AZs: each report, list and metric answers."""
    zones = {"az-one": AZUsage(MAX_AMOUNT, MAX_AMOUNT), "az-two": AZUsage(MAX_AMOUNT)}
    for project in ("berlin", "dresden", "paris"):
        lab.compute.usage[project] = {"cores": zones, "ram": zones}
        lab.compute.quota[project] = {"cores": MAX_AMOUNT, "ram": MAX_AMOUNT}
    full = {"az-one": AZCapacity(MAX_AMOUNT, MAX_AMOUNT), "az-two": AZCapacity(MAX_AMOUNT)}
    lab.capacitors["nova"].capacity = {"compute": {"cores": full, "ram": full}}
    lab.scrape_all()
    lab.scrape_capacity()
    lab.execute("UPDATE project_resources SET quota = %s WHERE quota IS NOT NULL", MAX_AMOUNT)
    lab.execute("UPDATE domain_resources SET quota = %s", MAX_AMOUNT)
    lab.execute("UPDATE projects SET has_bursting = %s", True)
    for path in ("/v1/clusters/current", "/v1/domains", "/v1/projects", "/v1/domains/d-germany/projects"):
        answer = api.request("GET", path, headers=PREVIEW, query_string="detail")
        assert (path, answer.status_code) == (path, 200)
    assert api.get("/v1/inconsistencies")["inconsistencies"]["domain_quota_overcommitted"]
    domain = cores_of(api.get("/v1/domains/d-germany")["domain"])
    total = 2**63 - 1 if lab.engine.dialect == "sqlite" else 2 * MAX_AMOUNT  # where SQLite's sums end
    assert (domain["quota"], domain["projects_quota"], domain["usage"]) == (MAX_AMOUNT, total, total)
    assert cores_of(api.get(PROJECT)["project"])["usable_quota"] == MAX_AMOUNT, "bursting ends there as well"
    explained = api.get(f"{PROJECT}/explain?resource=cores")["explanations"]
    assert explained[0]["usage"] == MAX_AMOUNT
    body = {"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 5}]}]}}
    assert api.request("POST", f"{PROJECT}/simulate-put", json=body).status_code == 409


def test_quotas_of_the_largest_amount(lab: Lab, api: World) -> None:
    lab.scrape_all()
    lab.scrape_all("volume")

    def put(path: str, quota: int, service: str = "compute", resource: str = "cores", **unit: str) -> Any:
        what = "project" if "projects" in path else "domain"
        one = {"name": resource, "quota": quota, **unit}
        return api.request("PUT", path, json={what: {"services": [{"type": service, "resources": [one]}]}})

    for path in ("/v1/domains/d-germany", PROJECT):
        assert put(path, MAX_AMOUNT).status_code == 202
        for quota in (MAX_AMOUNT + 1, 2**64 - 1):
            refused = put(path, quota)
            assert (refused.status_code, f"the maximum is {MAX_AMOUNT}" in refused.text) == (422, True)
        assert put(path, 2**64).status_code == 400
        assert put(path, 2**33, "volume", "capacity", unit="EiB").status_code == 422
        assert put(path, 2**32, "volume", "capacity", unit="EiB").status_code == 202
    other = put("/v1/domains/d-germany/projects/p-dresden", 1)
    assert (other.status_code, "domain quota exceeded" in other.text) == (409, True)
    lab.clock.advance(lab.limes.lease)  # as if the process that answered had died before it pushed
    lab.push_next("compute")
    assert dict(lab.compute.written)["berlin"]["cores"] == MAX_AMOUNT
    rescraped = cores_of(api.get(PROJECT)["project"])
    assert "backend_quota" not in rescraped, "what was written is read as the same"


def test_commitments_of_the_largest_amount(lab: Lab, api: World) -> None:
    lab.compute.usage["berlin"] = {"cores": {"az-one": AZUsage(MAX_AMOUNT)}}
    full = {"az-one": AZCapacity(MAX_AMOUNT), "az-two": AZCapacity(MAX_AMOUNT)}
    lab.capacitors["nova"].capacity = {"compute": {"cores": full}, "volume": {"capacity": full}}
    lab.scrape_all()
    lab.scrape_all("volume")
    lab.scrape_capacity()

    def commit(what: str, service: str, resource: str, az: str, amount: int) -> Any:
        wanted = {
            "service_type": service, "resource_name": resource, "availability_zone": az, "amount": amount,
            "duration": "1 hour",
        }  # fmt: skip
        return api.request("POST", f"{PROJECT}/commitments/{what}", json={"commitment": wanted})

    made = [commit("new", "compute", "cores", "az-two", MAX_AMOUNT) for _ in range(4)]
    assert [one.status_code for one in made] == [201] * 4, made[-1].text
    if lab.engine.dialect == "postgresql":  # SQLite's sum has ended before
        assert commit("new", "compute", "cores", "az-two", 10).status_code == 409, "four times as much is all there is"
    assert commit("can-confirm", "volume", "capacity", "any", MAX_AMOUNT).json["result"] is True
    ids = [one.json["commitment"]["id"] for one in made]
    merged = api.request("POST", f"{PROJECT}/commitments/merge", json={"commitment_ids": ids[:2]})
    assert (merged.status_code, "too large to merge" in merged.text) == (422, True)
    for _ in range(4):
        sample_utilisation(api.limes)
    days = api.get(f"{PROJECT}/commitments/utilisation")["utilisation"]
    assert days[0]["days"][0]["max_used"] == MAX_AMOUNT
    for path in ("/v1/clusters/current", "/v1/domains", "/v1/domains/d-germany/projects"):
        assert api.request("GET", path, headers=PREVIEW).status_code == 200
