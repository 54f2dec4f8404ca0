"""Quota constraints: what an operator wants a quota to be at least, at most or exactly; and the file with all of them.

A constraint is made of clauses, joined by commas: `at least V`, `at most V`, `exactly V`; for domains also `at least V
more than project constraints`, which adds the minima of the constraints of the domain's projects. The file names them
by `domains: name -> service -> resource: text` and `projects: domain/project -> service -> resource: text`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from limes.core.catalog import Catalog, Ref
from limes.core.units import MAX_AMOUNT, Unit, UnitError, parse_value
from limes.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Constraint:
    """Bounds of a quota, in its unit. None where there is no bound. The minimum never exceeds the maximum."""

    minimum: int | None = None
    maximum: int | None = None

    def allows(self, value: int) -> bool:
        """Returns whether a quota of this value is within the bounds."""
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
    """Reads a constraint from its text in the file.

    `projects_minimum` is the sum of the minima of the domain's projects, or None where the constraint is a project's.
    Raises `UnitError` for a clause that cannot be read and for clauses that contradict each other.
    """
    minimum: int | None = None
    maximum: int | None = None
    for clause in text.split(","):
        match = _CLAUSE.match(clause.strip())
        if match is None:
            raise UnitError(
                f'clause {clause.strip()!r} should start with "at least", "at most" or "exactly", and a value'
            )
        value = parse_value(match[2], unit)
        if match[3]:
            if match[1] != "at least" or projects_minimum is None:
                raise UnitError('"more than project constraints" goes with "at least", and with domains only')
            value += projects_minimum
            if value > MAX_AMOUNT:
                raise UnitError(
                    f"with the project constraints this is {unit.render(value)}: the maximum is {MAX_AMOUNT}"
                )
        if match[1] in ("at least", "exactly"):
            minimum = value if minimum is None else max(minimum, value)
        if match[1] in ("at most", "exactly"):
            maximum = value if maximum is None else min(maximum, value)
    if minimum is not None and maximum is not None and minimum > maximum:
        raise UnitError(f"constraint clauses cannot simultaneously be satisfied: {text!r}")
    return Constraint(minimum, maximum)


# -- the file ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConstraintSet:
    """Constraints by domain name, and by `domain/project` name."""

    domains: Mapping[str, Mapping[Ref, Constraint]] = field(default_factory=dict)
    projects: Mapping[str, Mapping[Ref, Constraint]] = field(default_factory=dict)

    def for_domain(self, ref: Ref, domain: str) -> Constraint | None:
        """Returns the constraint on the quota of a domain."""
        return self.domains.get(domain, {}).get(ref)

    def for_project(self, ref: Ref, domain: str, project: str) -> Constraint | None:
        """Returns the constraint on the quota of a project."""
        return self.projects.get(f"{domain}/{project}", {}).get(ref)


NO_CONSTRAINTS = ConstraintSet()


def parse_constraint_set(document: Any, catalog: Catalog) -> ConstraintSet:
    """Reads a parsed file. Raises `ConfigError` with all problems, each with its path.

    Services and resources that are not configured are ignored. Contradictions, quota-less resources, projects without
    their domain's name, and project minima that exceed their domain's minimum are problems.
    """
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
