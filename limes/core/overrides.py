"""Quota overrides: what operators pin the quota of single projects to, where quota would follow usage (`autogrow`).

The file names them by `domain -> project -> service -> resource: quota`. A quota is a number, or `N unit` where the
resource is measured.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from limes.core.catalog import Catalog, Ref
from limes.core.units import UnitError, parse_value
from limes.errors import ConfigError
from limes.validation.problems import did_you_mean


@dataclass(frozen=True, slots=True)
class QuotaOverride:
    """One entry of the file. The quota is in the resource's unit."""

    domain: str
    project: str
    ref: Ref
    quota: int


class QuotaOverrides:
    """All entries of the file. It never changes; a file that has changed is read into another one."""

    def __init__(self, quotas: Mapping[tuple[str, str], Mapping[Ref, int]]) -> None:
        """`quotas` is by the names of domain and project, and by resource."""
        self._quotas = {names: dict(by_ref) for names, by_ref in quotas.items()}

    def for_project(self, ref: Ref, domain_name: str, project_name: str) -> int | None:
        """Returns what the project's quota is pinned to; None if it is not."""
        by_ref = self._quotas.get((domain_name, project_name))
        return by_ref.get(ref) if by_ref else None

    def items(self) -> Iterator[QuotaOverride]:
        """Yields all entries, in the order of the file."""
        for (domain, project), by_ref in self._quotas.items():
            for ref, quota in by_ref.items():
                yield QuotaOverride(domain, project, ref, quota)

    def __len__(self) -> int:
        return sum(map(len, self._quotas.values()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuotaOverrides) and self._quotas == other._quotas

    def __hash__(self) -> int:
        return hash(frozenset(self._quotas))


NO_OVERRIDES = QuotaOverrides({})


def parse_overrides(document: Any, catalog: Catalog) -> QuotaOverrides:
    """Reads a parsed file. Raises `ConfigError` with all problems, each with its path.

    An empty file is a problem, as it may be one that is just being written: no overrides are `{}`. So are services and
    resources that are not configured, and resources without quota. Domains and projects that do not exist are none, as
    they may come later.
    """
    problems: list[str] = []
    quotas: dict[tuple[str, str], dict[Ref, int]] = {}
    for domain, projects in _names(document, "", problems):
        for project, services in _names(projects, f"{domain}.", problems):
            path = f"{domain}.{project}."
            for service, resources in _names(services, path, problems):
                for name, value in _names(resources, f"{path}{service}.", problems):
                    quota = _quota(value, (service, name), f"{path}{service}.{name}", catalog, problems)
                    if quota is not None:
                        quotas.setdefault((domain, project), {})[service, name] = quota
    if problems:
        raise ConfigError([f"quota overrides: {problem}" for problem in problems])
    return QuotaOverrides(quotas)


def _names(value: Any, path: str, problems: list[str]) -> Iterator[tuple[str, Any]]:
    where = f"{path.removesuffix('.')}: " if path else ""
    if not isinstance(value, dict):
        hint = "" if path else "; `{}` if there are no overrides"
        problems.append(f"{where}expected a mapping of names{hint}")
        return
    for key, item in value.items():
        if isinstance(key, str):
            yield key, item
        else:
            problems.append(f"{where}expected a name, not {key!r}: put it in quotes")


def _quota(value: Any, ref: Ref, path: str, catalog: Catalog, problems: list[str]) -> int | None:
    resource = catalog.find(ref)
    if resource is None:
        problems.append(f"{path}: {_unknown(ref, catalog)}")
    elif not resource.tracks_quota:
        problems.append(f"{path}: {'/'.join(ref)} has no quota")
    elif isinstance(value, bool) or not isinstance(value, int | str):
        example = resource.unit.render(10)
        problems.append(f"{path}: expected a quota such as {example!r}, not {value!r}")
    else:
        try:
            return parse_value(str(value), resource.unit)
        except UnitError as error:
            problems.append(f"{path}: {error}")
    return None


def _unknown(ref: Ref, catalog: Catalog) -> str:
    service = catalog.services.get(ref[0])
    if service is None:
        return f"there is no service {ref[0]!r}{did_you_mean(ref[0], catalog.services)}"
    known = [f"{ref[0]}/{name}" for name in service.resources]
    return f"there is no resource {'/'.join(ref)}{did_you_mean('/'.join(ref), known)}"
