"""What a cloud admin has to look after: `limes inconsistency` and `limes scrape error`."""

import argparse
from typing import ClassVar

from limes_osc.amounts import Amount, shown_unit, time, unit_of
from limes_osc.base import Columns, LimesLister, Options, Row, Table
from limes_osc.client import Json
from limes_osc.options import add_filters, add_unit, filters_of, selects


class ListInconsistencies(LimesLister):
    """List quotas that contradict themselves, usage or the backends"""

    options: ClassVar[Options] = (add_filters, add_unit)
    _columns = Columns(
        [
            "Kind",
            "Domain Name",
            "Project ID",
            "Project Name",
            "Service",
            "Resource",
            "Quota",
            "Projects Quota",
            "Usage",
            "Backend Quota",
        ],
        {"Project ID", "Project Name", "Projects Quota", "Usage", "Backend Quota"},
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """One row for each finding of the three kinds."""
        kinds = self.limes.get("/inconsistencies", filters_of(parsed_args))["inconsistencies"]
        rows = (
            _finding(kind, one, parsed_args)
            for kind, found in kinds.items()
            for one in found
            if selects(parsed_args, one["service"], one["resource"])
        )
        return self.table(parsed_args, self._columns, rows)


def _finding(kind: str, one: Json, args: argparse.Namespace) -> Row:
    unit, project = unit_of(one), one.get("project", {})
    figures = {
        "Quota": one.get("quota", one.get("domain_quota")),
        "Projects Quota": one.get("projects_quota"),
        "Usage": one.get("usage"),
        "Backend Quota": one.get("backend_quota"),
    }
    return {
        "Kind": kind,
        "Domain Name": (project or one)["domain"]["name"],
        "Project ID": project.get("id"),
        "Project Name": project.get("name"),
        "Service": one["service"],
        "Resource": one["resource"],
        **{
            title: Amount(value, unit, args.unit, exactly=True) for title, value in figures.items() if value is not None
        },
        "Unit": shown_unit(one, args.unit),
    }


class ListScrapeErrors(LimesLister):
    """List scrapes that fail, one for each service and message"""

    options: ClassVar[Options] = (add_filters,)
    _columns = Columns(
        ["Service", "Domain Name", "Project ID", "Project Name", "Affected Projects", "Checked At", "Message"],
        unit=False,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """One row for each group of projects; the first of them is named."""
        found = self.limes.get("/admin/scrape-errors", filters_of(parsed_args))["scrape_errors"]
        rows: list[Row] = [
            {
                "Service": one["service_type"],
                "Domain Name": one["project"]["domain"]["name"],
                "Project ID": one["project"]["id"],
                "Project Name": one["project"]["name"],
                "Affected Projects": one.get("affected_projects", 1),
                "Checked At": time(one["checked_at"]),
                "Message": one["message"],
            }
            for one in found
        ]
        return self.table(parsed_args, self._columns, rows)
