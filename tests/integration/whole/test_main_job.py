"""The main job on real parts: scrape, report, set and reconcile quota, through three real processes.

PostgreSQL, Keystone and the OpenStack project's own Placement are real; Keystone's unified limits are the backend quota.
"""

import signal
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
import requests

from tests.integration.whole.house import House, PlacementClient, placement_cluster
from tests.support.keystone import RealKeystone
from tests.support.levels import few_of
from tests.support.postgres import PostgresServer
from tests.support.processes import eventually
from tests.support.upstream_placement import UpstreamPlacement

NODE_ONE, NODE_TWO = str(uuid4()), str(uuid4())


@pytest.fixture(scope="module")
def nova(upstream_placement_with_keystone: UpstreamPlacement, keystone: RealKeystone) -> PlacementClient:
    """Two nodes, and one server of berlin."""
    client = PlacementClient(upstream_placement_with_keystone.url, keystone.project_token("limes", "service"))
    client.compute_node(NODE_ONE, "az-one", cores=50, ram=100_024)
    client.compute_node(NODE_TWO, "az-two", cores=30, ram=50_024)
    client.server(str(uuid4()), NODE_ONE, keystone.ids.projects["berlin"], cores=4, ram=8192)
    return client


@pytest.fixture(scope="module")
def idle_house(
    tmp_path_factory: pytest.TempPathFactory,
    postgres: PostgresServer,
    keystone: RealKeystone,
    upstream_placement_with_keystone: UpstreamPlacement,
    nova: PlacementClient,
) -> House:
    """Configured, with its tables made, and nothing running."""
    url = postgres.url(postgres.create_database())
    cluster = placement_cluster(upstream_placement_with_keystone.url)
    house = House(tmp_path_factory.mktemp("house"), url, keystone, cluster)
    upgraded = house.command("db", "upgrade")
    assert upgraded.returncode == 0, upgraded.stderr
    return house


@pytest.fixture(scope="module")
def house(idle_house: House) -> Iterator[House]:
    """With all three processes running."""
    for name in ("placement", "api", "collect"):
        idle_house.start(name)
    yield idle_house
    idle_house.stop()


def limits_of(keystone: RealKeystone, project_id: str) -> dict[str, int]:
    found = keystone.api.get(f"/limits?project_id={project_id}").json()["limits"]
    return {limit["resource_name"]: limit["resource_limit"] for limit in found}


def resources(document: dict, service: str = "compute") -> dict:
    (found,) = (item for item in document["services"] if item["type"] == service)
    return {resource["name"]: resource for resource in found["resources"]}


@pytest.mark.timeout(400)
def test_from_the_first_look_to_a_reconciled_backend(
    house: House, keystone: RealKeystone, nova: PlacementClient
) -> None:
    operator = keystone.project_token("operator", "service")
    north_admin = keystone.domain_token("north-admin", "north")
    member = keystone.project_token("berlin-member", "berlin")
    north, berlin = keystone.ids.domains["north"], keystone.ids.projects["berlin"]
    domain, project = f"/v1/domains/{north}", f"/v1/domains/{north}/projects/{berlin}"

    def berlin_now() -> dict[Any, Any]:
        return resources(house.get(project, operator)["project"])

    def cores_by_az() -> dict[Any, Any]:
        headers = {"X-Auth-Token": operator, "X-Limes-V2-API-Preview": "per-az"}
        answer = requests.get(f"{house.api_url}{project}", headers=headers, timeout=120)
        cores = resources(answer.json()["project"])["cores"]["per_az"]
        return {az: part["usage"] for az, part in cores.items() if part["usage"]}

    # the collector finds the cloud: domains, projects, usage, capacity
    eventually("berlin is known", lambda: house.request("GET", project, operator).status_code == 200)
    eventually("berlin is scraped", lambda: berlin_now().get("cores", {}).get("usage") == 4)
    assert berlin_now()["ram"]["usage"] == 8192
    assert cores_by_az() == {"az-one": 4}
    cluster = eventually(
        "capacity is scraped",
        lambda: (
            (found := resources(house.get("/v1/clusters/current", member)["cluster"]))["cores"].get("capacity")
            and found
        ),
    )
    assert cluster["cores"]["capacity"] == 2 * (50 + 30)
    assert [(az["name"], az["capacity"]) for az in cluster["ram"]["per_availability_zone"]] == [
        ("az-one", 100_000),
        ("az-two", 50_000),
    ]
    detail = house.get("/v1/clusters/current?detail&resource=cores", operator)["cluster"]
    assert {item["id"] if "id" in item else item["uuid"] for item in resources(detail)["cores"]["subcapacities"]} == {
        NODE_ONE,
        NODE_TWO,
    }

    # quota goes down the hierarchy, each level by its own admin
    body = {"domain": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 20}]}]}}
    assert house.request("PUT", domain, north_admin, json=body).status_code == 403
    assert house.request("PUT", domain, operator, json=body).status_code == 202
    body = {"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 21}]}]}}
    refused = house.request("PUT", project, north_admin, json=body)
    assert (refused.status_code, "domain quota exceeded" in refused.text) == (409, True)
    body["project"]["services"][0]["resources"][0]["quota"] = 12
    assert house.request("PUT", project, member, json=body).status_code == 403
    accepted = house.request("PUT", project, north_admin, json=body)
    assert (accepted.status_code, accepted.text) == (202, "")
    assert limits_of(keystone, berlin)["class:VCPU"] == 12, "the backend is told in the same request"
    assert "backend_quota" not in berlin_now()["cores"]

    # a new server appears after a sync
    nova.server(str(uuid4()), NODE_TWO, berlin, cores=3, ram=1024)
    assert house.request("POST", f"{project}/sync", north_admin).status_code == 202
    eventually("the new server counts", lambda: berlin_now()["cores"]["usage"] == 7)
    assert cores_by_az() == {"az-one": 4, "az-two": 3}

    # somebody changes the backend behind our back, and it is put right
    (limit,) = (
        item
        for item in keystone.api.get(f"/limits?project_id={berlin}").json()["limits"]
        if item["resource_name"] == "class:VCPU"
    )
    keystone.api.patch(f"/limits/{limit['id']}", json={"limit": {"resource_limit": 99}})
    assert house.request("POST", f"{project}/sync", north_admin).status_code == 202
    eventually("the limit is put right", lambda: limits_of(keystone, berlin)["class:VCPU"] == 12)
    eventually("and seen to be", lambda: "backend_quota" not in berlin_now()["cores"])


def test_a_new_project_is_found_and_a_vanished_one_forgotten(house: House, keystone: RealKeystone) -> None:
    operator = keystone.project_token("operator", "service")
    north = keystone.ids.domains["north"]
    eventually("north is known", lambda: house.request("GET", f"/v1/domains/{north}", operator).status_code == 200)
    made = keystone.create_project("leipzig", "north")
    try:
        answer = house.request("POST", f"/v1/domains/{north}/projects/discover", operator)
        if answer.status_code == 202:
            assert {"id": made} in answer.json()["new_projects"]
        else:  # the collector was faster
            assert answer.status_code == 204
        assert house.request("GET", f"/v1/domains/{north}/projects/{made}", operator).status_code == 200
    finally:
        keystone.delete_project("leipzig")
    eventually(
        "leipzig is forgotten",
        lambda: house.request("GET", f"/v1/domains/{north}/projects/{made}", operator).status_code == 404,
    )


def test_our_own_placement_takes_keystones_tokens(house: House, keystone: RealKeystone) -> None:
    headers = {"X-Auth-Token": keystone.project_token("limes", "service")}
    assert requests.get(f"{house.placement_url}/resource_providers", headers=headers, timeout=200).status_code == 200
    assert requests.get(f"{house.placement_url}/resource_providers", timeout=200).status_code == 401
    headers = {"X-Auth-Token": keystone.project_token("berlin-member", "berlin")}
    assert requests.get(f"{house.placement_url}/resource_providers", headers=headers, timeout=200).status_code == 403


def test_each_process_is_healthy_measured_and_stops_cleanly(house: House) -> None:
    for url in (house.api_url, house.placement_url, house.collector_url):
        assert requests.get(f"{url}/healthcheck", timeout=200).text == "ok\n"
        metrics = requests.get(f"{url}/metrics", timeout=200)
        assert metrics.status_code == 200
        assert "# TYPE" in metrics.text or url == house.collector_url
    for name, process in house.processes.items():
        process.signal(signal.SIGTERM)
        assert process.stop(timeout=200) == 0, f"{name}: {process.log_text()[-2000:]}"
        assert "Traceback" not in process.log_text()


@pytest.mark.parametrize("process", few_of(["api", "placement", "collect"], 1))
def test_a_wrong_password_stops_a_start(idle_house: House, process: str) -> None:
    result = idle_house.command(process, LIMES_IDENTITY_PASSWORD="wrong-secret")
    assert result.returncode == 1
    assert "cannot log in at Keystone" in result.stderr
    assert "Traceback" not in result.stderr
    assert "secret" not in result.stderr
