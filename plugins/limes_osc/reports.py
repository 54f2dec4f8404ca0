"""Reports of the cluster, of domains and of projects as rows: one for each resource, or for each of its AZs."""

import argparse
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from limes_osc.amounts import Amount, shown_unit, unit_of
from limes_osc.cells import ByDuration, Listed, Text
from limes_osc.client import Json
from limes_osc.columns import Columns, Row
from limes_osc.options import selects
from limes_osc.temporary import Temporary
from limes_osc.times import Age, moment

PER_AZ = {"X-Limes-V2-API-Preview": "per-az"}
"""The header that asks for the breakdown."""

_SEEN = {"Usage": "usage", "Burst Usage": "burst_usage", "Physical Usage": "physical_usage"}
_FIGURES = {
    "cluster": {
        "Capacity": "capacity",
        "Raw Capacity": "raw_capacity",
        "Domains Quota": "domains_quota",
        **_SEEN,
    },
    "domain": {"Quota": "quota", "Projects Quota": "projects_quota", **_SEEN, "Backend Quota": "backend_quota"},
    "project": {
        "Quota": "quota",
        "Usable Quota": "usable_quota",
        **_SEEN,
        "Backend Quota": "backend_quota",
        "Max Quota": "max_quota",
        "Min Quota": "min_quota",
    },
}
_AZ_FIGURES = {
    "cluster": {
        "Capacity": "capacity",
        "Raw Capacity": "raw_capacity",
        "Domains Quota": "domains_quota",
        "Usage": "usage",
        "Projects Usage": "projects_usage",
        "Physical Usage": "physical_usage",
        "Unused Commitments": "unused_commitments",
    },
    "domain": {"Quota": "quota", "Usage": "usage", "Unused Commitments": "unused_commitments"},
    "project": {"Quota": "quota", "Usage": "usage", "Physical Usage": "physical_usage"},
}
_BY_DURATION = {"Committed": "committed", "Pending": "pending_commitments", "Planned": "planned_commitments"}
_MAIN = {"Quota", "Capacity", "Usage"}
"""Figures that tables show even if all are empty."""
_HIDDEN = {"Raw Capacity", "Burst Usage", "Physical Usage", "Projects Usage", "Unused Commitments"}
"""Figures that tables show with `--long` only."""
_HIDDEN_IN_LISTS = {"Usable Quota", "Backend Quota", "Domain ID", "Project ID"}
_COMPARED = {"domain": "Projects Quota", "project": "Quota"}
"""What a backend should enforce."""
_DESCRIPTION = ("Area", "Category", "Contained In", "Model", "Durations", "Scraped At", "Stale For", "Problem")
_PARTS = {"cluster": "subcapacities", "project": "subresources"}


def columns_of(level: str, args: argparse.Namespace, *whose: str) -> Columns:
    """Returns the columns of a level (`cluster`, `domain` or `project`), with `whose` in front of them."""
    figures = [
        *(_AZ_FIGURES if args.per_az else _FIGURES)[level],
        *(_BY_DURATION if args.per_az else ()),
        *(["Temporary"] if level != "cluster" and not args.per_az else []),
        *(["Autogrowth"] if level == "project" and not args.per_az else []),
        *([_PARTS[level].title()] if args.detail and level in _PARTS else []),
    ]
    head = [*whose, "Service", "Resource", *(["AZ"] if args.per_az else [])]
    return Columns(
        [*head, *figures],
        # few resources have a quota for each AZ
        optional={*figures, *_DESCRIPTION} - (_MAIN - {"Quota"} if args.per_az else _MAIN),
        hidden=_HIDDEN | (_HIDDEN_IN_LISTS if whose else set()),
        notable={"Backend Quota": partial(_is_other_in_backend, _COMPARED.get(level, ""))},
        more=_DESCRIPTION,
    )


def _is_other_in_backend(compared: str, row: Row) -> bool:
    """Returns whether the backend enforces something else than it should."""
    backend, wanted = row.get("Backend Quota"), row.get(compared)
    if backend is None or wanted is None:
        return False
    return bool(backend.machine_readable() != wanted.machine_readable())


def headers_of(args: argparse.Namespace) -> Mapping[str, str]:
    """Returns the headers that the options need."""
    return PER_AZ if args.per_az else {}


def rows_of(level: str, report: Json, args: argparse.Namespace, whose: Row | None = None) -> Iterator[Row]:
    """Yields the rows of one report, each with the cells of `whose`."""
    for service in report["services"]:
        for resource in service["resources"]:
            if selects(args, service["type"], resource["name"]):
                head = {**(whose or {}), **_description(service, resource), "Unit": shown_unit(resource, args.unit)}
                if args.per_az:
                    for az, figures in resource.get("per_az", {}).items():
                        yield {**head, "AZ": az, **_cells(level, _AZ_FIGURES[level], resource, figures, args)}
                else:
                    yield head | _cells(level, _FIGURES[level], resource, resource, args)


def _cells(level: str, titles: Mapping[str, str], resource: Json, figures: Json, args: argparse.Namespace) -> Row:
    """Returns the figures of a resource, or of one of its AZs, by title."""
    unit = unit_of(resource)
    row: Row = {title: Amount(figures[key], unit, args.unit) for title, key in titles.items() if key in figures}
    if figures.get("usable_quota") == figures.get("quota"):  # nothing bursts here
        row.pop("Usable Quota", None)
    if figures.get("infinite_backend_quota"):
        row["Backend Quota"] = Amount(-1, unit, args.unit)
    if "temporary_quota" in figures:
        row["Temporary"] = Temporary(figures["temporary_quota"], unit)
    if figures.get("forbid_autogrowth"):
        row["Autogrowth"] = "forbidden"
    for title, key in _BY_DURATION.items():
        if key in figures:
            row[title] = ByDuration(
                {figure: Amount(amount, unit, args.unit) for figure, amount in figures[key].items()}
            )
    if parts := figures.get(_PARTS.get(level, "")):
        row[_PARTS[level].title()] = Listed(parts)
    return row


def _description(service: Json, resource: Json) -> Row:
    commitments: Any = resource.get("commitment_config", {})
    problem, age = service.get("scrape_problem", {}).get("message"), service.get("age_seconds")
    return {
        "Service": service["type"],
        "Resource": resource["name"],
        "Area": service["area"],
        "Category": resource.get("category"),
        "Contained In": resource.get("contained_in"),
        "Model": resource.get("quota_distribution_model"),
        "Durations": ", ".join(commitments.get("durations", ())) or None,
        "Scraped At": moment(service.get("scraped_at", service.get("min_scraped_at"))),
        "Stale For": None if age is None else Age(age),
        "Problem": None if problem is None else Text(problem),
    }
