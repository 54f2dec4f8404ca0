"""What operators demand of quotas, in two files. Constraints say what a quota is to be at least, at most or exactly;
overrides pin the quota of single projects where it would follow usage (`autogrow`).

A constraint is made of clauses, joined by commas: `at least V`, `at most V`, `exactly V`; for domains also `at least V
more than project constraints`, which adds the minima of the constraints of the domain's projects. The file names them
by `domains: name -> service -> resource: text` and `projects: domain/project -> service -> resource: text`; that of
overrides by `domain -> project -> service -> resource: quota`, each a number, or `N unit` of a measured resource.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from limes.catalog.catalog import Catalog, Ref
from limes.kernel.errors import ConfigError
from limes.kernel.units import MAX_AMOUNT, Unit, UnitError, parse_value
from limes.kernel.validation.problems import did_you_mean


class Constraint(Struct, frozen=True):
    """Bounds of a quota, in its unit. None where there is no bound. The minimum never exceeds the maximum."""

    minimum: int | None = None
    maximum: int | None = None

    def allows(self, value: int) -> bool:
        return self.apply_to(value) == value

    def apply_to(self, value: int) -> int:
        """Returns the nearest value within the bounds."""
        if self.minimum is not None and value < self.minimum:
            return self.minimum
        if self.maximum is not None and value > self.maximum:
            return self.maximum
        return value

    def render(self, unit: Unit) -> str:
        """Returns the constraint in the words of its file: `exactly 5 GiB`, `at least 5, at most 10`."""
        if self.minimum is not None and self.minimum == self.maximum:
            return f"exactly {unit.render(self.minimum)}"
        parts = []
        if self.minimum is not None:
            parts.append(f"at least {unit.render(self.minimum)}")
        if self.maximum is not None:
            parts.append(f"at most {unit.render(self.maximum)}")
        return ", ".join(parts)


_CLAUSE = re.compile(r"(at least|at most|exactly)\s+(.+?)(\s+more than project constraints)?\Z")


def parse_constraint(text: str, unit: Unit, projects_minimum: int | None) -> Constraint:
    """Reads a constraint; `projects_minimum` is the sum of the minima of the domain's projects, None for a project's.
    Raises `UnitError` for a clause that cannot be read and for clauses that contradict each other."""
    minimum: int | None = None
    maximum: int | None = None
    for clause in text.split(","):
        match = _CLAUSE.match(clause.strip())
        if match is None:
            words = '"at least", "at most" or "exactly"'
            raise UnitError(f"clause {clause.strip()!r} should start with {words}, and a value")
        value = parse_value(match[2], unit)
        if match[3]:
            if match[1] != "at least" or projects_minimum is None:
                raise UnitError('"more than project constraints" goes with "at least", and with domains only')
            value += projects_minimum
            if value > MAX_AMOUNT:
                total = unit.render(value)
                raise UnitError(f"with the project constraints this is {total}: the maximum is {MAX_AMOUNT}")
        if match[1] in ("at least", "exactly"):
            minimum = value if minimum is None else max(minimum, value)
        if match[1] in ("at most", "exactly"):
            maximum = value if maximum is None else min(maximum, value)
    if minimum is not None and maximum is not None and minimum > maximum:
        raise UnitError(f"constraint clauses cannot simultaneously be satisfied: {text!r}")
    return Constraint(minimum, maximum)


# -- the file ----------------------------------------------------------------------------------------------------------


class ConstraintSet(Struct, frozen=True):
    """Constraints by domain name, and by `domain/project` name."""

    domains: Mapping[str, Mapping[Ref, Constraint]] = field(default_factory=dict)
    projects: Mapping[str, Mapping[Ref, Constraint]] = field(default_factory=dict)

    def for_domain(self, ref: Ref, domain: str) -> Constraint | None:
        return self.domains.get(domain, {}).get(ref)

    def for_project(self, ref: Ref, domain: str, project: str) -> Constraint | None:
        return self.projects.get(f"{domain}/{project}", {}).get(ref)


def parse_constraint_set(document: Any, catalog: Catalog) -> ConstraintSet:
    """Reads a parsed file. Raises `ConfigError` with all problems, each with its path. Services and resources that are
    not configured are ignored. Contradictions, quota-less resources, projects without their domain's name, and project
    minima that exceed their domain's minimum are problems."""
    if not isinstance(document, dict) or not set(document) <= {"domains", "projects"}:
        raise ConfigError(["constraints: expected the keys domains and projects"])
    problems: list[str] = []
    projects: dict[str, dict[Ref, Constraint]] = defaultdict(dict)
    minima: dict[tuple[str, Ref], int] = defaultdict(int)
    for name, ref, text in _entries(document.get("projects"), "projects", catalog, problems):
        domain, slash, _ = name.partition("/")
        if not slash:
            problems.append(f"constraints: projects.{name}: expected DOMAIN/PROJECT")
            continue
        constraint = _parse(text, ref, f"projects.{name}", catalog, None, problems)
        if constraint is not None:
            projects[name][ref] = constraint
            minima[domain, ref] += constraint.minimum or 0
    domains: dict[str, dict[Ref, Constraint]] = defaultdict(dict)
    for name, ref, text in _entries(document.get("domains"), "domains", catalog, problems):
        constraint = _parse(text, ref, f"domains.{name}", catalog, minima[name, ref], problems)
        if constraint is not None:
            domains[name][ref] = constraint
    problems += _exceeding(minima, domains, catalog)
    if problems:
        raise ConfigError(problems)
    return ConstraintSet(dict(domains), dict(projects))


def _entries(section: Any, path: str, catalog: Catalog, problems: list[str]) -> Iterator[tuple[str, Ref, str]]:
    for name, services in _mapping(section, path, problems):
        for service, resources in _mapping(services, f"{path}.{name}", problems):
            for resource, text in _mapping(resources, f"{path}.{name}.{service}", problems):
                ref = (service, resource)
                definition = catalog.find(ref)
                if definition is None:
                    continue
                if not definition.tracks_quota:
                    problems.append(f"constraints: {path}.{name}.{service}.{resource}: resource does not track quota")
                    continue
                yield name, ref, str(text)


def _mapping(value: Any, path: str, problems: list[str]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key), item
    elif value is not None:
        problems.append(f"constraints: {path}: expected a mapping of names")


def _parse(
    text: str, ref: Ref, path: str, catalog: Catalog, projects_minimum: int | None, problems: list[str]
) -> Constraint | None:
    resource = catalog.find(ref)
    assert resource is not None
    try:
        return parse_constraint(text, resource.unit, projects_minimum)
    except UnitError as error:
        problems.append(f"constraints: {path}.{ref[0]}.{ref[1]}: {error}")
        return None


def _exceeding(
    minima: Mapping[tuple[str, Ref], int], domains: Mapping[str, Mapping[Ref, Constraint]], catalog: Catalog
) -> Iterator[str]:
    for (domain, ref), total in minima.items():
        constraint = domains.get(domain, {}).get(ref)
        minimum = (constraint.minimum or 0) if constraint else 0
        resource = catalog.find(ref)
        if total > minimum and resource is not None:
            shown = resource.unit.render
            yield (
                f"constraints: domains.{domain}.{ref[0]}.{ref[1]}: the minima of its projects add up to {shown(total)},"
                f" which exceeds the domain's minimum of {shown(minimum)}; use \"at least ... more than project"
                ' constraints"'
            )


class QuotaOverride(Struct, frozen=True):
    """One entry of the file. The quota is in the resource's unit."""

    domain: str
    project: str
    ref: Ref
    quota: int


class QuotaOverrides(Struct, frozen=True):
    """All entries of the file. It never changes; a file that has changed is read into another one."""

    quotas: Mapping[tuple[str, str], Mapping[Ref, int]]
    """By the names of domain and project, and by resource."""

    def for_project(self, ref: Ref, domain_name: str, project_name: str) -> int | None:
        """Returns what the project's quota is pinned to; None if it is not."""
        by_ref = self.quotas.get((domain_name, project_name))
        return by_ref.get(ref) if by_ref else None

    def items(self) -> Iterator[QuotaOverride]:
        for (domain, project), by_ref in self.quotas.items():
            for ref, quota in by_ref.items():
                yield QuotaOverride(domain, project, ref, quota)

    def __len__(self) -> int:
        return sum(map(len, self.quotas.values()))


NO_OVERRIDES = QuotaOverrides({})


def parse_overrides(document: Any, catalog: Catalog) -> QuotaOverrides:
    """Reads a parsed file. Raises `ConfigError` with all problems, each with its path. An empty file is a problem, as
    it may be one that is just being written: no overrides are `{}`. So are services and resources that are not
    configured, and resources without quota. Domains and projects that do not exist are none, as they may come later."""
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
        if service := catalog.services.get(ref[0]):
            hint = did_you_mean("/".join(ref), [f"{ref[0]}/{name}" for name in service.resources])
            problems.append(f"{path}: there is no resource {'/'.join(ref)}{hint}")
        else:
            problems.append(f"{path}: there is no service {ref[0]!r}{did_you_mean(ref[0], catalog.services)}")
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
