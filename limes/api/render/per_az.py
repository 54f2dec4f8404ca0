"""`per_az`, the breakdown by AZ that clients of the original ask for with `X-Limes-V2-API-Preview: per-az`.

The key `any` has what a project has not bound to an AZ. It is left out if it is empty and there are other keys.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from limes.actions.reports.az_breakdown import AZFigures
from limes.api.render.common import Json, json_lists
from limes.api.shapes.cluster import ClusterPerAZ
from limes.api.shapes.project import DomainPerAZ, ProjectPerAZ
from limes.core.capacity import effective
from limes.core.catalog import ANY_AZ, Catalog
from limes.db.queries.capacity import AZCapacityRow
from limes.db.queries.project_figures import ProjectAZRow


def project_azs(
    catalog: Catalog,
    rows: Sequence[ProjectAZRow],
    figures: Mapping[str, AZFigures],
    quotas: Mapping[str, int] | None,
    *,
    detail: bool,
) -> dict[str, ProjectPerAZ]:
    """Renders one resource of a project: usage, commitments, and quota where it is given by AZ."""
    by_az = {row.az: row for row in rows}
    document: Json = {}
    given = {az for az, quota in (quotas or {}).items() if quota}
    for az in _shown(catalog, {ANY_AZ, *by_az, *figures, *given}, _busy_rows(rows) | set(figures) | given):
        row = by_az.get(az)
        item: Json = {} if quotas is None else {"quota": quotas.get(az, 0)}
        item["usage"] = row.usage if row else 0
        if row and row.physical_usage is not None:
            item["physical_usage"] = row.physical_usage
        item |= _commitments(figures.get(az))
        if detail and row and row.subresources:
            item["subresources"] = json_lists([row.subresources])
        document[az] = item
    return document


def domain_azs(catalog: Catalog, figures: Mapping[str, AZFigures]) -> dict[str, DomainPerAZ]:
    """Renders one resource of a domain: usage, commitments and, where it is given by AZ, quota of all its projects."""
    busy = {az for az, of_az in figures.items() if of_az.usage or of_az.quota or _commitments(of_az)}
    return {az: _domain_az(figures.get(az)) for az in _shown(catalog, {ANY_AZ, *figures}, busy)}


def _domain_az(figures: AZFigures | None) -> DomainPerAZ:
    if figures is None:
        return {"usage": 0}
    item: Json = {} if figures.quota is None else {"quota": figures.quota}
    return cast("DomainPerAZ", item | {"usage": figures.usage or 0} | _commitments(figures))


def cluster_azs(
    catalog: Catalog,
    rows: Sequence[AZCapacityRow],
    figures: Mapping[str, AZFigures],
    overcommit: float,
    *,
    subcapacities: bool,
) -> dict[str, ClusterPerAZ]:
    """Renders one resource of the cluster: capacity, usage as the capacitor measures it, and usage of all projects."""
    by_az = {row.az: row for row in rows}
    busy = {az for az, of_az in figures.items() if of_az.usage or of_az.quota or _commitments(of_az)} | {
        row.az for row in rows if row.raw_capacity
    }
    return {
        az: cast(
            "ClusterPerAZ",
            _capacity(by_az.get(az), overcommit, subcapacities=subcapacities) | _projects(figures.get(az)),
        )
        for az in _shown(catalog, {*by_az, *figures}, busy)
    }


def _capacity(row: AZCapacityRow | None, overcommit: float, *, subcapacities: bool) -> Json:
    if row is None:
        return {"capacity": 0}
    item: Json = {"capacity": effective(row.raw_capacity, overcommit)}
    if item["capacity"] != row.raw_capacity:
        item["raw_capacity"] = row.raw_capacity
    if row.usage is not None:
        item["usage"] = row.usage
    if subcapacities and (shown := json_lists([row.subcapacities])):
        item["subcapacities"] = shown
    return item


def _projects(figures: AZFigures | None) -> Json:
    if figures is None:
        return {}
    item: Json = {} if figures.quota is None else {"domains_quota": figures.quota}
    if figures.usage:
        item["projects_usage"] = figures.usage
    if figures.physical_usage is not None:
        item["physical_usage"] = figures.physical_usage
    return item | _commitments(figures)


def _commitments(figures: AZFigures | None) -> Json:
    """Returns the kinds of commitments that there are."""
    if figures is None:
        return {}
    item: Json = {
        "committed": figures.confirmed,
        "unused_commitments": figures.unused,
        "pending_commitments": figures.pending,
        "planned_commitments": figures.planned,
    }
    return {
        name: dict(sorted(value.items())) if isinstance(value, dict) else value for name, value in item.items() if value
    }


def _shown(catalog: Catalog, azs: set[str], busy: set[str]) -> list[str]:
    """Returns the AZs in their order, without `any` if it is empty and there are others."""
    if ANY_AZ not in busy and len(azs) > 1:
        azs = azs - {ANY_AZ}
    return sorted(azs, key=catalog.az_order)


def _busy_rows(rows: Sequence[ProjectAZRow]) -> set[str]:
    return {row.az for row in rows if row.usage}
