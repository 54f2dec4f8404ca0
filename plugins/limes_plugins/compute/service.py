"""Usage and quota of a project in Nova.

Nova's quota sets have the totals, against which it enforces quota; the list of servers tells where the usage is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from limes import backends
from limes_plugins.compute.params import LIMIT_NAMES, ComputeParams
from limes_plugins.compute.resources import (
    ByServer,
    base_resources,
    counted_resources,
    per_az,
    with_billed_attributes,
)
from limes_plugins.compute.server_groups import ServerGroups
from limes_plugins.compute.servers import Attributes, ImageTypes, Servers
from limes_plugins.openstack.answers import quota_of, whole_number
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.keystone_limits import KeystoneLimits

RESOURCES = ("cores", "instances", "ram", "server_groups", "server_group_members")

OLDEST = "2.47"
"""The first microversion whose servers have their flavor in them (Nova of the Pike release)."""
NEWEST = "2.98"
"""The first one whose servers have the properties of their image in them (Nova of the Epoxy release)."""


@dataclass(frozen=True, slots=True)
class QuotaSet:
    """Figures by resource."""

    usage: Mapping[str, int]
    """Always 0 for `server_group_members`: Nova has no figure for a project."""
    quotas: Mapping[str, backends.BackendQuota]


class QuotaSets:
    """Reads and writes them. The user of Limes has to be an administrator."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def read(self, project_id: str) -> QuotaSet:
        """One request. Raises `BackendError`."""
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
        return QuotaSet(usage, quotas)

    def write(self, project_id: str, quotas: Mapping[str, int]) -> None:
        """One request. Raises `BackendError`. With `force` Nova also takes what is below the usage; nothing new can be
        made then, and nothing else happens."""
        path = f"/os-quota-sets/{project_id}"
        self._client.put(path, {"quota_set": {**quotas, "force": True}})


class ComputeService(backends.QuotaBackend):
    """Nova's resources. The user of Limes has to be an administrator."""

    def __init__(self, params: ComputeParams, context: backends.BackendContext) -> None:
        client = ServiceClient(
            context, params, name="Nova", service_type="compute", major=2, microversion=NEWEST, at_least=OLDEST
        )
        images = ServiceClient(context, params.images, name="Glance", service_type="image")
        self._servers = Servers(
            client,
            together=params.list_servers == "together",
            max_age=params.max_age,
            page_size=params.page_size,
            describe=Attributes(params.hypervisor_type_rules, ImageTypes(images)) if params.with_subresources else None,
        )
        self._groups = ServerGroups(client, max_age=params.max_age, page_size=params.page_size)
        self._quota_sets = QuotaSets(client)
        self._limits = (
            KeystoneLimits(params.quota, LIMIT_NAMES, context) if params.quota.store == "keystone_limits" else None
        )
        described = with_billed_attributes if params.with_subresources else _as_it_is
        self._base = [described(resource) for resource in base_resources()]
        self._counted = [described(resource) for resource in counted_resources(params)]
        definitions = [
            *(resource.definition for resource in (*self._base, *self._counted)),
            backends.ResourceDef("server_groups", tracks_quota=self._limits is None),
            backends.ResourceDef("server_group_members", tracks_quota=self._limits is None),
        ]
        self._service = backends.ServiceDef(
            context.name, params.area, {definition.name: definition for definition in definitions}
        )

    def describe(self) -> backends.ServiceDef:
        """Returns the resources, those of flavors and sizes as configured."""
        return self._service

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """One request for totals, up to two for unified limits, and now and then the lists of servers and of groups."""
        quota_set = self._quota_sets.read(project.id)
        quotas = quota_set.quotas if self._limits is None else self._limits.read(project.id)
        servers = self._servers.of(project.id, quota_set.usage["instances"])
        resources = {
            resource.definition.name: per_az(resource, servers, quota_set.usage.get(resource.definition.name))
            for resource in (*self._base, *self._counted)
        }
        groups = {
            "server_groups": quota_set.usage["server_groups"],
            "server_group_members": self._groups.largest(project.id),
        }
        resources |= {name: {backends.ANY_AZ: backends.AZUsage(usage)} for name, usage in groups.items()}
        return backends.UsageReport(
            {name: backends.ResourceUsage(usage, quotas.get(name)) for name, usage in resources.items()}
        )

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        """One request to Nova, or those that unified limits take."""
        (self._quota_sets if self._limits is None else self._limits).write(project.id, quotas)


def _as_it_is(resource: ByServer) -> ByServer:
    return resource
