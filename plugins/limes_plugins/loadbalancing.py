"""Usage and quota of a project in Octavia.

Octavia has no call that counts. Its lists have no filter that would make counting cheaper either, so each list is read
for all projects at once and counted, and kept for `max_age` seconds: a round through all projects costs requests in
proportion to the pages of five lists.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from limes.backends import (
    BackendContext,
    BackendError,
    Offer,
    Plugin,
    ProjectInfo,
    QuotaBackend,
    ResourceDef,
    SecondsOrZero,
    ServiceDef,
    UsageReport,
)
from limes_plugins.openstack.answers import quota_of
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.params import ConnectionParams, Text
from limes_plugins.openstack.reports import Counted, by_name, report
from limes_plugins.openstack.snapshot import Snapshot

CATEGORY = "loadbalancing"
_LISTS = {
    "load_balancer": "loadbalancers",
    "listener": "listeners",
    "pool": "pools",
    "health_monitor": "healthmonitors",
    "l7policy": "l7policies",
}
_MEMBER = "member"
_RESOURCES = by_name(
    Counted(ResourceDef(name, category=CATEGORY), key)
    for name, key in (
        ("healthmonitors", "health_monitor"),
        ("l7policies", "l7policy"),
        ("listeners", "listener"),
        ("loadbalancers", "load_balancer"),
        ("pool_members", _MEMBER),
        ("pools", "pool"),
    )
)


class LoadBalancingParams(ConnectionParams):
    """How Octavia is found. A configured `endpoint` ends in `/v2`."""

    max_age: SecondsOrZero = Field(default=120, le=3600)
    """For how long the lists may be used once they are read; 0 reads them anew for each project."""
    page_size: int = Field(default=1000, ge=1)


class LoadBalancingServiceParams(LoadBalancingParams):
    """Of a service of its own."""

    area: Text = "network"


class LoadBalancingService(QuotaBackend):
    """Octavia's resources."""

    def __init__(self, params: LoadBalancingParams, context: BackendContext, area: str = "network") -> None:
        self._client = ServiceClient(context, params, name="Octavia", service_type="load-balancer", major=2)
        self._page_size = params.page_size
        self._counts = Snapshot(self._count, params.max_age)
        definitions = {name: resource.definition for name, resource in _RESOURCES.items()}
        self._service = ServiceDef(context.name, area, definitions)

    def describe(self) -> ServiceDef:
        """Returns the resources, which are always the same."""
        return self._service

    def report_usage(self, project: ProjectInfo) -> UsageReport:
        """One request for quota, and now and then the five lists."""
        counts = self._counts.get()
        usage = {resource.key: counts[resource.key][project.id] for resource in _RESOURCES.values()}
        path = f"/lbaas/quotas/{project.id}"
        limits = self._client.get(path).get("quota")
        if not isinstance(limits, dict):
            raise BackendError(f"GET {path}: expected an object 'quota'")
        quotas = {key: quota_of(limits.get(key), f"GET {path}: the quota of {key}") for key in usage}
        return report(_RESOURCES, usage, quotas)

    def set_quota(self, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        """One request."""
        path = f"/lbaas/quotas/{project.id}"
        document = {resource.key: quotas[name] for name, resource in _RESOURCES.items()}
        self._client.put(path, {"quota": document})

    def _count(self) -> Mapping[str, Mapping[str, int]]:
        """Returns how many there are of each, by Octavia's name and project id (0 for projects that have none)."""
        counts: dict[str, Counter[str]] = {key: Counter() for key in (*_LISTS, _MEMBER)}
        for key, collection in _LISTS.items():
            for entry in self._list(collection):
                project_id = entry["project_id"]
                counts[key][project_id] += 1
                if collection == "pools":
                    counts[_MEMBER][project_id] += len(entry["members"])
        return counts

    def _list(self, collection: str) -> Iterator[dict[str, Any]]:
        expected: dict[str, type] = {"project_id": str, **({"members": list} if collection == "pools" else {})}
        query = {"limit": self._page_size, "fields": ["id", *expected]}
        for entry in self._client.pages(f"/lbaas/{collection}", collection, query):
            if not all(isinstance(entry.get(field), kind) for field, kind in expected.items()):
                raise BackendError(f"GET /lbaas/{collection}: an entry lacks one of {', '.join(expected)}")
            yield entry


def make_service(params: LoadBalancingServiceParams, context: BackendContext) -> LoadBalancingService:
    """Makes the plugin `loadbalancing` as a service of its own."""
    return LoadBalancingService(params, context, params.area)


plugin = Plugin(
    "Load balancers, listeners, pools and so on of Octavia.", quota=Offer(LoadBalancingServiceParams, make_service)
)
