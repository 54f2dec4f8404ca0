"""The plugin `liquid`: any service that speaks the LIQUID protocol. docs/plugins/liquid.md."""

import logging
import os
import re
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from limes import backends
from limes_plugins.openstack.client import ServiceClient, whole_number
from limes_plugins.openstack.params import ConnectionParams, Text

log = logging.getLogger(__name__)


class ResourceInfo(BaseModel):
    """What a liquid says of a resource. Keys that are not used here are ignored: newer liquids may say more."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    unit: backends.Unit = backends.Unit.COUNT
    category: str | None = Field(default=None, alias="categoryName")
    topology: Literal["flat", "az-aware", "az-separated"] = "flat"
    has_capacity: bool = Field(default=False, alias="hasCapacity")
    has_quota: bool = Field(default=False, alias="hasQuota")
    needs_demand: bool = Field(default=False, alias="needsResourceDemand")

    @field_validator("unit", mode="before")
    @classmethod
    def _without_factor(cls, value: Any) -> Any:
        if isinstance(value, str) and re.fullmatch(r"\d+ ?[KMGTPE]?i?B", value):
            known = ", ".join(unit for unit in backends.Unit if unit.is_measured)
            raise ValueError(
                f"the unit {value!r} has a factor, which Limes does not know: a quota that is no multiple of it could"
                f" never be in force (known: {known})"
            )
        return value

    def definition(self, name: str) -> backends.ResourceDef:
        return backends.ResourceDef(
            name,
            self.unit,
            self.category or "",
            tracks_quota=self.has_quota,
            az_aware=self.topology != "flat",
            az_separated=self.topology == "az-separated",
        )


class ServiceInfo(BaseModel):
    model_config = ConfigDict(frozen=True)

    version: int
    resources: Mapping[str, ResourceInfo] = Field(default_factory=dict)
    usage_needs_project: bool = Field(default=False, alias="usageReportNeedsProjectMetadata")
    quota_needs_project: bool = Field(default=False, alias="quotaUpdateNeedsProjectMetadata")


class InfoKeeper:
    """Has what `GET /v1/info` says at hand. Safe to use from many threads. It is asked for when it is needed first,
    unless the file has it, and again when a report names another version. What Limes took over at its start stays until
    the next one, so a change is logged."""

    def __init__(self, client: ServiceClient, file: Path | None) -> None:
        self._client, self._file = client, file
        self._lock = threading.Lock()
        self._info: ServiceInfo | None = None

    def get(self) -> ServiceInfo:
        """What this process began with. Raises `ConfigError` or `BackendError` without a description."""
        with self._lock:
            if self._info is None:
                self._info = self._read() or self._fetch()
            return self._info

    def check(self, report: Mapping[str, Any]) -> None:
        """Looks whether a report belongs to another version of the description."""
        version = report.get("infoVersion")
        known = self.get()
        if version == known.version:
            return
        with self._lock:
            fetched = self._fetch()
            if fetched.resources == known.resources:
                self._info = fetched
            else:
                text = "%s has other resources now (version %s instead of %s): restart Limes to take them over"
                log.warning(text, self._client.name, version, known.version)

    def _fetch(self) -> ServiceInfo:
        document = self._client.get("/v1/info")
        try:
            info = ServiceInfo.model_validate(document)
        except ValidationError as error:
            raise backends.BackendError(f"GET /v1/info: {_first(error)}") from None
        if self._file is not None:
            data, file = orjson.dumps(document, option=orjson.OPT_INDENT_2), self._file
            try:  # as a whole, for other processes may read it
                draft = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}")
                draft.write_bytes(data)
                draft.replace(file)
            except OSError as error:
                log.warning("the description of a liquid cannot be kept in %s: %s", file, error)
        return info

    def _read(self) -> ServiceInfo | None:
        if self._file is None:
            return None
        try:
            return ServiceInfo.model_validate_json(self._file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            reason = _first(error) if isinstance(error, ValidationError) else error
            raise backends.ConfigError(
                [f"info_file: {self._file}: {reason} (delete it, and it is created again)"]
            ) from None


def _first(error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    message = str(problem["msg"]).removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


class LiquidParams(ConnectionParams):
    """How the liquid is found. A configured `endpoint` has no `/v1`."""

    catalog_type: Text | None = None
    """The liquid's type in Keystone's catalog; without, `liquid-` and the service's type."""
    info_file: Path | None = None
    """Where the liquid's description of itself is kept, so that Limes can start while the liquid is down."""


class LiquidServiceParams(LiquidParams):
    area: Text


class LiquidCapacityParams(LiquidParams):
    service: Text
    """The service type whose capacity this is."""


class _Liquid:
    def __init__(self, params: LiquidParams, context: backends.BackendContext, service: str) -> None:
        self._service, self._azs = service, list(context.availability_zones)
        catalog_type = params.catalog_type or f"liquid-{service}"
        self._client = ServiceClient(context, params, name=catalog_type, service_type=catalog_type)
        self._info = InfoKeeper(self._client, params.info_file)


class LiquidService(_Liquid, backends.QuotaBackend):
    def __init__(self, params: LiquidServiceParams, context: backends.BackendContext) -> None:
        super().__init__(params, context, context.name)
        self._area = params.area

    def describe(self) -> backends.ServiceDef:
        """As the liquid describes itself: it is asked if the `info_file` does not know yet."""
        resources = self._info.get().resources
        definitions = {name: info.definition(name) for name, info in resources.items()}
        return backends.ServiceDef(self._service, self._area, definitions)

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """One request."""
        report, entries = self._report(project)
        resources = {}
        for name, entry in entries.items():
            quota, per_az = _quota(entry, f"resource {name}"), _usage_by_az(entry, f"resource {name}")
            is_barred = entry.get("forbidden") is True and quota is not None
            resources[name] = backends.ResourceUsage(per_az, quota, max_quota=0 if is_barred else None)
        state = report.get("serializedState")
        return backends.UsageReport(resources, "" if state is None else orjson.dumps(state).decode())

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        self.set_quota_by_az(project, quotas, {})

    def set_quota_by_az(
        self, project: backends.ProjectInfo, quotas: Mapping[str, int], azs: Mapping[str, Mapping[str, int]]
    ) -> None:
        """One request; where quota is separate for each AZ, and Limes does not know it, one more for what is used."""
        info = self._info.get()
        separated = {name for name in quotas if info.resources[name].topology == "az-separated"}
        reported = self._report(project)[1] if separated - azs.keys() else {}
        resources: dict[str, dict[str, Any]] = {name: {"quota": quota} for name, quota in quotas.items()}
        for name in separated:
            least = azs.get(name)
            if least is None:
                entry = _usage_by_az(reported[name], f"resource {name}")
                least = {az: az_usage.usage for az, az_usage in entry.items()}
            shares = share_out(quotas[name], {az: least.get(az, 0) for az in self._azs})
            resources[name]["perAZ"] = {az: {"quota": share} for az, share in shares.items()}
        document: dict[str, Any] = {"resources": resources}
        if info.quota_needs_project:
            document["projectMetadata"] = metadata_of(project)
        self._client.put(f"/v1/projects/{project.id}/quota", document)

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
    by_az = entry["perAZ"].values()
    limits = [_limit(figures["quota"], where) for figures in by_az if figures.get("quota") is not None]
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


class LiquidCapacity(_Liquid, backends.CapacityBackend):
    def __init__(self, params: LiquidCapacityParams, context: backends.BackendContext) -> None:
        super().__init__(params, context, params.service)

    def needs_demand(self) -> Collection[backends.Ref]:
        return [(self._service, name) for name, resource in self._info.get().resources.items() if resource.needs_demand]

    def report_capacity(self) -> backends.CapacityReport:
        return self.report_capacity_for(backends.NO_DEMAND)

    def report_capacity_for(self, demand: backends.Demand) -> backends.CapacityReport:
        """One request, for all resources whose capacity the liquid knows."""
        info = self._info.get()
        by_resource = {name: _demand(demand.get((self._service, name))) for _, name in self.needs_demand()}
        report = self._client.post("/v1/report-capacity", {"allAZs": self._azs, "demandByResource": by_resource})
        self._info.check(report)
        resources = report.get("resources") or {}
        per_az = {
            name: _capacity_by_az(resources.get(name), f"resource {name}")
            for name, resource in info.resources.items()
            if resource.has_capacity
        }
        return backends.CapacityReport({self._service: per_az})

    def resources(self) -> Collection[backends.Ref]:
        """Returns the resources whose capacity the liquid knows; it is asked if the `info_file` does not know yet."""
        return [(self._service, name) for name, resource in self._info.get().resources.items() if resource.has_capacity]


def _demand(known: backends.ResourceDemand | None) -> dict[str, Any]:
    """Returns the demand for one resource, in the words of the protocol."""
    demand = known or backends.ResourceDemand()
    per_az: dict[str, Any] = {}
    for az, figures in demand.per_az.items():
        per_az[az] = {
            "usage": figures.usage,
            "unusedCommitments": figures.unused_commitments,
            "pendingCommitments": figures.pending_commitments,
        }
    return {"overcommitFactor": demand.overcommit_factor, "perAZ": per_az}


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
    """Returns what is used or wanted in each AZ, and of the rest the same for each (the first ones get what is left
    over); in proportion to it where the quota is not enough. The shares always sum up to the quota."""
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


plugin = backends.Plugin(
    "Any service that speaks the LIQUID protocol.",
    quota=backends.Offer(LiquidServiceParams, LiquidService),
    capacity=backends.Offer(LiquidCapacityParams, LiquidCapacity),
)
