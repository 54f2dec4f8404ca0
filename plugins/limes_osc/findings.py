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
        """Returns one row for each finding of the three kinds."""
        kinds = self.limes.get("/inconsistencies", filters_of(parsed_args))["inconsistencies"]
        rows = (
            _finding(kind, finding, parsed_args)
            for kind, findings in kinds.items()
            for finding in findings
            if selects(parsed_args, finding["service"], finding["resource"])
        )
        return self.table(parsed_args, self._columns, rows)


def _finding(kind: str, document: Json, args: argparse.Namespace) -> Row:
    unit, project = unit_of(document), document.get("project", {})
    figures = {
        "Quota": document.get("quota", document.get("domain_quota")),
        "Projects Quota": document.get("projects_quota"),
        "Usage": document.get("usage"),
        "Backend Quota": document.get("backend_quota"),
    }
    return {
        "Kind": kind,
        "Domain Name": (project or document)["domain"]["name"],
        "Project ID": project.get("id"),
        "Project Name": project.get("name"),
        "Service": document["service"],
        "Resource": document["resource"],
        **{
            title: Amount(value, unit, args.unit, exactly=True) for title, value in figures.items() if value is not None
        },
        "Unit": shown_unit(document, args.unit),
    }


class ListScrapeErrors(LimesLister):
    """List scrapes that fail, one for each service and message"""

    options: ClassVar[Options] = (add_filters,)
    _columns = Columns(
        ["Service", "Domain Name", "Project ID", "Project Name", "Affected Projects", "Checked At", "Message"],
        unit=False,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each group of projects; the first of them is named."""
        groups = self.limes.get("/admin/scrape-errors", filters_of(parsed_args))["scrape_errors"]
        rows: list[Row] = [
            {
                "Service": group["service_type"],
                "Domain Name": group["project"]["domain"]["name"],
                "Project ID": group["project"]["id"],
                "Project Name": group["project"]["name"],
                "Affected Projects": group.get("affected_projects", 1),
                "Checked At": time(group["checked_at"]),
                "Message": group["message"],
            }
            for group in groups
        ]
        return self.table(parsed_args, self._columns, rows)
