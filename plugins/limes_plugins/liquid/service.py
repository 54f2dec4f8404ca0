"""Usage and quota of a project, as a liquid reports them."""

from collections.abc import Mapping
from typing import Any

import orjson

from limes import backends
from limes_plugins.liquid.connection import (
    LiquidServiceParams,
    entries_by_az,
    flat,
    liquid_client,
    metadata_of,
    share_out,
)
from limes_plugins.liquid.info import InfoKeeper
from limes_plugins.openstack.answers import whole_number

_SEPARATED = "az-separated"


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
                entry = _per_az(reported[name], f"resource {name}")
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
        return backends.ResourceUsage(_per_az(entry, where), quota, max_quota=0 if is_barred else None)


def _per_az(entry: Mapping[str, Any], where: str) -> dict[str, backends.AZUsage]:
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
