"""The three real processes: gunicorn, gunicorn and the collector, on one database, with a real Keystone."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import requests
import yaml

from tests.support.keystone import RealKeystone
from tests.support.limes_process import limes_server, run_limes
from tests.support.processes import ServerProcess, free_port


class House:
    """Starts in a folder with a configuration file; stops with everything."""

    def __init__(self, folder: Path, database_url: str, keystone: RealKeystone, cluster: Mapping[str, Any]) -> None:
        """`cluster` is the part of the configuration that says what there is to manage."""
        self.folder = folder
        self.keystone = keystone
        self.api_url, self.placement_url, self.collector_url = (f"http://127.0.0.1:{free_port()}" for _ in range(3))
        login = keystone.credentials("limes")
        document = {
            "availability_zones": ["az-one", "az-two"],
            **cluster,
            "database": {"url": database_url, "lock_timeout": 60, "statement_timeout": 100},
            "api": {"listen": self.api_url.removeprefix("http://"), "workers": 2, "backend_timeout": 100},
            "placement": {"listen": self.placement_url.removeprefix("http://"), "workers": 2},
            "collector": {
                "listen": self.collector_url.removeprefix("http://"),
                "discovery_interval": 2,
                "scrape_interval": 3600,
                "scrape_retry": 2,
                "capacity_interval": 3600,
                "capacity_retry": 2,
                "push_retry": 1,
                "poll_interval": 0.2,
            },
            "identity": {"keystone": {**login, "region_name": "RegionOne", "timeout": 60}},
        }
        document["identity"]["keystone"].pop("password")
        self.config = folder / "limes.yaml"
        self.config.write_text(yaml.safe_dump(document))
        self.env = {"LIMES_CONFIG": str(self.config), "LIMES_IDENTITY_PASSWORD": login["password"]}
        self.processes: dict[str, ServerProcess] = {}

    def command(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Runs `limes` with arguments and waits for it."""
        return run_limes(*arguments, **(self.env | env))

    def start(self, name: str) -> ServerProcess:
        """Starts `limes NAME` (`api`, `placement` or `collect`) and waits until it is healthy."""
        url = {"api": self.api_url, "placement": self.placement_url, "collect": self.collector_url}[name]
        log = self.folder / f"{name}.log"
        self.processes[name] = limes_server(name, listen=url.removeprefix("http://"), log=log, **self.env).start()
        return self.processes[name]

    def stop(self) -> None:
        """Stops all processes."""
        for process in self.processes.values():
            process.stop(timeout=200)

    def request(self, method: str, path: str, token: str, **kwargs: Any) -> requests.Response:
        """A request to the Limes API."""
        return requests.request(method, self.api_url + path, headers={"X-Auth-Token": token}, timeout=120, **kwargs)

    def get(self, path: str, token: str) -> Any:
        """The document that a GET to the Limes API answers."""
        answer = self.request("GET", path, token)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
        return answer.json()


AGGREGATES = {"az-one": "a0000000-0000-4000-8000-000000000001", "az-two": "a0000000-0000-4000-8000-000000000002"}


def placement_cluster(placement_url: str) -> dict[str, Any]:
    """Cores and RAM of a Placement in two AZs, with quota in Keystone's unified limits."""
    resources = {"cores": "VCPU", "ram": "MEMORY_MB"}
    quota = {"store": "keystone_limits", "region_id": "RegionOne", "service_type": "placement"}
    common = {"endpoint": placement_url, "resources": resources, "availability_zones": AGGREGATES}
    service = {"area": "compute", **common, "quota": quota, "max_age": 1}
    capacitor = {"service": "compute", **common}
    return {
        "discovery": {"method": "list", "only_domains": "^(north|south)$"},
        "services": [{"service_type": "compute", "type": "placement", "params": service}],
        "capacitors": [{"id": "placement", "type": "placement", "params": capacitor}],
    }


class PlacementClient:
    """What Nova would do in a Placement."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._headers = {"X-Auth-Token": token, "OpenStack-API-Version": "placement 1.38"}

    def must(self, method: str, path: str, body: Any = None) -> Any:
        """A request that has to succeed."""
        answer = requests.request(method, self._url + path, headers=self._headers, json=body, timeout=120)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def compute_node(self, uuid: str, az: str, cores: int, ram: int) -> None:
        """A provider with inventory in an AZ."""
        self.must("POST", "/resource_providers", {"name": f"node-{uuid}", "uuid": uuid})
        path = f"/resource_providers/{uuid}"
        inventories = {"VCPU": {"total": cores, "allocation_ratio": 2.0}, "MEMORY_MB": {"total": ram, "reserved": 24}}
        self.must("PUT", f"{path}/inventories", {"inventories": inventories, "resource_provider_generation": 0})
        body = {"aggregates": [AGGREGATES[az]], "resource_provider_generation": 1}
        self.must("PUT", f"{path}/aggregates", body)

    def server(self, consumer: str, node: str, project: str, cores: int, ram: int, kind: str = "INSTANCE") -> None:
        """A server of a project on a node."""
        body = {
            "allocations": {node: {"resources": {"VCPU": cores, "MEMORY_MB": ram}}},
            "project_id": project,
            "user_id": "somebody",
            "consumer_generation": None,
            "consumer_type": kind,
        }
        self.must("PUT", f"/allocations/{consumer}", body)
