"""Whether both sides have the same: counts and sums, by service and resource, read from each database anew."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from peewee import Case, Select, fn

from limes.core.catalog import Ref
from limes.db.engine import Engine
from limes.db.models import (
    AZResource,
    Commitment,
    Domain,
    DomainResource,
    Project,
    ProjectAZResource,
    ProjectResource,
    Resource,
    Service,
)
from limes.importer.layout import Rows
from limes.importer.source import Source

Figures = Mapping[tuple[str, ...], tuple[int | None, ...]]
"""Numbers by what they are of: `(service, resource, az)` or a part of that."""


def _sum(column: Any) -> Any:
    return fn.COALESCE(fn.SUM(column), 0)


_SUMS: dict[str, tuple[int, Callable[[Any], list[Any]]]] = {
    "projects": (0, lambda c: [fn.COUNT(1), fn.COUNT(c.domain.distinct())]),
    "capacity": (3, lambda c: [fn.SUM(c.raw_capacity), fn.SUM(c.usage)]),
    "domain_quotas": (2, lambda c: [fn.SUM(c.quota)]),
    "quotas": (
        2,
        lambda c: [fn.COUNT(1), _sum(c.quota), _sum(Case(None, [(c.backend_quota < 0, -1)], c.backend_quota))],
    ),
    "usages": (3, lambda c: [fn.COUNT(1), fn.SUM(c.usage), fn.SUM(c.physical_usage)]),
    "commitments": (3, lambda c: [fn.COUNT(1), fn.SUM(c.amount), fn.COUNT(c.confirmed_at), fn.COUNT(c.superseded_at)]),
}
"""How each kind of rows is summed up: by how many of service, resource and AZ, and what, given the columns."""
_KEYS = ("service", "resource", "az")
_NAMES = {
    "projects": "projects and their domains",
    "capacity": "capacity and its usage",
    "domain_quotas": "quota of domains",
    "quotas": "projects with a quota, their quota, and the backends'",
    "usages": "entries of usage, usage, and physical usage",
    "commitments": "commitments, their amount, and how many were confirmed and superseded",
}


def _of_resource(*columns: Any) -> Rows:
    """These columns of a table that refers to resources, with the names of service and resource."""
    table = columns[0].model
    query = table.select(Service.type.alias("service"), Resource.name.alias("resource"), *columns)
    link = table.resource if hasattr(table, "resource") else table.resource_id
    return query.join(Resource, on=link == Resource.id).join(Service)


_OURS: dict[str, Rows] = {
    "projects": Project.select(Project.uuid, Domain.uuid.alias("domain")).join(Domain),
    "capacity": _of_resource(AZResource.az, AZResource.raw_capacity, AZResource.usage),
    "domain_quotas": _of_resource(DomainResource.quota),
    "quotas": _of_resource(ProjectResource.quota, ProjectResource.backend_quota),
    "usages": _of_resource(ProjectAZResource.az, ProjectAZResource.usage, ProjectAZResource.physical_usage),
    "commitments": _of_resource(Commitment.az, Commitment.amount, Commitment.confirmed_at, Commitment.superseded_at),
}


def differences(source: Source, ours: Engine, refs: Collection[Ref]) -> list[str]:
    """A line for each figure that differs. What is not one of our resources (`refs`) does not count."""
    known = set(refs)
    lines = []
    for kind, name in _NAMES.items():
        there = _figures(source.engine, kind, getattr(source.layout, kind), known)
        here = _figures(ours, kind, _OURS[kind], known)
        for key in sorted(there.keys() | here.keys()):
            theirs, own = there.get(key), here.get(key)
            if theirs != own:
                lines.append(f"{name}, {'/'.join(key) or 'all'}: {_text(theirs)} there, {_text(own)} here")
    return lines


def _figures(engine: Engine, kind: str, rows: Rows, known: Collection[Ref]) -> Figures:
    depth, sums = _SUMS[kind]
    table = rows.alias("x")
    keys = [getattr(table.c, name) for name in _KEYS[:depth]]
    query: Any = Select([table], [*keys, *sums(table.c)]).group_by(*keys)
    if kind == "domain_quotas":
        query = query.where(table.c.quota > 0)
    figures = {}
    for row in engine.tuples(query):
        key = tuple(map(str, row[:depth]))
        if not key or key[:2] in known:
            figures[key] = tuple(None if value is None else int(value) for value in row[depth:])
    return figures


def _text(values: tuple[int | None, ...] | None) -> str:
    return "nothing" if values is None else ", ".join("-" if value is None else str(value) for value in values)
