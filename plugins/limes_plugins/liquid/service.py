"""Usage, quota and capacity as a liquid reports them."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import orjson

from limes import backends
from limes_plugins.liquid.info import InfoKeeper
from limes_plugins.openstack.answers import whole_number
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.params import ConnectionParams, Text

_SEPARATED = "az-separated"


class LiquidParams(ConnectionParams):
    """How the liquid is found. A configured `endpoint` has no `/v1`."""

    catalog_type: Text | None = None
    """The liquid's type in Keystone's catalog; without, `liquid-` and the service's type."""
    info_file: Path | None = None
    """Where the liquid's description of itself is kept, so that Limes can start while the liquid is down."""


class LiquidServiceParams(LiquidParams):
    """Of a service."""

    area: Text


class LiquidCapacityParams(LiquidParams):
    """Of a capacitor."""

    service: Text
    """The service type whose capacity this is."""


def liquid_client(params: LiquidParams, context: backends.BackendContext, service_type: str) -> ServiceClient:
    """Returns a client for the configured liquid."""
    catalog_type = params.catalog_type or f"liquid-{service_type}"
    return ServiceClient(context, params, name=catalog_type, service_type=catalog_type)


class LiquidService(backends.QuotaBackend):
    """One liquid."""

    def __init__(self, params: LiquidServiceParams, context: backends.BackendContext) -> None:
        self._name = context.name
        self._area = params.area
        self._azs = list(context.availability_zones)
        self._client = liquid_client(params, context, context.name)
        self._info = InfoKeeper(self._client, params.info_file)

    def describe(self) -> backends.ServiceDef:
        """As the liquid describes itself: it is asked if the `info_file` does not know yet."""
        resources = self._info.get().resources
        return backends.ServiceDef(
            self._name, self._area, {name: info.definition(name) for name, info in resources.items()}
        )

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """One request."""
        report, entries = self._report(project)
        state = report.get("serializedState")
        return backends.UsageReport(
            {name: self._usage(entry, f"resource {name}") for name, entry in entries.items()},
            "" if state is None else orjson.dumps(state).decode(),
        )

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        """One request; where quota is separate for each AZ, one more, for what is used where."""
        self.set_quota_by_az(project, quotas, {})

    def set_quota_by_az(
        self, project: backends.ProjectInfo, quotas: Mapping[str, int], azs: Mapping[str, Mapping[str, int]]
    ) -> None:
        """One request; where quota is separate for each AZ, and Limes does not know it, one more, as above."""
        info = self._info.get()
        separated = {name for name in quotas if info.resources[name].topology == _SEPARATED}
        reported = self._report(project)[1] if separated - azs.keys() else {}
        resources: dict[str, dict[str, Any]] = {name: {"quota": quota} for name, quota in quotas.items()}
        for name in separated:
            if name in azs:
                least = azs[name]
            else:
                entry = _usage_by_az(reported[name], f"resource {name}")
                least = {az: az_usage.usage for az, az_usage in entry.items()}
            shares = share_out(quotas[name], {az: least.get(az, 0) for az in self._azs})
            resources[name]["perAZ"] = {az: {"quota": share} for az, share in shares.items()}
        document: dict[str, Any] = {"resources": resources}
        if info.quota_needs_project:
            document["projectMetadata"] = metadata_of(project)
        path = f"/v1/projects/{project.id}/quota"
        self._client.put(path, document)

    def _report(self, project: backends.ProjectInfo) -> tuple[Mapping[str, Any], Mapping[str, Mapping[str, Any]]]:
        """Returns the liquid's report, and its entries of the resources that it described."""
        document: dict[str, Any] = {"allAZs": self._azs}
        info = self._info.get()
        if info.usage_needs_project:
            document["projectMetadata"] = metadata_of(project)
        if project.scrape_state:
            document["serializedState"] = orjson.loads(project.scrape_state)
        path = f"/v1/projects/{project.id}/report-usage"
        report = self._client.post(path, document)
        self._info.check(report)
        resources = report.get("resources") or {}
        lacking = [name for name in info.resources if not isinstance(resources.get(name), dict)]
        if lacking:
            raise backends.BackendError(f"POST {path}: the report has no resource {lacking[0]!r}")
        return report, {name: resources[name] for name in info.resources}

    def _usage(self, entry: Mapping[str, Any], where: str) -> backends.ResourceUsage:
        quota = _quota(entry, where)
        is_barred = entry.get("forbidden") is True and quota is not None
        return backends.ResourceUsage(_usage_by_az(entry, where), quota, max_quota=0 if is_barred else None)


def _usage_by_az(entry: Mapping[str, Any], where: str) -> dict[str, backends.AZUsage]:
    return {
        az: backends.AZUsage(
            whole_number(figures.get("usage"), f"{where}, AZ {az}: the usage"),
            figures.get("physicalUsage"),
            tuple(flat(sub) for sub in figures.get("subresources") or ()),
        )
        for az, figures in entries_by_az(entry, where).items()
    }


def _quota(entry: Mapping[str, Any], where: str) -> backends.BackendQuota | None:
    """Returns a resource's quota, or the sum of its quotas by AZ. Numbers below 0 mean unlimited."""
    if entry.get("quota") is not None:
        return _limit(entry["quota"], where)
    quotas = [figures.get("quota") for figures in entry["perAZ"].values()]
    limits = [_limit(quota, where) for quota in quotas if quota is not None]
    if any(isinstance(limit, backends.Unlimited) for limit in limits):
        return backends.UNLIMITED
    if limits:
        return sum(limit for limit in limits if not isinstance(limit, backends.Unlimited))
    # a resource that the project must not have at all may come without a quota
    return 0 if entry.get("forbidden") is True else None


def _limit(value: Any, where: str) -> backends.BackendQuota:
    if type(value) is int and value < 0:
        return backends.UNLIMITED
    return backends.limited(whole_number(value, f"{where}: the quota"))


class LiquidCapacity(backends.CapacityBackend):
    """One liquid."""

    def __init__(self, params: LiquidCapacityParams, context: backends.BackendContext) -> None:
        self._service = params.service
        self._azs = list(context.availability_zones)
        self._client = liquid_client(params, context, params.service)
        self._info = InfoKeeper(self._client, params.info_file)

    def needs_demand(self) -> Collection[backends.Ref]:
        """Returns those for which the liquid asks for it."""
        return [(self._service, name) for name, resource in self._info.get().resources.items() if resource.needs_demand]

    def report_capacity(self) -> backends.CapacityReport:
        """As if nothing was demanded."""
        return self.report_capacity_for(backends.NO_DEMAND)

    def report_capacity_for(self, demand: backends.Demand) -> backends.CapacityReport:
        """One request, for all resources of which the liquid knows the capacity."""
        info = self._info.get()
        by_resource = {name: _demand(demand.get((self._service, name))) for _, name in self.needs_demand()}
        report = self._client.post("/v1/report-capacity", {"allAZs": self._azs, "demandByResource": by_resource})
        self._info.check(report)
        resources = report.get("resources") or {}
        return backends.CapacityReport(
            {
                self._service: {
                    name: _capacity_by_az(resources.get(name), f"resource {name}")
                    for name, resource in info.resources.items()
                    if resource.has_capacity
                }
            }
        )

    def resources(self) -> Collection[backends.Ref]:
        """Returns those of which the liquid knows the capacity; it is asked if the `info_file` does not know yet."""
        return [(self._service, name) for name, resource in self._info.get().resources.items() if resource.has_capacity]


def _demand(known: backends.ResourceDemand | None) -> dict[str, Any]:
    """Returns the demand for one resource, in the words of the protocol."""
    demand = known or backends.ResourceDemand()
    return {
        "overcommitFactor": demand.overcommit_factor,
        "perAZ": {
            az: {
                "usage": figures.usage,
                "unusedCommitments": figures.unused_commitments,
                "pendingCommitments": figures.pending_commitments,
            }
            for az, figures in demand.per_az.items()
        },
    }


def _capacity_by_az(entry: Any, where: str) -> Mapping[str, backends.AZCapacity]:
    return {
        az: backends.AZCapacity(
            whole_number(figures.get("capacity"), f"{where}, AZ {az}: the capacity"),
            figures.get("usage"),
            tuple(flat(sub) for sub in figures.get("subcapacities") or ()),
        )
        for az, figures in entries_by_az(entry, where).items()
    }


def metadata_of(project: backends.ProjectInfo) -> dict[str, object]:
    """Returns a project as LIQUID describes it."""
    domain = {"uuid": project.domain.id, "name": project.domain.name}
    return {"uuid": project.id, "name": project.name, "domain": domain}


def flat(sub: Any) -> Mapping[str, Any]:
    """Returns an entry with its attributes beside its name, as those of all other plugins are."""
    if not isinstance(sub, dict):
        raise backends.BackendError("a subresource or subcapacity is no object")
    attributes = sub.get("attributes")
    fields = {key: value for key, value in sub.items() if key != "attributes"}
    return {**(attributes if isinstance(attributes, dict) else {}), **fields}


def entries_by_az(entry: Any, where: str) -> Mapping[str, Mapping[str, Any]]:
    """Returns the `perAZ` of a resource in a report. Raises `backends.BackendError`."""
    per_az = entry.get("perAZ") if isinstance(entry, dict) else None
    if not isinstance(per_az, dict) or not all(isinstance(figures, dict) for figures in per_az.values()):
        raise backends.BackendError(f"{where}: expected an object 'perAZ' of objects")
    return per_az


def share_out(quota: int, used: Mapping[str, int]) -> dict[str, int]:
    """To each AZ what is used or wanted there, and of the rest the same to each (the first ones get what is left over).

    Where the quota is not enough for what is used, in proportion to it. The shares always sum up to the quota.
    """
    total = sum(used.values())
    if total > quota:
        shares = {az: quota * amount // total for az, amount in used.items()}
    else:
        each = (quota - total) // max(1, len(used))
        shares = {az: amount + each for az, amount in used.items()}
    left = quota - sum(shares.values())
    for az in sorted(shares)[:left]:
        shares[az] += 1
    return shares
