"""A service whose usage and first quota are written in the configuration.

area: storage
state_file: /var/lib/limes/static.json       # optional; without, quotas live in the process's memory
resources:
  capacity: {unit: GiB, quota: unlimited, usage: {az-one: 20, az-two: 5}}
  objects: {quota: 100, usage: 7}            # in AZ `any`
  files: {usage: 3}                          # tracks no quota
projects:                                    # other values for single projects, by id or name
  alpha: {objects: {usage: 12}}
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from limes.backends import (
    ANY_AZ,
    NOT_EMPTY,
    UNLIMITED,
    AmountPerAZ,
    AZUsage,
    BackendContext,
    BackendError,
    BackendQuota,
    ConfigError,
    Params,
    ProjectInfo,
    QuotaBackend,
    QuotaValue,
    ResourceName,
    ResourceParams,
    ResourceUsage,
    ServiceDef,
    UsageReport,
    limited,
)
from limes_plugins.static.state import FileState, MemoryState, State


class StaticResource(ResourceParams):
    """A resource, and what every project uses of it and may use of it until somebody sets a quota."""

    quota: QuotaValue | None = None
    """Without, the resource tracks no quota."""
    usage: AmountPerAZ = Field(default_factory=lambda: {ANY_AZ: 0})
    """In AZ `any`, or by AZ."""


class StaticFigures(Params):
    """What differs for a project."""

    quota: QuotaValue | None = None
    usage: AmountPerAZ | None = None


class StaticServiceParams(Params):
    """The service."""

    area: str
    resources: Annotated[dict[ResourceName, StaticResource], NOT_EMPTY]
    projects: dict[str, dict[str, StaticFigures]] = Field(default_factory=dict)
    state_file: Path | None = None


class StaticService(QuotaBackend):
    """Reports what is configured, and remembers the quotas that are set."""

    def __init__(self, params: StaticServiceParams, context: BackendContext) -> None:
        problems = []
        for project, figures in params.projects.items():
            for name, values in figures.items():
                path = f"projects.{project}.{name}"
                if name not in params.resources:
                    problems.append(f"{path}: there is no resource of this name")
                elif values.quota is not None and params.resources[name].quota is None:
                    problems.append(f"{path}.quota: the resource tracks no quota, because it has none under resources")
        if problems:
            raise ConfigError(problems)
        self._params = params
        self._state: State = FileState(params.state_file) if params.state_file else MemoryState()
        self._service = ServiceDef(
            context.name,
            params.area,
            {
                name: resource.definition(
                    name, tracks_quota=resource.quota is not None, az_aware=set(resource.usage) != {ANY_AZ}
                )
                for name, resource in params.resources.items()
            },
        )

    def describe(self) -> ServiceDef:
        """The configured resources."""
        return self._service

    def report_usage(self, project: ProjectInfo) -> UsageReport:
        """The configured figures, the project's own before the common ones, those of the state before both."""
        state = self._state.figures(project.id)
        return UsageReport(
            {name: self._resource(name, project, state.get(name, {})) for name in self._service.resources}
        )

    def set_quota(self, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        """Remembers the quotas."""
        self._state.write_quotas(project.id, quotas)

    def _resource(self, name: str, project: ProjectInfo, state: Mapping[str, Any]) -> ResourceUsage:
        common = self._params.resources[name]
        by_project = self._params.projects
        own = (by_project.get(project.id) or by_project.get(project.name) or {}).get(name, StaticFigures())
        usage = state.get("usage", common.usage if own.usage is None else own.usage)
        quota = state.get("quota", common.quota if own.quota is None else own.quota)
        per_az = usage if isinstance(usage, dict) else {ANY_AZ: usage}
        return ResourceUsage(
            {az: AZUsage(amount) for az, amount in per_az.items()},
            None if common.quota is None else self._quota(quota, name),
        )

    def _quota(self, quota: Any, name: str) -> BackendQuota:
        if quota is UNLIMITED or quota == "unlimited":
            return UNLIMITED
        if not isinstance(quota, int):
            raise BackendError(f"resource {name}: the quota is {quota!r}, expected a whole number or 'unlimited'")
        return limited(quota)
