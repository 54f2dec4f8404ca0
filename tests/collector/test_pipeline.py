"""From what a backend reports to what the API shows: physical usage, items, bursting; and reports that are refused."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.backends import UNLIMITED, AZCapacity, AZUsage, BackendError, CapacityReport, ResourceUsage, UsageReport
from limes.backends.base import Unlimited
from limes.collector.discover import request_sync
from tests.api.world import World, make_world
from tests.collector.lab import Lab
from tests.support.rows import all_rows, changes

PROJECT = "/v1/domains/d-germany/projects/p-berlin"
SERVER = {"id": "s1", "name": "web", "flavor": {"vcpu": 3}}


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    lab = make_lab(catalog_options={"burst_multiplier": 0.5})
    lab.discover()
    lab.compute.usage["berlin"] = {
        "cores": {"az-one": AZUsage(3, None, (SERVER,)), "az-two": AZUsage(1)},
        "ram": {"az-one": AZUsage(512, 100), "az-two": AZUsage(50)},
    }
    lab.compute.quota["berlin"] = {"cores": 8, "ram": 1024}
    lab.capacitors["nova"].capacity = {
        "compute": {"cores": {"az-one": AZCapacity(100, 40, ({"host": "h1", "capacity": 100},))}}
    }
    lab.scrape_all()
    lab.scrape_all("volume")
    lab.scrape_capacity()
    return lab


@pytest.fixture
def api(lab: Lab) -> World:
    world = make_world(lab.engine, fill=False, burst_multiplier=0.5)
    world.clock = lab.clock
    return world


def resources(document: Any, service: str = "compute") -> dict[Any, Any]:
    (found,) = (one for one in document["services"] if one["type"] == service)
    return {one["name"]: one for one in found["resources"]}


def test_physical_usage_on_all_levels(lab: Lab, api: World) -> None:
    """An AZ without physical usage counts with its usage; so does a project without."""
    assert resources(api.get(PROJECT)["project"])["ram"]["physical_usage"] == 150
    lab.compute.usage["dresden"] = {"ram": {"any": AZUsage(7)}}
    request_sync(lab.limes, "d-germany", "p-dresden")
    lab.scrape_next("compute")
    assert resources(api.get("/v1/domains/d-germany")["domain"])["ram"]["physical_usage"] == 157
    cluster = resources(api.get("/v1/clusters/current")["cluster"])
    assert (cluster["ram"]["usage"], cluster["ram"]["physical_usage"]) == (569, 157)
    assert "physical_usage" not in cluster["cores"]


def test_subresources_and_subcapacities_are_shown_on_request_only(lab: Lab, api: World) -> None:
    assert "subresources" not in resources(api.get(PROJECT)["project"])["cores"]
    detail = resources(api.get(f"{PROJECT}?detail")["project"])
    assert detail["cores"]["subresources"] == [SERVER]
    assert "subresources" not in detail["ram"]
    assert "subcapacities" not in resources(api.get("/v1/clusters/current")["cluster"])["cores"]
    cluster = resources(api.get("/v1/clusters/current?detail")["cluster"])["cores"]
    assert cluster["subcapacities"] == [{"host": "h1", "capacity": 100}]
    lab.compute.usage["berlin"]["cores"] = {"az-one": AZUsage(2)}
    lab.rescrape()
    assert "subresources" not in resources(api.get(f"{PROJECT}?detail")["project"])["cores"]


def test_bursting_from_the_switch_to_the_backend_and_back(lab: Lab, api: World) -> None:
    lab.push_all()
    assert api.request("PUT", PROJECT, json={"project": {"bursting": {"enabled": True}}}).status_code == 202
    lab.clock.advance(lab.limes.lease)  # as if the process that answered had died before it pushed
    lab.push_all()
    assert lab.compute.quota["berlin"] == {"cores": 12, "ram": 0}, "half as much again as the quota of 8"
    lab.compute.usage["berlin"]["cores"] = {"az-one": AZUsage(11)}
    lab.rescrape()
    cores = resources(api.get(PROJECT)["project"])["cores"]
    assert (cores["quota"], cores["usable_quota"], cores["usage"], cores["burst_usage"]) == (8, 12, 11, 3)
    assert "backend_quota" not in cores, "the backend has what it should have"
    assert resources(api.get("/v1/domains/d-germany")["domain"])["cores"]["burst_usage"] == 3
    assert resources(api.get("/v1/clusters/current")["cluster"])["cores"]["burst_usage"] == 3
    refused = api.request("PUT", PROJECT, json={"project": {"bursting": {"enabled": False}}})
    assert refused.status_code == 409
    assert "compute/cores" in refused.text
    lab.compute.usage["berlin"] = {}
    lab.rescrape()
    assert api.request("PUT", PROJECT, json={"project": {"bursting": {"enabled": False}}}).status_code == 202
    lab.clock.advance(lab.limes.lease)  # as if the process that answered had died before it pushed
    lab.push_all()
    assert lab.compute.quota["berlin"]["cores"] == 8


# -- reports that are refused


def with_cores(usage: ResourceUsage) -> UsageReport:
    """A report whose other resources are fine, and would change what is stored."""
    return UsageReport(
        {
            "cores": usage,
            "ram": ResourceUsage({"az-one": AZUsage(777)}, 4096),
            "gpus": ResourceUsage({"az-one": AZUsage(5)}),
        }
    )


@pytest.mark.parametrize(
    ("report", "message"),
    [
        (with_cores(ResourceUsage({"az-one": AZUsage(-1)}, 8)), "resource cores, AZ az-one: the usage is -1"),
        (with_cores(ResourceUsage({"az-one": AZUsage(1.5)}, 8)), "the usage is 1.5"),
        (with_cores(ResourceUsage({"az-one": AZUsage(1, -5)}, 8)), "the physical usage is -5"),
        (with_cores(ResourceUsage({"az-one": AZUsage(1, None, ({"id": object()},))}, 8)), "cannot be written as JSON"),
        (with_cores(ResourceUsage({"az-one": AZUsage(1)}, None)), "the quota is missing"),
        (with_cores(ResourceUsage({"az-one": AZUsage(1)}, "many")), "the quota is 'many'"),
        (with_cores(ResourceUsage({"": AZUsage(1)}, 8)), "is not the name of an AZ"),
        (UsageReport({"ram": ResourceUsage({}, 0)}), "the usage report lacks 'cores', 'gpus'"),
        (None, "the report is a NoneType"),
        ({"cores": 5}, "the report is a dict"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_usage_report_is_refused_as_a_whole_and_the_last_good_one_stays(
    lab: Lab, api: World, report: UsageReport | dict[str, int] | None, message: str
) -> None:
    shown = api.get(f"{PROJECT}?detail")
    before = all_rows(lab.engine)
    lab.clock.advance(60)
    lab.compute.report_usage = lambda project: report
    assert lab.rescrape() is False
    assert set(changes(before, all_rows(lab.engine))) == {"project_services"}
    now_shown = api.get(f"{PROJECT}?detail")
    assert now_shown["project"]["services"][0].pop("scrape_problem")
    assert now_shown == shown, "the figures and the time that they are from"
    (error,) = api.get("/v1/admin/scrape-errors")["scrape_errors"]
    assert error["message"].startswith("service compute")
    assert message in error["message"]
    assert error["checked_at"] == int(lab.now)


@pytest.mark.parametrize(
    ("cores", "message"),
    [
        ({"az-one": AZCapacity(-1)}, "the capacity is -1"),
        ({"az-one": AZCapacity(5, -1)}, "the usage is -1"),
        ({"az-one": 5}, "expected a value of type AZCapacity"),
        ({"az-one": AZCapacity(5, None, ("host",))}, "no sequence of mappings"),
        (5, "expected a mapping"),
    ],
)
def test_a_bad_capacity_report_is_refused_as_a_whole_and_the_last_good_one_stays(
    lab: Lab, api: World, cores: int | dict[str, Any], message: str
) -> None:
    shown = api.get("/v1/clusters/current?detail")
    before = all_rows(lab.engine)
    lab.clock.advance(900)
    lab.capacitors["nova"].report_capacity = lambda: CapacityReport(
        {"compute": {"ram": {"az-one": AZCapacity(9999)}, "cores": cores}}
    )
    outcome = lab.scrape_capacity()
    assert (outcome.capacitor, outcome.success) == ("nova", False)
    assert set(changes(before, all_rows(lab.engine))) == {"capacitors"}
    assert api.get("/v1/clusters/current?detail") == shown
    ((error,),) = lab.rows("SELECT scrape_error FROM capacitors")
    assert message in error


def test_nonsense_in_an_error_can_be_stored_and_shown(lab: Lab, api: World) -> None:
    """A backend may answer anything at all, and its words go into the database."""
    lab.compute.error = BackendError("500: \x00\x01 \ud800 \x1b[31mred\x1b[0m\nsecond line " + "x" * 100_000)
    assert lab.rescrape() is False
    (error,) = api.get("/v1/admin/scrape-errors")["scrape_errors"]
    assert error["message"].startswith("500: \\x00\\x01 \\ud800 \\x1b[31mred\\x1b[0m\nsecond line xxx")
    assert len(error["message"]) == 4000
    lab.capacitors["nova"].error = BackendError("\x00")
    lab.clock.advance(900)
    assert lab.scrape_capacity().success is False
    lab.set_quota("cores", 3)
    assert lab.push_next("compute") is False
    assert "\x00" not in lab.service("push_error")[0]


# -- quota on the first scrape


@pytest.mark.parametrize(
    ("backend", "quota"),
    [(8, 8), (7, 0), (9, 0), (0, 0), (UNLIMITED, 0)],
    ids=["what it gives to all", "less", "more", "nothing", "no limit"],
)
def test_what_a_backend_gives_to_every_new_project_is_approved(
    make_lab: Callable[..., Lab], backend: int | Unlimited, quota: int
) -> None:
    """And the domain's quota does not grow by it: that is shown as an inconsistency."""
    lab = make_lab()
    lab.discover()
    lab.compute.quota["berlin"] = {"cores": backend}
    lab.scrape_all()
    api = make_world(lab.engine, fill=False)
    assert resources(api.get(PROJECT)["project"])["cores"]["quota"] == quota
    assert resources(api.get("/v1/domains/d-germany")["domain"])["cores"]["quota"] == 0
    over = api.get("/v1/inconsistencies")["inconsistencies"]["domain_quota_overcommitted"]
    assert [(one["resource"], one["projects_quota"]) for one in over] == ([("cores", 8)] if quota else [])
    lab.push_all()
    assert lab.quotas()["cores"] == (quota, quota)
