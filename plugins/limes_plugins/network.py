"""The plugin `network`: quota and usage of Neutron. docs/plugins/network.md."""

from collections.abc import Mapping
from typing import Any

from limes.backends import (
    BackendContext,
    BackendError,
    BackendQuota,
    Offer,
    Plugin,
    ProjectInfo,
    QuotaBackend,
    ResourceDef,
    ServiceDef,
    UsageReport,
)
from limes_plugins.loadbalancing import LoadBalancingParams, LoadBalancingService
from limes_plugins.openstack.answers import quota_of, whole_number
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.params import ConnectionParams, Text
from limes_plugins.openstack.reports import Counted, by_name, report

CATEGORY = "networking"


def _counted(name: str, key: str, auto_approve: int = 0) -> Counted:
    # Neutron takes a quota below what is used; the users then cannot even replace a port
    definition = ResourceDef(
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


class NetworkParams(ConnectionParams):
    """Of a service. A configured `endpoint` ends in `/v2.0`."""

    area: Text = "network"
    with_trunks: bool = False
    """Whether the extension `trunk` is on in Neutron."""
    with_bgpvpns: bool = False
    """Whether the extension `bgpvpn` is on in Neutron."""
    loadbalancing: LoadBalancingParams | None = None
    """How Octavia is found, to have its resources in this service as the original Limes does; without, they can be a
    service of their own with the plugin `loadbalancing`."""


class NetworkService(QuotaBackend):
    """Neutron's resources, and Octavia's behind them if configured."""

    def __init__(self, params: NetworkParams, context: BackendContext) -> None:
        self._client = ServiceClient(context, params, name="Neutron", service_type="network", major=2)
        chosen = [*_ALWAYS, *([_TRUNKS] if params.with_trunks else []), *([_BGPVPNS] if params.with_bgpvpns else [])]
        self._resources = by_name(chosen)
        self._octavia = None if params.loadbalancing is None else LoadBalancingService(params.loadbalancing, context)
        definitions = {name: resource.definition for name, resource in self._resources.items()}
        if self._octavia is not None:
            definitions |= self._octavia.describe().resources
        self._service = ServiceDef(context.name, params.area, definitions)

    def describe(self) -> ServiceDef:
        """Returns the configured resources."""
        return self._service

    def report_usage(self, project: ProjectInfo) -> UsageReport:
        """One request to Neutron, and what the plugin `loadbalancing` takes."""
        path = f"/quotas/{project.id}/details"
        details = self._client.get(path).get("quota")
        usage: dict[str, int] = {}
        quotas: dict[str, BackendQuota] = {}
        for name, resource in self._resources.items():
            entry = _entry(details, resource.key, path)
            usage[resource.key] = whole_number(entry.get("used"), f"GET {path}: the usage of {name}")
            quotas[resource.key] = quota_of(entry.get("limit"), f"GET {path}: the limit of {name}")
        own = report(self._resources, usage, quotas)
        if self._octavia is None:
            return own
        return UsageReport({**own.resources, **self._octavia.report_usage(project).resources})

    def set_quota(self, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
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
        raise BackendError(
            f"GET {path}: Neutron does not count {key!r} (is the extension on, and the quota driver a DbQuotaDriver?)"
        )
    return entry


plugin = Plugin("Networks, ports, routers and so on of Neutron.", quota=Offer(NetworkParams, NetworkService))
