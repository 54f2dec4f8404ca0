"""The plugin `network`: usage and quota of a project in Neutron. docs/plugins/network.md.

Neutron counts what a project has. Only subresources take lists, and those of what a project has none of are not read.
A list of all projects is kept for `max_age` seconds. It fits a project if it has as many objects of it as Neutron's own
count; otherwise the project's objects have just changed, and are listed once more for the project alone.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from pydantic import Field

from limes import backends
from limes_plugins.loadbalancing import LoadBalancingParams, LoadBalancingService
from limes_plugins.openstack import client, reports
from limes_plugins.openstack.params import ConnectionParams, Text


class NetworkParams(ConnectionParams):
    """Of a service. A configured `endpoint` ends in `/v2.0`."""

    area: Text = "network"
    with_trunks: bool = False
    """Whether the extension `trunk` is on in Neutron."""
    with_bgpvpns: bool = False
    """Whether the extension `bgpvpn` is on in Neutron."""
    with_floating_ip_subresources: bool = False
    with_network_subresources: bool = False
    with_router_subresources: bool = False
    max_age: backends.SecondsOrZero = Field(default=120, le=3600)
    """For how long the lists for subresources may be used once they are read; 0 reads the project's own ones each
    time."""
    page_size: int = Field(default=1000, ge=1)
    loadbalancing: LoadBalancingParams | None = None
    """How Octavia is found, to have its resources in this service as the original Limes does; without, they can be a
    service of their own with the plugin `loadbalancing`."""


Subresource = Mapping[str, Any]
ByProject = Mapping[str, list[Subresource]]
Names = Mapping[str, str]
"""Of networks, by id."""

_FIELDS = ("id", "project_id", "name", "status")
"""What is asked for of all objects. Floating IPs have no name."""


class Kind(Struct, frozen=True):
    resource: str
    collection: str
    """What the list is called in paths and answers."""
    fields: tuple[str, ...]
    """What is asked for besides what is always asked for. Neutron leaves out what it does not know."""
    billed: tuple[str, ...]
    """The attributes of the subresources that prices may depend on."""
    is_in_networks: bool
    """Whether the names of external networks are shown with them."""
    describe: Callable[[Mapping[str, Any], Names], Subresource]
    """Returns the subresource but for its id, name and status."""


def _floating_ip(entry: Mapping[str, Any], names: Names) -> Subresource:
    return {
        "floating_ip_address": entry.get("floating_ip_address"),
        "floating_network": _network(entry.get("floating_network_id"), names),
        "port_id": entry.get("port_id"),
    }


def _network_object(entry: Mapping[str, Any], names: Names) -> Subresource:
    return {
        "external": entry.get("router:external"),
        "shared": entry.get("shared"),
        "network_type": entry.get("provider:network_type"),
        "subnets": len(entry.get("subnets") or ()),
        "availability_zones": entry.get("availability_zones"),
    }


def _router(entry: Mapping[str, Any], names: Names) -> Subresource:
    gateway = entry.get("external_gateway_info") or {}
    return {
        "external_network": _network(gateway.get("network_id"), names),
        "distributed": entry.get("distributed"),
        "ha": entry.get("ha"),
        "flavor_id": entry.get("flavor_id"),
        "availability_zones": entry.get("availability_zones"),
    }


def _network(id_: Any, names: Names) -> Subresource | None:
    """Returns a network that another object is in; None if it is in none."""
    if not isinstance(id_, str):
        return None
    return {"id": id_, "name": names[id_]} if id_ in names else {"id": id_}


_FLOATING_IPS = Kind(
    "floating_ips",
    "floatingips",
    ("floating_ip_address", "floating_network_id", "port_id"),
    ("floating_network.id",),
    True,
    _floating_ip,
)
_NETWORKS = Kind(
    "networks",
    "networks",
    ("router:external", "shared", "provider:network_type", "subnets", "availability_zones"),
    ("external", "shared", "network_type"),
    False,
    _network_object,
)
_ROUTERS = Kind(
    "routers",
    "routers",
    ("external_gateway_info", "distributed", "ha", "flavor_id", "availability_zones"),
    ("external_network.id", "distributed", "ha", "flavor_id"),
    True,
    _router,
)


CATEGORY = "networking"
_TRIES = 3


def _counted(name: str, key: str, auto_approve: int = 0) -> reports.Counted:
    # Neutron takes a quota below what is used; the users then cannot even replace a port
    definition = backends.ResourceDef(
        name, category=CATEGORY, auto_approve_initial_quota=auto_approve, quota_at_least_usage=True
    )
    return reports.Counted(definition, key)


_ALWAYS = (
    _counted("floating_ips", "floatingip"),
    _counted("networks", "network"),
    _counted("ports", "port"),
    _counted("rbac_policies", "rbac_policy"),
    _counted("routers", "router"),
    # each project gets a default group with four rules as soon as its groups are listed
    _counted("security_group_rules", "security_group_rule", auto_approve=4),
    _counted("security_groups", "security_group", auto_approve=1),
    _counted("subnet_pools", "subnetpool"),
    _counted("subnets", "subnet"),
)
_TRUNKS = _counted("trunks", "trunk")
_BGPVPNS = _counted("bgpvpns", "bgpvpn")


class NetworkService(reports.CountedService):
    def __init__(self, params: NetworkParams, context: backends.BackendContext) -> None:
        self._client = client.ServiceClient(context, params, name="Neutron", service_type="network", major=2)
        self._page_size = params.page_size
        self._max_age = params.max_age
        switches = (
            (params.with_floating_ip_subresources, _FLOATING_IPS),
            (params.with_network_subresources, _NETWORKS),
            (params.with_router_subresources, _ROUTERS),
        )
        self._kinds = [kind for is_on, kind in switches if is_on]
        self._of_all = {
            kind.resource: reports.Snapshot(partial(self._read, kind, {}), params.max_age) for kind in self._kinds
        }
        self._names = reports.Snapshot(self._names_of_external_networks, params.max_age)
        chosen = [*_ALWAYS, *([_TRUNKS] if params.with_trunks else []), *([_BGPVPNS] if params.with_bgpvpns else [])]
        self._octavia = None if params.loadbalancing is None else LoadBalancingService(params.loadbalancing, context)
        others = () if self._octavia is None else self._octavia.describe().resources.values()
        billed = {kind.resource: kind.billed for kind in self._kinds}
        super().__init__(context, params.area, chosen, billed, others)

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """One request to Neutron, now and then the lists for subresources, and what Octavia takes."""
        own = self._counted_and_listed(project.id)
        if self._octavia is None:
            return own
        return backends.UsageReport({**own.resources, **self._octavia.report_usage(project).resources})

    def _counted_and_listed(self, project_id: str) -> backends.UsageReport:
        """Asks again if the project's objects have changed between the count and the list."""
        for _ in range(_TRIES):
            usage, quotas = self._read_figures(project_id)
            listed = {
                kind.resource: self._list(kind, project_id, usage[self._resources[kind.resource].key])
                for kind in self._kinds
            }
            if all(len(listed[name]) == usage[self._resources[name].key] for name in listed):
                break
        for name, objects in listed.items():
            counted = usage[self._resources[name].key]
            if len(objects) < counted:
                raise backends.BackendError(
                    f"Neutron counts {counted} {name} of the project, but lists only {len(objects)}"
                    " (may the user of Limes see those of all projects?)"
                )
        return self._report(usage, quotas, listed)

    def _read_figures(self, project_id: str) -> tuple[dict[str, int], dict[str, backends.BackendQuota]]:
        path = f"/quotas/{project_id}/details"
        details = self._client.get(path).get("quota")
        usage: dict[str, int] = {}
        quotas: dict[str, backends.BackendQuota] = {}
        for name, resource in self._resources.items():
            entry = details.get(resource.key) if isinstance(details, dict) else None
            if not isinstance(entry, dict):
                raise backends.BackendError(
                    f"GET {path}: Neutron does not count {resource.key!r} (is the extension on, and the quota driver a"
                    " DbQuotaDriver?)"
                )
            usage[resource.key] = client.whole_number(entry.get("used"), f"GET {path}: the usage of {name}")
            quotas[resource.key] = client.quota_of(entry.get("limit"), f"GET {path}: the limit of {name}")
        return usage, quotas

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        """One request to each of the two."""
        own = {resource.key: quotas[name] for name, resource in self._resources.items()}
        self._client.put(f"/quotas/{project.id}", {"quota": own})
        if self._octavia is not None:
            others = {name: quota for name, quota in quotas.items() if name not in self._resources}
            self._octavia.set_quota(project, others)

    def _list(self, kind: Kind, project_id: str, counted: int) -> list[Subresource]:
        """Returns the objects of a project; `counted` is how many Neutron has counted. Raises `BackendError`. If there
        are more or fewer by now, more or fewer are returned."""
        if not counted:
            return []
        if self._max_age:
            known = self._of_all[kind.resource].get().get(project_id, [])
            if len(known) == counted:
                return known
        return self._read(kind, {"project_id": project_id}).get(project_id, [])

    def _read(self, kind: Kind, only: Mapping[str, str]) -> ByProject:
        path = f"/{kind.collection}"
        query = {"limit": self._page_size, "fields": [*_FIELDS, *kind.fields], **only}
        names = self._names.get() if kind.is_in_networks else {}
        listed: dict[str, list[Subresource]] = defaultdict(list)
        for entry in self._client.pages(path, kind.collection, query, self._client.deadline()):
            id_, project_id = entry.get("id"), entry.get("project_id")
            if not isinstance(id_, str) or not isinstance(project_id, str):
                raise backends.BackendError(f"GET {path}: an entry has no id or no project_id")
            shown = {"id": id_, "name": entry.get("name"), "status": entry.get("status")}
            shown |= kind.describe(entry, names)
            listed[project_id].append({name: value for name, value in shown.items() if value is not None})
        return listed

    def _names_of_external_networks(self) -> Names:
        query = {"limit": self._page_size, "fields": ["id", "name"], "router:external": "true"}
        entries = self._client.pages("/networks", "networks", query, self._client.deadline())
        return {str(entry.get("id")): str(entry.get("name") or "") for entry in entries}


plugin = backends.Plugin(
    "Networks, ports, routers and so on of Neutron.", quota=backends.Offer(NetworkParams, NetworkService)
)
