"""`per_az`, the breakdown by AZ that clients of the original ask for with `X-Limes-V2-API-Preview: per-az`.

The key `any` has what a project has not bound to an AZ. It is left out if it is empty and there are other keys.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from limes.api.answers import ByDuration
from limes.catalog.catalog import ANY_AZ, Catalog
from limes.catalog.queries import AZCapacityRow
from limes.kernel.units import effective_capacity
from limes.kernel.validation.shape import Amount, Shape
from limes.reports import cluster, resources
from limes.usage.project_figures import ProjectAZRow
from limes.web.encoding import MAX_SHOWN

QuotaByAZ = Annotated[int, Field(ge=0, description="Where quota grows by itself")]


class ProjectPerAZ(Shape):
    """Quota and usage of a project's resource in one availability zone."""

    quota: QuotaByAZ | None = None
    usage: Amount
    physical_usage: Amount | None = None
    committed: ByDuration | None = None
    unused_commitments: Amount | None = None
    pending_commitments: ByDuration | None = None
    planned_commitments: ByDuration | None = None
    subresources: list[Any] | None = None


class DomainPerAZ(Shape):
    """Usage of a domain's resource in one availability zone, and the quota of its projects there."""

    quota: QuotaByAZ | None = None
    usage: Amount
    committed: ByDuration | None = None
    unused_commitments: Amount | None = None
    pending_commitments: ByDuration | None = None
    planned_commitments: ByDuration | None = None


class ClusterPerAZ(Shape):
    """The same, for the breakdown; `usage` is what the capacitor says."""

    capacity: Amount
    raw_capacity: Amount | None = None
    usage: Amount | None = None
    subcapacities: list[Any] | None = None
    domains_quota: QuotaByAZ | None = None
    projects_usage: Amount | None = None
    physical_usage: Amount | None = None
    committed: ByDuration | None = None
    unused_commitments: Amount | None = None
    pending_commitments: ByDuration | None = None
    planned_commitments: ByDuration | None = None


_NOTHING = cluster.AZFigures()
_NAMES = {"confirmed": "committed", "pending": "pending_commitments", "planned": "planned_commitments"}
"""By status."""


def project_azs(
    catalog: Catalog,
    rows: Sequence[ProjectAZRow],
    figures: Mapping[str, cluster.AZFigures],
    quotas: Mapping[str, int] | None,
    *,
    detail: bool,
) -> dict[str, ProjectPerAZ]:
    """Renders one resource of a project: usage, commitments, and quota where it is given by AZ."""
    by_az = {row.az: row for row in rows}
    given = {az for az, quota in (quotas or {}).items() if quota}
    busy = {row.az for row in rows if row.usage} | set(figures) | given
    document = {}
    for az in _shown(catalog, {ANY_AZ, *by_az, *figures, *given}, busy):
        row = by_az.get(az)
        document[az] = ProjectPerAZ(
            quota=None if quotas is None else quotas.get(az, 0),
            usage=row.usage if row else 0,
            physical_usage=row.physical_usage if row else None,
            subresources=resources.json_lists([row.subresources]) if detail and row and row.subresources else None,
            **_commitments(figures.get(az, _NOTHING)),
        )
    return document


def domain_azs(catalog: Catalog, figures: Mapping[str, cluster.AZFigures]) -> dict[str, DomainPerAZ]:
    """Renders one resource of a domain: usage, commitments and, where it is given by AZ, quota of all its projects."""
    document = {}
    for az in _shown(catalog, {ANY_AZ, *figures}, _busy(figures)):
        of_az = figures.get(az, _NOTHING)
        document[az] = DomainPerAZ(quota=of_az.quota, usage=of_az.usage or 0, **_commitments(of_az))
    return document


def cluster_azs(
    catalog: Catalog,
    rows: Sequence[AZCapacityRow],
    figures: Mapping[str, cluster.AZFigures],
    overcommit: float,
    *,
    subcapacities: bool,
) -> dict[str, ClusterPerAZ]:
    """Renders one resource of the cluster: capacity, usage as the capacitor measures it, and usage of all projects."""
    by_az = {row.az: row for row in rows}
    busy = _busy(figures) | {row.az for row in rows if row.raw_capacity}
    document = {}
    for az in _shown(catalog, {*by_az, *figures}, busy):
        row, of_az = by_az.get(az), figures.get(az, _NOTHING)
        document[az] = ClusterPerAZ(
            **capacity_fields(row.raw_capacity if row else 0, overcommit),
            usage=row.usage if row else None,
            subcapacities=(resources.json_lists([row.subcapacities]) or None) if subcapacities and row else None,
            domains_quota=of_az.quota,
            projects_usage=of_az.usage or None,
            physical_usage=of_az.physical_usage,
            **_commitments(of_az),
        )
    return document


def committed(figures: Mapping[str, cluster.AZFigures]) -> int | None:
    """Returns the sum of confirmed commitments; None if there are none."""
    amounts = (amount for each in figures.values() for amount in each.commitments.get("confirmed", {}).values())
    return min(sum(amounts), MAX_SHOWN) or None


def capacity_fields(raw_capacity: int, overcommit: float) -> dict[str, Any]:
    """Returns the capacity and, if that is not the same, the raw capacity."""
    capacity = effective_capacity(raw_capacity, overcommit)
    return {"capacity": capacity, "raw_capacity": None if raw_capacity == capacity else raw_capacity}


def _commitments(figures: cluster.AZFigures) -> dict[str, Any]:
    """Returns the kinds of commitments that there are."""
    if figures is _NOTHING:
        return {}
    found: dict[str, Any] = {
        _NAMES[status]: {duration: min(amount, MAX_SHOWN) for duration, amount in sorted(amounts.items())}
        for status, amounts in figures.commitments.items()
    }
    return found | {"unused_commitments": figures.unused} if figures.unused else found


def _busy(figures: Mapping[str, cluster.AZFigures]) -> set[str]:
    return {az for az, each in figures.items() if each.usage or each.quota or _commitments(each)}


def _shown(catalog: Catalog, azs: set[str], busy: set[str]) -> list[str]:
    """Returns the AZs in their order, without `any` if it is empty and there are others."""
    if ANY_AZ not in busy and len(azs) > 1:
        azs = azs - {ANY_AZ}
    return sorted(azs, key=catalog.az_order)
