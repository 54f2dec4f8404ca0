"""A whole cloud: real Keystone, Nova, Neutron, Cinder and Swift, our Placement, the Limes API and the collector.

Quota is set through the Limes API alone, and looked at with the openstack client, as a user would.
"""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.integration.whole.house import House
from tests.support.cloud import OpenStackClients
from tests.support.keystone import RealKeystone
from tests.support.nova_cloud import IMAGE, NovaCloud
from tests.support.processes import eventually

pytestmark = [pytest.mark.long, pytest.mark.real, pytest.mark.timeout(600)]

QUOTAS = {
    "compute": {"cores": 8, "instances": 6, "ram": 9000, "server_groups": 2, "server_group_members": 3},
    "network": {"networks": 4, "ports": 20, "routers": 3, "security_groups": 5, "subnets": 7},
    "object-store": {"capacity": 1_000_000},
    "placement": {"vcpus": 7, "memory": 8000},
    "volumev2": {"capacity": 40, "volumes": 5, "snapshots": 2, "capacity_slow": 60, "volumes_slow": 3},
}


class East:
    """A domain with one project, which our Limes manages, and the logins of those who work with it."""

    def __init__(self, house: House, keystone: RealKeystone, openstack: OpenStackClients) -> None:
        self.house = house
        self._domain, self.id = keystone.ids.domains["east"], keystone.ids.projects["potsdam"]
        self.cloud_admin = keystone.project_token("operator", "service")
        self.domain_admin = keystone.domain_token("north-admin", "east")
        self.operator = openstack(keystone.credentials("operator"))
        login = {key: value for key, value in keystone.credentials("berlin-member").items() if "project" not in key}
        self.member = openstack({**login, "project_id": self.id})

    @property
    def path(self) -> str:
        """The project in the Limes API."""
        return f"/v1/domains/{self._domain}/projects/{self.id}"

    def put(self, level: str, quotas: dict[str, dict[str, int]]) -> requests.Response:
        """Sets quotas of the `domain` as cloud administrator, or of the `project` as the domain's."""
        services = [
            {"type": service, "resources": [{"name": name, "quota": quota} for name, quota in wanted.items()]}
            for service, wanted in quotas.items()
        ]
        path, token = (self.path, self.domain_admin)
        if level == "domain":
            path, token = (f"/v1/domains/{self._domain}", self.cloud_admin)
        return self.house.request("PUT", path, token, json={level: {"services": services}})

    def resources(self, path: str = "", query: str = "") -> dict[str, dict[str, dict[str, Any]]]:
        """What Limes shows, by service and resource: of the project, or what is at another path."""
        (document,) = self.house.get(f"{path or self.path}?{query}", self.cloud_admin).values()
        return {
            service["type"]: {resource["name"]: resource for resource in service["resources"]}
            for service in document["services"]
        }

    def mismatches(self) -> list[str]:
        """The resources whose backend has another quota."""
        return [name for found in self.resources().values() for name, one in found.items() if "backend_quota" in one]

    def usage(self) -> dict[str, dict[str, int]]:
        """What is used, without zeros."""
        return {
            service: {name: one["usage"] for name, one in found.items() if one["usage"]}
            for service, found in self.resources().items()
        }

    def sync(self) -> None:
        """Has the project looked at, and waits for it."""
        begun = int(time.time())
        assert self.house.request("POST", f"{self.path}/sync", self.domain_admin).status_code == 202
        eventually("all services have been looked at", lambda: all(one >= begun for one in self._scraped_at()))

    def _scraped_at(self) -> list[int]:
        project = self.house.get(self.path, self.cloud_admin)["project"]
        return [service["scraped_at"] for service in project["services"]]

    def quota_show(self) -> dict[str, int]:
        """The quotas by the services' own names, as `openstack quota show` has them."""
        shown = self.operator.json("quota", "show", "--all", self.id)
        return {one["Resource"]: one["Limit"] for one in shown}

    def drifts(self) -> dict[str, float]:
        """How often the collector has seen that a quota was changed behind its back, by service."""
        text = requests.get(f"{self.house.collector_url}/metrics", timeout=120).text
        found = re.findall(r'^limes_quota_drift_found_total{.*service_type="(.*?)".*} (.*)$', text, re.MULTILINE)
        return {service: float(value) for service, value in found}


@pytest.fixture(scope="module")
def east(
    cloud_house: House,
    keystone: RealKeystone,
    nova: NovaCloud,
    cinder: object,
    swift: object,
    openstack: OpenStackClients,
) -> Iterator[East]:
    """With API and collector running, and the project's first figures there."""
    domain = keystone.create_domain("east")
    project = keystone.create_project("potsdam", "east")
    for where, user, role in (
        (f"domains/{domain}", "north-admin", "resource_admin"),
        (f"projects/{project}", "berlin-member", "member"),
    ):
        keystone.api.put(f"/{where}/users/{keystone.ids.users[user]}/roles/{keystone.ids.roles[role]}")
    for name in ("api", "collect"):
        cloud_house.start(name)
    east = East(cloud_house, keystone, openstack)
    eventually("potsdam is known", lambda: cloud_house.request("GET", east.path, east.cloud_admin).ok)
    eventually("potsdam is scraped", lambda: all(east.resources().get(service) for service in QUOTAS))
    eventually("the first quotas are written", lambda: not east.mismatches())
    yield east
    nova.clear()
    for name in ("collect", "api"):
        assert cloud_house.processes[name].stop(timeout=200) == 0
    keystone.delete_project("potsdam")
    keystone.delete_domain("east")


def test_quota_set_through_limes_is_in_force_everywhere(east: East) -> None:
    refused = east.put("project", QUOTAS)
    assert (refused.status_code, "domain quota exceeded" in refused.text) == (409, True)
    assert east.put("domain", QUOTAS).status_code == 202
    accepted = east.put("project", QUOTAS)
    assert (accepted.status_code, accepted.text) == (202, "")
    expected = {
        "cores": 8, "instances": 6, "ram": 9000, "server-groups": 2, "server-group-members": 3,
        "networks": 4, "ports": 20, "routers": 3, "security_groups": 5, "subnets": 7, "floating_ips": 0,
        "gigabytes_fast": 40, "volumes_fast": 5, "snapshots_fast": 2, "gigabytes_slow": 60, "volumes_slow": 3,
        "gigabytes": 100, "volumes": 8, "snapshots": 2,
    }  # fmt: skip
    shown = east.quota_show()
    assert {name: shown.get(name) for name in expected} == expected, shown
    assert east.member.json("object", "store", "account", "show")["properties"]["Quota-Bytes"] == "1000000"
    answer = requests.get(
        f"{east.house.placement_url}/quotas/{east.id}",
        headers={"X-Auth-Token": east.cloud_admin, "OpenStack-API-Version": "placement 1.39"},
        timeout=120,
    )
    assert {name: one["limit"] for name, one in answer.json()["quotas"].items()} == {"VCPU": 7, "MEMORY_MB": 8000}
    assert east.mismatches() == []


def test_what_is_made_with_the_client_is_usage(east: East, tmp_path: Path) -> None:
    east.put("domain", QUOTAS)
    east.put("project", QUOTAS)
    before = east.usage()
    east.member.json("network", "create", "n")
    east.member.json("port", "create", "--network", "n", "p")
    east.member.json("volume", "create", "--size", "7", "--type", "slow", "--availability-zone", "az-two", "v")
    east.member.json("container", "create", "c")
    file = tmp_path / "f"
    file.write_bytes(b"x" * 500)
    east.member.json("object", "create", "c", str(file))
    east.member.json("container", "create", "c")  # else the account's totals follow when Swift's updater comes along
    east.member.json(
        "server", "create", "--image", IMAGE, "--flavor", "m1.wide", "--nic", "none",
        "--availability-zone", "az-two", "--wait", "s",
    )  # fmt: skip
    eventually("Swift has counted", lambda: east.member.json("object", "store", "account", "show")["Bytes"] == "500")
    east.sync()
    assert not any(before.values())
    wanted = {
        "compute": {"cores": 3, "instances": 1, "ram": 2048},
        "network": {"networks": 1, "ports": 1, "security_groups": 1},
        "object-store": {"capacity": 500, "containers": 1},
        "placement": {"vcpus": 3, "memory": 2048},
        "volumev2": {"capacity_slow": 7, "volumes_slow": 1},
    }
    assert east.usage() == wanted
    detailed = east.resources(query="detail")
    (server,) = detailed["compute"]["instances"]["subresources"]
    (volume,) = detailed["volumev2"]["volumes_slow"]["subresources"]
    assert (server["name"], server["availability_zone"], server["flavor"]) == ("s", "az-two", "m1.wide")
    assert (volume["name"], volume["availability_zone"], volume["size"]["value"]) == ("v", "az-two", 7)
    check_lifetimes(east)


def check_lifetimes(east: East) -> None:
    """What a bill would say of the server, the network and the volume, until they are deleted."""

    def periods() -> dict[str, Any]:
        found = east.house.get(f"{east.path}/subresources", east.cloud_admin)["subresources"]
        assert len(found) == 4
        return {one["resource_name"]: one for one in found}

    before = periods()
    assert {name: one["name"] for name, one in before.items()} == {
        "instances": "s", "networks": "n", "vcpus": "", "volumes_slow": "v",
    }  # fmt: skip
    server, consumer = before["instances"], before["vcpus"]
    assert (server["attributes"]["flavor"], server["attributes"]["vcpu"], server["availability_zone"]) == (
        "m1.wide",
        3,
        "az-two",
    )
    assert (consumer["id"], consumer["attributes"]["usage"]) == (server["id"], 3)
    assert before["networks"]["attributes"] == {"external": False, "network_type": "local", "shared": False}
    assert before["volumes_slow"]["attributes"] == {"size": {"unit": "GiB", "value": 7}}
    assert not any("ended_at" in one for one in before.values())
    east.member.run("server", "delete", "--wait", "s")
    east.member.run("volume", "delete", before["volumes_slow"]["id"])
    gone = ["instances", "vcpus", "volumes_slow"]
    eventually("the volume is deleted", lambda: east.member.json("volume", "list") == [])
    east.sync()
    after = periods()
    assert sorted(name for name, one in after.items() if "ended_at" in one) == gone
    assert all(after[name]["last_seen_at"] <= after[name]["ended_at"] for name in gone)


def test_a_quota_changed_behind_our_back_is_put_right(east: East) -> None:
    east.put("domain", QUOTAS)
    east.put("project", QUOTAS)
    wanted, before = east.quota_show(), east.drifts()
    east.operator.run(
        "quota", "set", "--cores", "99", "--networks", "98", "--volumes", "97", "--volume-type", "fast", east.id
    )
    shown = east.quota_show()
    assert (shown["cores"], shown["networks"], shown["volumes_fast"]) == (99, 98, 97)
    east.sync()
    eventually("the quotas are put right", lambda: east.quota_show() == wanted)
    after = east.drifts()
    assert {name: after[name] - before[name] for name in QUOTAS if after[name] > before[name]} == {
        "compute": 1, "network": 1, "volumev2": 1,
    }  # fmt: skip


def test_capacity_of_the_cloud(east: East) -> None:
    def capacity() -> dict[str, Any]:
        found = east.resources("/v1/clusters/current")
        names = (("compute", "cores"), ("volumev2", "capacity"), ("volumev2", "capacity_slow"))
        return {
            f"{service}/{name}": [
                (az["name"], az["capacity"]) for az in found[service][name].get("per_availability_zone", ())
            ]
            for service, name in names
        }

    eventually("both capacitors have reported", lambda: all(capacity().values()))
    assert capacity() == {
        "compute/cores": [("az-one", 10), ("az-two", 10)],
        "volumev2/capacity": [("az-one", 1000)],
        "volumev2/capacity_slow": [("az-two", 5000)],
    }
