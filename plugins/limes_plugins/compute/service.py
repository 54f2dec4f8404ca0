"""Usage and quota of a project in Nova.

Nova's quota sets have the totals, against which it enforces quota; the list of servers tells where the usage is.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, structs

from limes import backends
from limes_plugins.compute.params import LIMIT_NAMES, ComputeParams, flavor_resource
from limes_plugins.compute.servers import Attributes, ImageTypes, Server, Servers
from limes_plugins.openstack import keystone_limits, reports
from limes_plugins.openstack.client import ServiceClient, quota_of, whole_number

RESOURCES = ("cores", "instances", "ram", "server_groups", "server_group_members")

OLDEST = "2.47"
"""The first microversion whose servers have their flavor in them (Nova of the Pike release)."""
NEWEST = "2.98"
"""The first one whose servers have the properties of their image in them (Nova of the Epoxy release)."""


_BILLED = ("flavor", "vcpu", "ram", "disk", "os_type", "hypervisor")
"""The attributes of servers that a price may depend on."""


class _ByServer(Struct, frozen=True):
    """A resource that servers use."""

    definition: backends.ResourceDef
    uses: Callable[[Server], int]
    """How much of it; 0 for servers that don't count."""
    lists_servers: bool = False
    """Whether the servers that count are its subresources."""


_BASE = (
    _ByServer(backends.ResourceDef("cores", az_aware=True), lambda server: server.cores),
    _ByServer(backends.ResourceDef("instances", az_aware=True), lambda server: 1, lists_servers=True),
    _ByServer(backends.ResourceDef("ram", backends.Unit.MIB, az_aware=True), lambda server: server.ram),
)
"""Those whose totals are in Nova's quota sets."""


def _resources_of(params: ComputeParams) -> list[_ByServer]:
    """All of them: the last ones are counted from the servers alone, of configured flavors and sizes."""
    resources = [*_BASE, *(_of_flavor(name, params) for name in params.flavors)]
    if params.bigvm_min_memory is not None:
        resources += [_of_size(base, big, params.bigvm_min_memory) for base in _BASE for big in (False, True)]
    if not params.with_subresources:
        return resources
    return [
        structs.replace(one, definition=structs.replace(one.definition, billed_attributes=_BILLED))
        if one.lists_servers
        else one
        for one in resources
    ]


def _of_flavor(name: str, params: ComputeParams) -> _ByServer:
    flavor, resource = params.flavors[name], flavor_resource(name)
    names = {name, *flavor.aliases}
    limited = resource in params.quota.limit_names
    definition = backends.ResourceDef(
        resource,
        category=flavor.category,
        contained_in="" if limited else "instances",
        tracks_quota=limited,
        az_aware=True,
    )
    return _ByServer(definition, lambda server: int(server.flavor in names), lists_servers=True)


def _of_size(base: _ByServer, big: bool, limit: int) -> _ByServer:
    name = base.definition.name
    definition = backends.ResourceDef(
        f"{name}_{'bigvm' if big else 'regular'}",
        base.definition.unit,
        contained_in=name,
        tracks_quota=False,
        az_aware=True,
    )
    return _ByServer(definition, lambda server: base.uses(server) if (server.ram >= limit) is big else 0)


def _per_az(resource: _ByServer, servers: Iterable[Server], total: int | None) -> dict[str, backends.AZUsage]:
    """Returns usage by AZ. If Nova has a `total`, this is the sum: what the servers don't explain is in `unknown`, and
    if they use more than Nova counts (such as shelved ones, with unified limits), servers without an AZ count last."""
    used: dict[str, int] = defaultdict(int)
    attributes: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for server in servers:
        amount = resource.uses(server)
        used[server.az] += amount
        if amount and resource.lists_servers and server.attributes is not None:
            attributes[server.az].append(server.attributes)
    parts = used if total is None else reports.within(total, used)
    return {
        az: backends.AZUsage(amount, subresources=tuple(attributes[az]))
        for az, amount in parts.items()
        if amount or attributes[az]
    }


class ComputeService(reports.FixedService):
    """Nova's resources, those of flavors and sizes as configured. The user of Limes has to be an administrator."""

    def __init__(self, params: ComputeParams, context: backends.BackendContext) -> None:
        self._client = ServiceClient(
            context, params, name="Nova", service_type="compute", major=2, microversion=NEWEST, at_least=OLDEST
        )
        images = ServiceClient(context, params.images, name="Glance", service_type="image")
        self._servers = Servers(
            self._client,
            together=params.list_servers == "together",
            max_age=params.max_age,
            page_size=params.page_size,
            describe=Attributes(params.hypervisor_type_rules, ImageTypes(images)) if params.with_subresources else None,
        )
        self._largest_groups = reports.Snapshot(lambda: _largest_groups(self._client, params.page_size), params.max_age)
        self._limits = (
            keystone_limits.KeystoneLimits(params.quota, LIMIT_NAMES, context)
            if params.quota.store == "keystone_limits"
            else None
        )
        self._resources = _resources_of(params)
        definitions = [
            *(resource.definition for resource in self._resources),
            backends.ResourceDef("server_groups", tracks_quota=self._limits is None),
            backends.ResourceDef("server_group_members", tracks_quota=self._limits is None),
        ]
        super().__init__(context, params.area, definitions)

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """One request for totals, up to two for unified limits, and now and then the lists of servers and of groups."""
        totals, quotas = self._read_quota_set(project.id)
        if self._limits is not None:
            quotas = self._limits.read(project.id)
        servers = self._servers.of(project.id, totals["instances"])
        resources = {
            resource.definition.name: _per_az(resource, servers, totals.get(resource.definition.name))
            for resource in self._resources
        }
        groups = {
            "server_groups": totals["server_groups"],
            "server_group_members": self._largest_groups.get().get(project.id, 0),
        }
        resources |= {name: {backends.ANY_AZ: backends.AZUsage(usage)} for name, usage in groups.items()}
        return backends.UsageReport(
            {name: backends.ResourceUsage(usage, quotas.get(name)) for name, usage in resources.items()}
        )

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        """One request to Nova, or the requests of unified limits. With `force` Nova also takes what is below the usage;
        nothing new can be made then, and nothing else happens."""
        if self._limits is not None:
            self._limits.write(project.id, quotas)
        else:
            self._client.put(f"/os-quota-sets/{project.id}", {"quota_set": {**quotas, "force": True}})

    def _read_quota_set(self, project_id: str) -> tuple[dict[str, int], Mapping[str, backends.BackendQuota]]:
        """Returns usage and quota by resource. Of `server_group_members` Nova has no figure for a project: it is 0."""
        path = f"/os-quota-sets/{project_id}/detail"
        entries = self._client.get(path).get("quota_set")
        usage: dict[str, int] = {}
        quotas: dict[str, backends.BackendQuota] = {}
        for name in RESOURCES:
            entry: Any = entries.get(name) if isinstance(entries, dict) else None
            if not isinstance(entry, dict):
                raise backends.BackendError(f"GET {path}: Nova says nothing of {name!r}")
            usage[name] = whole_number(entry.get("in_use"), f"GET {path}: the usage of {name}")
            quotas[name] = quota_of(entry.get("limit"), f"GET {path}: the limit of {name}")
        return usage, quotas


def _largest_groups(client: ServiceClient, page_size: int) -> dict[str, int]:
    """Returns how many members each project's largest server group has: Nova's quota of members is one for each."""
    path, query = "/os-server-groups", {"all_projects": "true", "limit": page_size}
    largest: dict[str, int] = {}
    for group in client.offset_pages(path, "server_groups", query, client.deadline()):
        project_id, members = group.get("project_id"), group.get("members")
        if not isinstance(project_id, str) or not isinstance(members, list):
            where = f"GET {path}: group {group.get('id')}"
            raise backends.BackendError(f"{where}: expected a project_id and a list of members")
        largest[project_id] = max(largest.get(project_id, 0), len(members))
    return largest
