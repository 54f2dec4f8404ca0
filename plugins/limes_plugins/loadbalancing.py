"""Usage and quota of a project in Octavia.

Octavia has no call that counts. Its lists have no filter that would make counting cheaper either, so each list is read
for all projects at once and counted, and kept for `max_age` seconds: a round through all projects costs requests in
proportion to the pages of five lists. Subresources come with the list of load balancers and take no more requests.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from pydantic import Field

from limes import backends
from limes_plugins.openstack import client, reports
from limes_plugins.openstack.params import ConnectionParams, Text

CATEGORY = "loadbalancing"
_LISTS = {
    "load_balancer": "loadbalancers",
    "listener": "listeners",
    "pool": "pools",
    "health_monitor": "healthmonitors",
    "l7policy": "l7policies",
}
_MEMBER = "member"
_RESOURCES = {
    "healthmonitors": "health_monitor",
    "l7policies": "l7policy",
    "listeners": "listener",
    "loadbalancers": "load_balancer",
    "pool_members": _MEMBER,
    "pools": "pool",
}
"""Octavia's names, by ours."""
_LOAD_BALANCERS = "loadbalancers"
_SHOWN = (
    *("name", "provisioning_status", "operating_status", "provider", "flavor_id", "availability_zone"),
    *("vip_address", "vip_network_id"),
)
"""What is asked for, and shown, of a load balancer."""
_BILLED = ("provider", "flavor_id", "availability_zone", "vip_network_id")


class _Listed(Struct, frozen=True):
    counts: Mapping[str, Mapping[str, int]]
    """By Octavia's name and project id; 0 for projects that have none."""
    load_balancers: Mapping[str, Sequence[Mapping[str, Any]]]
    """Subresources by project id."""


class LoadBalancingParams(ConnectionParams):
    """How Octavia is found. A configured `endpoint` ends in `/v2`."""

    max_age: backends.SecondsOrZero = Field(default=120, le=3600)
    """For how long the lists may be used once they are read; 0 reads them again for each project."""
    page_size: int = Field(default=1000, ge=1)
    with_loadbalancer_subresources: bool = False


class LoadBalancingServiceParams(LoadBalancingParams):
    area: Text = "network"


class LoadBalancingService(reports.CountedService):
    def __init__(self, params: LoadBalancingParams, context: backends.BackendContext, area: str = "network") -> None:
        self._client = client.ServiceClient(context, params, name="Octavia", service_type="load-balancer", major=2)
        self._page_size = params.page_size
        self._with_load_balancers = params.with_loadbalancer_subresources
        self._lists = reports.Snapshot(self._read, params.max_age)
        counted = [
            reports.Counted(backends.ResourceDef(name, category=CATEGORY), key) for name, key in _RESOURCES.items()
        ]
        super().__init__(context, area, counted, {_LOAD_BALANCERS: _BILLED} if self._with_load_balancers else {})

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """One request for quota, and now and then the five lists."""
        listed = self._lists.get()
        usage = {key: listed.counts[key][project.id] for key in _RESOURCES.values()}
        path = f"/lbaas/quotas/{project.id}"
        limits = self._client.get(path).get("quota")
        if not isinstance(limits, dict):
            raise backends.BackendError(f"GET {path}: expected an object 'quota'")
        quotas = {key: client.quota_of(limits.get(key), f"GET {path}: the quota of {key}") for key in usage}
        load_balancers = listed.load_balancers.get(project.id, ())
        return self._report(usage, quotas, {_LOAD_BALANCERS: load_balancers})

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        document = {key: quotas[name] for name, key in _RESOURCES.items()}
        self._client.put(f"/lbaas/quotas/{project.id}", {"quota": document})

    def _read(self) -> _Listed:
        counts: dict[str, Counter[str]] = {key: Counter() for key in (*_LISTS, _MEMBER)}
        load_balancers: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for key, collection in _LISTS.items():
            for entry in self._list(collection):
                project_id = entry["project_id"]
                counts[key][project_id] += 1
                if collection == "pools":
                    counts[_MEMBER][project_id] += len(entry["members"])
                elif collection == _LOAD_BALANCERS and self._with_load_balancers:
                    shown = {name: entry[name] for name in ("id", *_SHOWN) if entry.get(name) is not None}
                    load_balancers[project_id].append(shown)
        return _Listed(counts, load_balancers)

    def _list(self, collection: str) -> Iterator[dict[str, Any]]:
        expected: dict[str, type] = {"project_id": str, **({"members": list} if collection == "pools" else {})}
        shown: Sequence[str] = ()
        if collection == _LOAD_BALANCERS and self._with_load_balancers:
            expected, shown = {**expected, "id": str}, _SHOWN
        query = {"limit": self._page_size, "fields": list(dict.fromkeys(["id", *expected, *shown]))}
        for entry in self._client.pages(f"/lbaas/{collection}", collection, query):
            if not all(isinstance(entry.get(field), kind) for field, kind in expected.items()):
                raise backends.BackendError(f"GET /lbaas/{collection}: an entry lacks one of {', '.join(expected)}")
            yield entry


plugin = backends.Plugin(
    "Load balancers, listeners, pools and so on of Octavia.",
    quota=backends.Offer(
        LoadBalancingServiceParams, lambda params, context: LoadBalancingService(params, context, params.area)
    ),
)
