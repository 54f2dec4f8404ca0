"""What of the source has no place here, found before anything is written."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from peewee import Case, Select, Value, fn

from limes.core.catalog import ANY_AZ, UNKNOWN_AZ, Catalog, Ref
from limes.importer.source import Source


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
    for service, resource, quota, usage, held in source.tuples(
        Select([rows], [*key, *sums]).group_by(*key).order_by(*key)
    ):
        if catalog.find((service, resource)) is None:
            amounts = {"quota": quota, "usage": usage, "commitments that hold": held}
            yield (service, resource), ", ".join(f"{name} {value}" for name, value in amounts.items() if value)


def _by_resource(rows: Any, *columns: Any) -> Any:
    return Select([rows], [rows.c.service, rows.c.resource, *columns])


def _is_live(commitment: Any) -> Any:
    return commitment.superseded_at.is_null() & commitment.state.not_in(["superseded", "expired", "deleted"])


def _zones(source: Source, catalog: Catalog) -> Iterator[str]:
    """AZs that are used there and not configured here."""
    known = {*catalog.availability_zones, ANY_AZ, UNKNOWN_AZ}
    usages, commitments = source.layout.usages.alias("u"), source.layout.commitments.alias("c")
    used = Select([usages], [usages.c.az]).where(usages.c.usage > 0)
    committed = Select([commitments], [commitments.c.az]).where(_is_live(commitments.c))
    for az in sorted({az for (az,) in source.tuples(used.union(committed))} - known):
        yield f"the availability zone {az!r} is in use there, and not in availability_zones here"


def _quota_tracking(source: Source, catalog: Catalog) -> Iterator[str]:
    """Resources that have quota there, and not here."""
    quotas = source.layout.quotas.alias("q")
    key = (quotas.c.service, quotas.c.resource)
    rows: Any = _by_resource(quotas, fn.SUM(quotas.c.quota)).where(quotas.c.quota > 0)
    for service, name, quota in source.tuples(rows.group_by(*key).order_by(*key)):
        resource = catalog.find((service, name))
        if resource is not None and not resource.tracks_quota:
            yield f"{service}/{name} has quota there ({quota}), and tracks none here: look at the service's params"


def _units(source: Source, catalog: Catalog) -> Iterator[str]:
    """Resources that are measured in another unit here: amounts are copied as they are."""
    units = source.layout.units
    for service, name, unit in source.tuples(units) if units is not None else ():
        resource = catalog.find((service, name))
        if resource is not None and resource.unit.value != unit:
            ours = resource.unit.value or "pieces"
            yield f"{service}/{name} is measured in {unit or 'pieces'} there, and in {ours} here"
