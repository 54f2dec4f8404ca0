"""The plugin `static`: services, domains and projects as written in the configuration; for labs and tests.

The params of a service, with the usage and first quota of its resources:

area: storage
state_file: /var/lib/limes/static.json       # optional; without, quotas live in the process's memory
resources:
  capacity: {unit: GiB, quota: unlimited, usage: {az-one: 20, az-two: 5}}
  objects: {quota: 100, usage: 7}            # in AZ `any`
  files: {usage: 3}                          # tracks no quota
projects:                                    # other values for single projects, by id or name
  alpha: {objects: {usage: 12}}

And the capacitor `manual`, capacity as the operator wrote it down:

values:
  compute:
    cores: 4800                            # in AZ `any`
    ram: {az-one: 400000, az-two: 400000}  # by AZ
"""

import contextlib
import fcntl
import json
import os
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from limes import backends

Text = Annotated[str, Field(min_length=1)]
Figures = dict[str, dict[str, Any]]
"""Resource -> `quota`, `usage`, where they differ from the configuration."""


class MemoryState:
    """Quotas that live and die with the process. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._projects: dict[str, Figures] = {}

    def figures(self, project_id: str) -> Figures:
        with self._lock:
            return {name: dict(values) for name, values in self._projects.get(project_id, {}).items()}

    def write_quotas(self, project_id: str, quotas: Mapping[str, int]) -> None:
        with self._lock:
            _merge(self._projects, project_id, quotas)


class FileState:
    """The same in a file, which is replaced as a whole, under a lock on a second file beside it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def figures(self, project_id: str) -> Figures:
        figures = self._read().get(project_id, {})
        if not isinstance(figures, dict) or not all(isinstance(values, dict) for values in figures.values()):
            raise backends.BackendError(f"{self._path}: project {project_id}: expected resources with quota and usage")
        return figures

    def write_quotas(self, project_id: str, quotas: Mapping[str, int]) -> None:
        """Keeps what else the file says."""
        with self._locked():
            projects = self._read()
            _merge(projects, project_id, quotas)
            temporary = self._path.with_name(self._path.name + ".new")
            temporary.write_text(json.dumps(projects, indent=1, sort_keys=True), encoding="utf-8")
            os.replace(temporary, self._path)

    def _read(self) -> dict[str, Any]:
        try:
            projects = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise backends.BackendError(f"{self._path}: cannot be read: {error}") from error
        if not isinstance(projects, dict):
            raise backends.BackendError(f"{self._path}: expected a mapping of project ids")
        return projects

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with open(f"{self._path}.lock", "w", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise backends.BackendError(f"{self._path}: cannot be written: {error.strerror}") from error


def _merge(projects: dict[str, Any], project_id: str, quotas: Mapping[str, int]) -> None:
    figures = projects.setdefault(project_id, {})
    for name, quota in quotas.items():
        figures.setdefault(name, {})["quota"] = quota


class StaticResource(backends.ResourceParams):
    """A resource, and what every project uses of it and may use of it until a quota is set."""

    quota: backends.QuotaValue | None = None
    """Without, the resource tracks no quota."""
    usage: backends.AmountPerAZ = Field(default_factory=lambda: {backends.ANY_AZ: 0})
    """In AZ `any`, or by AZ."""


class StaticFigures(backends.Params):
    """What differs for a project."""

    quota: backends.QuotaValue | None = None
    usage: backends.AmountPerAZ | None = None


class StaticServiceParams(backends.Params):
    area: str
    resources: Annotated[dict[backends.ResourceName, StaticResource], backends.NOT_EMPTY]
    projects: dict[str, dict[str, StaticFigures]] = Field(default_factory=dict)
    state_file: Path | None = None


class StaticService(backends.QuotaBackend):
    """Reports what is configured, and remembers the quotas that are set."""

    def __init__(self, params: StaticServiceParams, context: backends.BackendContext) -> None:
        problems = []
        for project, figures in params.projects.items():
            for name, values in figures.items():
                path = f"projects.{project}.{name}"
                if name not in params.resources:
                    problems.append(f"{path}: there is no resource of this name")
                elif values.quota is not None and params.resources[name].quota is None:
                    problems.append(f"{path}.quota: the resource tracks no quota, because it has none under resources")
        if problems:
            raise backends.ConfigError(problems)
        self._params = params
        self._state: FileState | MemoryState = FileState(params.state_file) if params.state_file else MemoryState()
        resources = {}
        for name, resource in params.resources.items():
            tracks_quota, az_aware = resource.quota is not None, set(resource.usage) != {backends.ANY_AZ}
            resources[name] = resource.definition(name, tracks_quota=tracks_quota, az_aware=az_aware)
        self._service = backends.ServiceDef(context.name, params.area, resources)

    def describe(self) -> backends.ServiceDef:
        return self._service

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """Returns the configured figures, the project's own before the common ones, those of the state before both."""
        state = self._state.figures(project.id)
        resources = {name: self._resource(name, project, state.get(name, {})) for name in self._service.resources}
        return backends.UsageReport(resources)

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        self._state.write_quotas(project.id, quotas)

    def _resource(self, name: str, project: backends.ProjectInfo, state: Mapping[str, Any]) -> backends.ResourceUsage:
        common = self._params.resources[name]
        by_project = self._params.projects
        own = (by_project.get(project.id) or by_project.get(project.name) or {}).get(name, StaticFigures())
        usage = state.get("usage", common.usage if own.usage is None else own.usage)
        quota = state.get("quota", common.quota if own.quota is None else own.quota)
        per_az = usage if isinstance(usage, dict) else {backends.ANY_AZ: usage}
        return backends.ResourceUsage(
            {az: backends.AZUsage(amount) for az, amount in per_az.items()},
            None if common.quota is None else _quota(quota, name),
        )


def _quota(quota: Any, name: str) -> backends.BackendQuota:
    if quota is backends.UNLIMITED or quota == "unlimited":
        return backends.UNLIMITED
    if not isinstance(quota, int):
        raise backends.BackendError(f"resource {name}: the quota is {quota!r}, expected a whole number or 'unlimited'")
    return backends.limited(quota)


class StaticProject(backends.Params):
    """A project. The parent is a project of the same domain, or the domain itself."""

    id: Text
    name: Text
    parent_id: Text


class StaticDomain(backends.Params):
    id: Text
    name: Text
    projects: Annotated[tuple[StaticProject, ...], backends.NOT_EMPTY]


class StaticDiscoveryParams(backends.Params):
    domains: Annotated[tuple[StaticDomain, ...], backends.NOT_EMPTY]


class StaticDiscovery(backends.DiscoveryBackend):
    def __init__(self, params: StaticDiscoveryParams, context: backends.BackendContext) -> None:
        ids = Counter(domain.id for domain in params.domains)
        ids.update(project.id for domain in params.domains for project in domain.projects)
        problems = [f"domains: the id {id_!r} is given {count} times" for id_, count in ids.items() if count > 1]
        for position, domain in enumerate(params.domains):
            known = {domain.id, *(project.id for project in domain.projects)}
            problems += [
                f"domains[{position}].projects[{number}].parent_id: there is no project {project.parent_id!r}"
                f" in this domain, and it is not the domain's id"
                for number, project in enumerate(domain.projects)
                if project.parent_id not in known
            ]
        if problems:
            raise backends.ConfigError(problems)
        self._domains = {domain.id: domain for domain in params.domains}

    def list_domains(self) -> Iterable[backends.DomainInfo]:
        return [backends.DomainInfo(domain.id, domain.name) for domain in self._domains.values()]

    def list_projects(self, domain: backends.DomainInfo) -> Iterable[backends.ProjectInfo]:
        if domain.id not in self._domains:
            raise backends.BackendError(f"the domain {domain.id} is not configured")
        return [
            backends.ProjectInfo(project.id, project.name, project.parent_id, domain)
            for project in self._domains[domain.id].projects
        ]


plugin = backends.Plugin(
    "Services, domains and projects as written in the configuration.",
    quota=backends.Offer(StaticServiceParams, StaticService),
    discovery=backends.Offer(StaticDiscoveryParams, StaticDiscovery),
)


class ManualParams(backends.Params):
    """`values`: service type -> resource -> capacity in the resource's unit, or capacity by AZ."""

    values: Annotated[dict[str, dict[backends.ResourceName, backends.AmountPerAZ]], backends.NOT_EMPTY]


class ManualCapacity(backends.CapacityBackend):
    def __init__(self, params: ManualParams, context: backends.BackendContext) -> None:
        known = {*context.availability_zones, backends.ANY_AZ}
        problems = [
            f"values.{service}.{resource}.{az}: is not one of the configured availability_zones, nor 'any'"
            for service, resources in params.values.items()
            for resource, per_az in resources.items()
            for az in per_az
            if az not in known
        ]
        if problems:
            raise backends.ConfigError(problems)
        self._values = params.values

    def report_capacity(self) -> backends.CapacityReport:
        services: dict[str, dict[str, dict[str, backends.AZCapacity]]] = {}
        for service, resources in self._values.items():
            for name, per_az in resources.items():
                capacity = {az: backends.AZCapacity(amount) for az, amount in per_az.items()}
                services.setdefault(service, {})[name] = capacity
        return backends.CapacityReport(services)

    def resources(self) -> Collection[backends.Ref]:
        return [(service, name) for service, resources in self._values.items() for name in resources]


manual = backends.Plugin(
    "Capacity as written in the configuration.", capacity=backends.Offer(ManualParams, ManualCapacity)
)
