"""Usage and quota of a project in Neutron.

Neutron counts what a project has. Only subresources take lists, and those of what a project has none of are not read.
"""

from collections.abc import Mapping
from typing import Any

from limes import backends
from limes_plugins.loadbalancing import LoadBalancingService
from limes_plugins.network.lists import NetworkLists, Subresource, chosen_kinds
from limes_plugins.network.params import NetworkParams
from limes_plugins.openstack.answers import quota_of, whole_number
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.reports import Counted, billed, by_name, report

CATEGORY = "networking"
_TRIES = 3


def _counted(name: str, key: str, auto_approve: int = 0) -> Counted:
    # Neutron takes a quota below what is used; the users then cannot even replace a port
    definition = backends.ResourceDef(
        name, category=CATEGORY, auto_approve_initial_quota=auto_approve, quota_at_least_usage=True
    )
    return Counted(definition, key)


_ALWAYS = (
    _counted("floating_ips", "floatingip"),
    _counted("networks", "network"),
    _counted("ports", "port"),
    _counted("rbac_policies", "rbac_policy"),
    _counted("routers", "router"),
    # each project gets a default group with four rules as soon as somebody looks at it
    _counted("security_group_rules", "security_group_rule", auto_approve=4),
    _counted("security_groups", "security_group", auto_approve=1),
    _counted("subnet_pools", "subnetpool"),
    _counted("subnets", "subnet"),
)
_TRUNKS = _counted("trunks", "trunk")
_BGPVPNS = _counted("bgpvpns", "bgpvpn")


class NetworkService(backends.QuotaBackend):
    """Neutron's resources, and Octavia's behind them if configured."""

    def __init__(self, params: NetworkParams, context: backends.BackendContext) -> None:
        self._client = ServiceClient(context, params, name="Neutron", service_type="network", major=2)
        chosen = [*_ALWAYS, *([_TRUNKS] if params.with_trunks else []), *([_BGPVPNS] if params.with_bgpvpns else [])]
        self._resources = by_name(chosen)
        self._kinds = chosen_kinds(params)
        for kind in self._kinds:
            self._resources[kind.resource] = billed(self._resources[kind.resource], kind.billed)
        self._lists = NetworkLists(self._client, params)
        self._octavia = None if params.loadbalancing is None else LoadBalancingService(params.loadbalancing, context)
        definitions = {name: resource.definition for name, resource in self._resources.items()}
        if self._octavia is not None:
            definitions |= self._octavia.describe().resources
        self._service = backends.ServiceDef(context.name, params.area, definitions)

    def describe(self) -> backends.ServiceDef:
        """Returns the configured resources."""
        return self._service

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """One request to Neutron, now and then the lists for subresources, and what the plugin `loadbalancing`
        takes."""
        own = self._report(project.id)
        if self._octavia is None:
            return own
        return backends.UsageReport({**own.resources, **self._octavia.report_usage(project).resources})

    def _report(self, project_id: str) -> backends.UsageReport:
        """Asks again if the project's objects have changed between the count and the list."""
        for _ in range(_TRIES):
            usage, quotas = self._read_figures(project_id)
            listed = self._list(project_id, usage)
            if all(len(listed[name]) == usage[self._resources[name].key] for name in listed):
                break
        for name, objects in listed.items():
            counted = usage[self._resources[name].key]
            if len(objects) < counted:
                raise backends.BackendError(
                    f"Neutron counts {counted} {name} of the project, but lists only {len(objects)}"
                    " (may the user of Limes see those of all projects?)"
                )
        return report(self._resources, usage, quotas, listed)

    def _read_figures(self, project_id: str) -> tuple[dict[str, int], dict[str, backends.BackendQuota]]:
        """Returns usage and quota by Neutron's names."""
        path = f"/quotas/{project_id}/details"
        details = self._client.get(path).get("quota")
        usage: dict[str, int] = {}
        quotas: dict[str, backends.BackendQuota] = {}
        for name, resource in self._resources.items():
            entry = _entry(details, resource.key, path)
            usage[resource.key] = whole_number(entry.get("used"), f"GET {path}: the usage of {name}")
            quotas[resource.key] = quota_of(entry.get("limit"), f"GET {path}: the limit of {name}")
        return usage, quotas

    def _list(self, project_id: str, usage: Mapping[str, int]) -> dict[str, list[Subresource]]:
        """Returns subresources by resource, where they are switched on."""
        return {
            kind.resource: self._lists.of_project(kind, project_id, usage[self._resources[kind.resource].key])
            for kind in self._kinds
        }

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        """One request to each of the two."""
        own = {resource.key: quotas[name] for name, resource in self._resources.items()}
        path = f"/quotas/{project.id}"
        self._client.put(path, {"quota": own})
        if self._octavia is not None:
            others = {name: quota for name, quota in quotas.items() if name not in self._resources}
            self._octavia.set_quota(project, others)


def _entry(details: Any, key: str, path: str) -> Mapping[str, Any]:
    entry = details.get(key) if isinstance(details, dict) else None
    if not isinstance(entry, dict):
        raise backends.BackendError(
            f"GET {path}: Neutron does not count {key!r} (is the extension on, and the quota driver a DbQuotaDriver?)"
        )
    return entry
