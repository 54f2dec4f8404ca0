"""What projects have in Neutron, one by one: for reports with subresources.

A list of all projects is kept for `max_age` seconds. It fits a project if it has as many objects of it as Neutron's own
count; otherwise the project's objects have just changed, and are listed once more for the project alone.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from limes.backends import BackendError
from limes_plugins.network.params import NetworkParams
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.snapshot import Snapshot

Subresource = Mapping[str, Any]
ByProject = Mapping[str, list[Subresource]]
Names = Mapping[str, str]
"""Of networks, by id."""

_ALWAYS = ("id", "project_id", "name", "status")
"""What is asked for of all objects. Floating IPs have no name."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of objects."""

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


def chosen_kinds(params: NetworkParams) -> list[Kind]:
    """Returns those whose subresources are switched on."""
    switches = (
        (params.with_floating_ip_subresources, _FLOATING_IPS),
        (params.with_network_subresources, _NETWORKS),
        (params.with_router_subresources, _ROUTERS),
    )
    return [kind for is_on, kind in switches if is_on]


class NetworkLists:
    """Reads the lists when they are needed. Safe to use from many threads."""

    def __init__(self, client: ServiceClient, params: NetworkParams) -> None:
        self._client = client
        self._page_size = params.page_size
        self._max_age = params.max_age
        self._all = {
            kind.resource: Snapshot(partial(self._read, kind, {}), params.max_age) for kind in chosen_kinds(params)
        }
        self._names = Snapshot(self._names_of_external_networks, params.max_age)

    def of_project(self, kind: Kind, project_id: str, counted: int) -> list[Subresource]:
        """Returns the objects of a project; `counted` is how many Neutron has counted. Raises `BackendError`.

        If there are just now more or less than that, so are those that are returned.
        """
        if not counted:
            return []
        if self._max_age:
            known = self._all[kind.resource].get().get(project_id, [])
            if len(known) == counted:
                return known
        return self._read(kind, {"project_id": project_id}).get(project_id, [])

    def _read(self, kind: Kind, only: Mapping[str, str]) -> ByProject:
        path = f"/{kind.collection}"
        query = {"limit": self._page_size, "fields": [*_ALWAYS, *kind.fields], **only}
        names = self._names.get() if kind.is_in_networks else {}
        listed: dict[str, list[Subresource]] = defaultdict(list)
        for entry in self._client.pages(path, kind.collection, query, self._client.deadline()):
            id_, project_id = entry.get("id"), entry.get("project_id")
            if not isinstance(id_, str) or not isinstance(project_id, str):
                raise BackendError(f"GET {path}: an entry has no id or no project_id")
            shown = {"id": id_, "name": entry.get("name"), "status": entry.get("status")}
            shown |= kind.describe(entry, names)
            listed[project_id].append({name: value for name, value in shown.items() if value is not None})
        return listed

    def _names_of_external_networks(self) -> Names:
        query = {"limit": self._page_size, "fields": ["id", "name"], "router:external": "true"}
        entries = self._client.pages("/networks", "networks", query, self._client.deadline())
        return {str(entry.get("id")): str(entry.get("name") or "") for entry in entries}
