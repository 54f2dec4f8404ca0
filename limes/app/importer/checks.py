"""The checks of an import: before it, what of the source has no place here; after it, whether both sides are the same.

The latter compares counts and sums by service and resource, read from both databases.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from peewee import Case, Select, Value, fn

from limes.app.importer.layout import Rows
from limes.app.importer.source import OverrideRow, Source
from limes.autogrow import compute, models
from limes.catalog.catalog import ANY_AZ, UNKNOWN_AZ, Catalog, Ref
from limes.catalog.models import AZResource, Resource, Service
from limes.commitments.models import Commitment
from limes.db.engine import Engine
from limes.projects.models import Domain, DomainResource, Project, ProjectAZResource, ProjectResource
from limes.quota.constraints import QuotaOverrides

_SHOWN = 5

# -- before ------------------------------------------------------------------------------------------------------------


def survey(
    source: Source, catalog: Catalog, overrides: QuotaOverrides, *, skip_unknown: bool
) -> tuple[list[str], list[str]]:
    """Returns what prevents an import, and what is only worth knowing. With `skip_unknown`, resources that are not
    configured here are no problem."""
    unknown = dict(_unknown_resources(source, catalog))
    empty = [f"{'/'.join(ref)} is not configured here; nothing of it is in use" for ref in unknown if not unknown[ref]]
    used = [f"{'/'.join(ref)} is not configured here: {holdings}" for ref, holdings in unknown.items() if holdings]
    problems = [*source.lost(), *_zones(source, catalog), *_quota_tracking(source, catalog), *_units(source, catalog)]
    if not skip_unknown:
        problems += [f"{text} (configure it, or leave it behind with --skip-unknown)" for text in used]
    notes = [*empty, *(used if skip_unknown else ()), *_overrides(source, catalog, overrides)]
    return problems, notes


def _unknown_resources(source: Source, catalog: Catalog) -> Iterator[tuple[Ref, str]]:
    """Yields resources that are not configured here, each with how much of it is in use; empty if nothing is."""
    layout, nothing = source.layout, Value(0)
    quotas, usages, commitments = layout.quotas.alias("q"), layout.usages.alias("u"), layout.commitments.alias("c")
    promised = Case(None, [(_is_live(commitments.c), 1)], 0)
    names = ("quota", "usage", "promised")
    rows = (
        _by_resource(
            quotas, fn.COALESCE(quotas.c.quota, 0).alias(names[0]), nothing.alias(names[1]), nothing.alias(names[2])
        )
        .union_all(_by_resource(usages, nothing, usages.c.usage, nothing))
        .union_all(_by_resource(commitments, nothing, nothing, promised))
        .alias("x")
    )
    key = (rows.c.service, rows.c.resource)
    sums = (fn.SUM(getattr(rows.c, name)) for name in names)
    for service, resource, quota, usage, committed in source.engine.tuples(
        Select([rows], [*key, *sums]).group_by(*key).order_by(*key)
    ):
        if catalog.find((service, resource)) is None:
            amounts = {"quota": quota, "usage": usage, "commitments that hold": committed}
            yield (service, resource), ", ".join(f"{name} {value}" for name, value in amounts.items() if value)


def _by_resource(rows: Any, *columns: Any) -> Any:
    return Select([rows], [rows.c.service, rows.c.resource, *columns])


def _is_live(commitment: Any) -> Any:
    return commitment.superseded_at.is_null() & commitment.state.not_in(["superseded", "expired", "deleted"])


def _zones(source: Source, catalog: Catalog) -> Iterator[str]:
    known = {*catalog.availability_zones, ANY_AZ, UNKNOWN_AZ}
    usages, commitments = source.layout.usages.alias("u"), source.layout.commitments.alias("c")
    used = Select([usages], [usages.c.az]).where(usages.c.usage > 0)
    committed = Select([commitments], [commitments.c.az]).where(_is_live(commitments.c))
    for az in sorted({az for (az,) in source.engine.tuples(used.union(committed))} - known):
        yield f"the availability zone {az!r} is in use there, and not in availability_zones here"


def _quota_tracking(source: Source, catalog: Catalog) -> Iterator[str]:
    quotas = source.layout.quotas.alias("q")
    key = (quotas.c.service, quotas.c.resource)
    rows: Any = _by_resource(quotas, fn.SUM(quotas.c.quota)).where(quotas.c.quota > 0)
    for service, name, quota in source.engine.tuples(rows.group_by(*key).order_by(*key)):
        resource = catalog.find((service, name))
        if resource is not None and not resource.tracks_quota:
            yield f"{service}/{name} has quota there ({quota}), and tracks none here: look at the service's params"


def _units(source: Source, catalog: Catalog) -> Iterator[str]:
    """Yields resources that are measured in another unit here: amounts are copied as they are."""
    units = source.layout.units
    for service, name, unit in source.engine.tuples(units) if units is not None else ():
        resource = catalog.find((service, name))
        if resource is not None and resource.unit.value != unit:
            ours = resource.unit.value or "pieces"
            yield f"{service}/{name} is measured in {unit or 'pieces'} there, and in {ours} here"


def _overrides(source: Source, catalog: Catalog, ours: QuotaOverrides) -> Iterator[str]:
    differing = []
    for row in source.stream("overrides", OverrideRow, ("domain", "project", "service", "resource")):
        ref = (row.service, row.resource)
        if catalog.find(ref) and ours.for_project(ref, row.domain, row.project) != row.override:
            differing.append(f"{row.domain}/{row.project} {'/'.join(ref)} {row.override}")
    if differing:
        more = f" and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
        listed = f"{', '.join(differing[:_SHOWN])}{more}"
        yield f"quota overrides there that quota_overrides_path does not have here: {listed}"


# -- after -------------------------------------------------------------------------------------------------------------

Figures = Mapping[tuple[str, ...], tuple[int | None, ...]]
"""Numbers by `(service, resource, az)`, or the first of these."""


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
    "bounds": (2, lambda c: [_sum(c.max_quota), fn.SUM(Case(None, [(c.forbids_autogrowth, 1)], 0))]),
    "az_quotas": (3, lambda c: [fn.COUNT(1), fn.SUM(c.quota)]),
    "commitments": (3, lambda c: [fn.COUNT(1), fn.SUM(c.amount), fn.COUNT(c.confirmed_at), fn.COUNT(c.superseded_at)]),
}
"""How each kind of rows is summed up: by how many of service, resource and AZ; and which sums, given the columns."""
_KEYS = ("service", "resource", "az")
_GROWING = ("bounds", "az_quotas")
"""Copied only for resources whose quota grows by itself."""
_NAMES = {
    "projects": "projects and their domains",
    "capacity": "capacity and its usage",
    "domain_quotas": "quota of domains",
    "quotas": "projects with a quota, their quota, and the backends'",
    "usages": "entries of usage, usage, and physical usage",
    "bounds": "max_quota, and projects that forbid growth",
    "az_quotas": "quotas by AZ, and their sum",
    "commitments": "commitments, their amount, and how many were confirmed and superseded",
}


def _of_resource(*columns: Any) -> Rows:
    """Returns these columns of a table that refers to resources, with the names of service and resource."""
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
    "bounds": _of_resource(ProjectResource.max_quota, ProjectResource.forbids_autogrowth).where(
        ProjectResource.max_quota.is_null(False) | ProjectResource.forbids_autogrowth
    ),
    "az_quotas": _of_resource(models.ProjectAZQuota.az, models.ProjectAZQuota.quota),
    "commitments": _of_resource(Commitment.az, Commitment.amount, Commitment.confirmed_at, Commitment.superseded_at),
}


def differences(source: Source, ours: Engine, catalog: Catalog) -> list[str]:
    """Returns a line for each figure that differs. Only our resources count."""
    resources = set(catalog.refs())
    growing = set(compute.growing_resources(catalog))
    lines = []
    for kind, name in _NAMES.items():
        known = growing if kind in _GROWING else resources
        there = _figures(source.engine, kind, source.rows_of(kind), known)
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
