"""Reports of the cluster, of domains and of projects: a row for each resource, or for each of its AZs."""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from limes.kernel.units import Unit
from limes_osc import base, quota_changes
from limes_osc.client import Json
from limes_osc.columns import Cell, Columns, Row, Text, age, amount, at, named, shown, value_at
from limes_osc.values import Amount, unit_of

_PER_AZ = {"X-Limes-V2-API-Preview": "per-az"}
"""The header that asks for the breakdown."""

_SEEN = ("usage", "burst_usage", "physical_usage")
_FIGURES: Mapping[str, Sequence[str]] = {
    "cluster": ("capacity", "raw_capacity", "domains_quota", *_SEEN),
    "domain": ("quota", "projects_quota", *_SEEN, "backend_quota"),
    "project": ("quota", "usable_quota", *_SEEN, "backend_quota", "max_quota", "min_quota"),
}
_AZ_FIGURES: Mapping[str, Sequence[str]] = {
    "cluster": (
        *("capacity", "raw_capacity", "domains_quota"),
        *("usage", "projects_usage", "physical_usage", "unused_commitments"),
    ),
    "domain": ("quota", "usage", "unused_commitments"),
    "project": ("quota", "usage", "physical_usage"),
}
_BY_DURATION = {"Committed": "committed", "Pending": "pending_commitments", "Planned": "planned_commitments"}
_MAIN = {"Quota", "Capacity", "Usage"}
"""Figures that tables show even if all are empty."""
_HIDDEN = {"Raw Capacity", "Burst Usage", "Physical Usage", "Projects Usage", "Unused Commitments"}
"""Figures that tables show with `--long` only."""
_HIDDEN_IN_LISTS = {"Usable Quota", "Backend Quota", "Domain ID", "Project ID"}
_COMPARED = {"domain": "Projects Quota", "project": "Quota"}
"""What a backend should enforce."""
_PARTS = {"cluster": "subcapacities", "project": "subresources"}


def _by_duration(key: str, entry: Json, wanted: Unit | None) -> Text | None:
    """Amounts of commitments by duration: a line for each, such as `10 (1 year)`; for programs an object."""
    figures, unit = entry["figures"].get(key), unit_of(entry)
    if figures is None:
        return None
    amounts = {duration: Amount(figure, unit, wanted) for duration, figure in figures.items()}
    words = "\n".join(f"{each.human_readable()} ({duration})" for duration, each in amounts.items())
    return Text({duration: each.machine_readable() for duration, each in amounts.items()}, words, width=0)


def _usable_quota(entry: Json, wanted: Unit | None) -> Amount | None:
    """Returns nothing where nothing bursts."""
    figures = entry["figures"]
    usable = figures.get("usable_quota")
    return None if usable in (None, figures.get("quota")) else Amount(usable, unit_of(entry), wanted)


def _backend_quota(entry: Json, wanted: Unit | None) -> Amount | None:
    figures = entry["figures"]
    quota = -1 if figures.get("infinite_backend_quota") else figures.get("backend_quota")
    return None if quota is None else Amount(quota, unit_of(entry), wanted)


def _parts(key: str, entry: Json, _: Unit | None) -> Text | None:
    """Objects that only backends know: people see how many, programs see all."""
    return Text(parts, str(len(parts))) if (parts := entry["figures"].get(key)) else None


_DESCRIPTION: dict[str, Cell] = {
    "Area": "service.area",
    "Category": "resource.category",
    "Contained In": "resource.contained_in",
    "Model": "resource.quota_distribution_model",
    "Durations": lambda entry, _: ", ".join(value_at(entry, "resource.commitment_config.durations") or ()) or None,
    "Scraped At": at("scraped_at"),
    "Stale For": shown(age, "service.age_seconds"),
    "Problem": shown(Text, "service.scrape_problem.message"),
}


REPORT: base.Options = (
    *(base.add_filters, base.add_unit, base.add_long),
    base.option("--per-az", action="store_true", help="One row for each availability zone"),
    base.option("--detail", action="store_true", help="Show what backends report on single objects"),
)


class LimesReport(base.LimesLister):
    def read(self, args: argparse.Namespace, path: str, **values: Any) -> Json:
        query = [*base.filters_of(args), *base.pairs_of({"detail": "" if args.detail else None, **values})]
        return self.limes.get(path, query, _PER_AZ if args.per_az else {})

    def report(
        self, args: argparse.Namespace, level: str, reports: Iterable[Json], whose: Mapping[str, Cell] | None = None
    ) -> base.Table:
        """Returns the rows of reports of a level (`cluster`, ...), with `whose` in front of each."""
        columns = columns_of(level, args, whose or {})
        entries = (entry for report in reports for entry in _entries(report, args))
        return self.table(args, columns, (columns.row(entry, args.unit) for entry in entries))


def _entries(report: Json, args: argparse.Namespace) -> Iterator[Json]:
    """Yields what a row each is made of: the report, a service, a resource, and figures of this or of an AZ."""
    for service in report["services"]:
        scraped_at = service.get("scraped_at", service.get("min_scraped_at"))
        for resource in service["resources"]:
            if base.selects(args, service["type"], resource["name"]):
                entry = {"report": report, "service": service, "resource": resource, "scraped_at": scraped_at}
                entry["unit"] = resource.get("unit", "")
                if args.per_az:
                    for az, figures in resource.get("per_az", {}).items():
                        yield {**entry, "az": az, "figures": figures}
                else:
                    yield {**entry, "figures": resource}


def columns_of(level: str, args: argparse.Namespace, whose: Mapping[str, Cell]) -> Columns:
    known = (_AZ_FIGURES if args.per_az else _FIGURES)[level]
    figures = named(lambda key: amount(f"figures.{key}"), *known)
    if args.per_az:
        figures |= {title: partial(_by_duration, key) for title, key in _BY_DURATION.items()}
    else:
        special: dict[str, Cell] = {"Usable Quota": _usable_quota, "Backend Quota": _backend_quota}
        figures |= {title: cell for title, cell in special.items() if title in figures}
        if level != "cluster":
            figures["Temporary"] = lambda entry, _: quota_changes.temporary_quota(entry["resource"])
        if level == "project":
            figures["Autogrowth"] = lambda entry, _: "forbidden" if entry["resource"].get("forbid_autogrowth") else None
    if args.detail and level in _PARTS:
        key = _PARTS[level]
        figures[key.title()] = partial(_parts, key)
    head = {**whose, "Service": "service.type", "Resource": "resource.name", **({"AZ": "az"} if args.per_az else {})}
    return Columns(
        {**head, **figures, **_DESCRIPTION},
        # few resources have a quota for each AZ
        optional={*figures, *_DESCRIPTION} - (_MAIN - {"Quota"} if args.per_az else _MAIN),
        hidden=_HIDDEN | (_HIDDEN_IN_LISTS if whose else set()),
        notable={"Backend Quota": partial(_is_other_in_backend, _COMPARED.get(level, ""))},
        more=_DESCRIPTION,
    )


def _is_other_in_backend(compared: str, row: Row) -> bool:
    backend, wanted = row.get("Backend Quota"), row.get(compared)
    if backend is None or wanted is None:
        return False
    return bool(backend.machine_readable() != wanted.machine_readable())
