"""What of the source has no place here, found before anything is written."""

from collections.abc import Iterator
from dataclasses import dataclass

from limes.core.catalog import ANY_AZ, UNKNOWN_AZ, Catalog, Ref
from limes.importer.source import Source

_LIVE = "superseded_at IS NULL AND state NOT IN ('superseded', 'expired', 'deleted')"


@dataclass(frozen=True, slots=True)
class Survey:
    """What stands in the way, and what is only worth knowing."""

    problems: tuple[str, ...]
    notes: tuple[str, ...]


def survey(source: Source, catalog: Catalog, *, skip_unknown: bool) -> Survey:
    """Looks at the source. With `skip_unknown`, resources that are not configured here are no problem."""
    unknown = dict(_unknown_resources(source, catalog))
    empty = [f"{'/'.join(ref)} is not configured here; nothing of it is in use" for ref in unknown if not unknown[ref]]
    used = [f"{'/'.join(ref)} is not configured here: {what}" for ref, what in unknown.items() if what]
    problems = [*source.lost(), *_zones(source, catalog), *_quota_tracking(source, catalog), *_units(source, catalog)]
    if not skip_unknown:
        problems += [f"{text} (configure it, or leave it behind with --skip-unknown)" for text in used]
    return Survey(tuple(problems), tuple([*empty, *(used if skip_unknown else ())]))


def _unknown_resources(source: Source, catalog: Catalog) -> Iterator[tuple[Ref, str]]:
    """Each, with how much of it is in use; empty if nothing is."""
    layout = source.layout
    columns = "service, resource"
    parts = (
        f"SELECT {columns}, COALESCE(quota, 0) AS quota, 0 AS usage, 0 AS promised FROM ({layout.quotas}) q",
        f"SELECT {columns}, 0, usage, 0 FROM ({layout.usages}) u",
        f"SELECT {columns}, 0, 0, CASE WHEN {_LIVE} THEN 1 ELSE 0 END FROM ({layout.commitments}) c",
    )
    rows = source.rows(
        f"SELECT {columns}, SUM(quota), SUM(usage), SUM(promised) FROM ({' UNION ALL '.join(parts)}) x"
        f" GROUP BY {columns} ORDER BY {columns}"
    )
    for service, resource, quota, usage, promised in rows:
        if catalog.find((service, resource)) is None:
            amounts = {"quota": quota, "usage": usage, "commitments that hold": promised}
            yield (service, resource), ", ".join(f"{name} {value}" for name, value in amounts.items() if value)


def _zones(source: Source, catalog: Catalog) -> Iterator[str]:
    """AZs that are used there and not configured here."""
    known = {*catalog.availability_zones, ANY_AZ, UNKNOWN_AZ}
    rows = source.rows(
        f"SELECT az, SUM(usage), SUM(promised) FROM (SELECT az, usage, 0 AS promised FROM ({source.layout.usages}) u"
        f" UNION ALL SELECT az, 0, 1 FROM ({source.layout.commitments}) c WHERE {_LIVE}) x GROUP BY az ORDER BY az"
    )
    for az, usage, promised in rows:
        if az not in known and (usage or promised):
            yield f"the availability zone {az!r} is in use there, and not in availability_zones here"


def _quota_tracking(source: Source, catalog: Catalog) -> Iterator[str]:
    """Resources that have quota there, and not here."""
    rows = source.rows(
        f"SELECT service, resource, SUM(quota) FROM ({source.layout.quotas}) q WHERE quota > 0"
        " GROUP BY service, resource ORDER BY service, resource"
    )
    for service, name, quota in rows:
        resource = catalog.find((service, name))
        if resource is not None and not resource.tracks_quota:
            yield f"{service}/{name} has quota there ({quota}), and tracks none here: look at the service's params"


def _units(source: Source, catalog: Catalog) -> Iterator[str]:
    """Resources that are measured in another unit here: amounts are copied as they are."""
    for service, name, unit in source.rows(source.layout.units) if source.layout.units else ():
        resource = catalog.find((service, name))
        if resource is not None and resource.unit.value != unit:
            ours = resource.unit.value or "pieces"
            yield f"{service}/{name} is measured in {unit or 'pieces'} there, and in {ours} here"
