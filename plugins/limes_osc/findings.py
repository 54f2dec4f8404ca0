"""What a cloud admin has to look after: `limes inconsistency` and `limes scrape error`."""

import argparse
from typing import ClassVar

from limes_osc.amounts import Amount, shown_unit, unit_of
from limes_osc.base import LimesLister, Options, Table
from limes_osc.cells import Text
from limes_osc.client import Json
from limes_osc.columns import Columns, Row
from limes_osc.options import add_filters, add_long, add_unit, filters_of, selects
from limes_osc.times import moment

_WORDS = {
    "domain_quota_overcommitted": "projects have {projects_quota}\nof {quota}",
    "project_quota_overspent": "usage {usage}\nabove {quota}",
    "project_quota_mismatch": "backend has {backend_quota}\ninstead of {quota}",
}
"""What a finding says to people, with the names of its figures."""


class ListInconsistencies(LimesLister):
    """List quotas that contradict each other, usage or the backends"""

    nothing = "No inconsistencies."
    options: ClassVar[Options] = (add_filters, add_long, add_unit)
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
        optional={"Project ID", "Project Name", "Projects Quota", "Usage", "Backend Quota"},
        hidden={"Project ID", "Quota", "Projects Quota", "Usage", "Backend Quota"},
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
    keys = {"Quota": "quota", "Projects Quota": "projects_quota", "Usage": "usage", "Backend Quota": "backend_quota"}
    if "domain_quota" in document:
        keys["Quota"] = "domain_quota"
    figures = {
        title: Amount(document[key], unit, args.unit, exactly=True)
        for title, key in keys.items()
        if document.get(key) is not None
    }
    words = {title.lower().replace(" ", "_"): amount.human_readable() for title, amount in figures.items()}
    return {
        "Kind": Text(kind, _WORDS[kind].format_map(words) if kind in _WORDS else None),
        "Domain Name": (project or document)["domain"]["name"],
        "Project ID": project.get("id"),
        "Project Name": project.get("name"),
        "Service": document["service"],
        "Resource": document["resource"],
        **figures,
        "Unit": shown_unit(document, args.unit),
    }


class ListScrapeErrors(LimesLister):
    """List scrapes that fail, one row for each service and message"""

    nothing = "No scrape fails."
    options: ClassVar[Options] = (add_filters, add_long)
    _columns = Columns(
        ["Service", "Domain Name", "Project ID", "Project Name", "Affected Projects", "Checked At", "Message"],
        hidden={"Domain Name", "Project ID", "Affected Projects"},
        unit=False,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each group of projects; the first of them is named."""
        groups = self.limes.get("/admin/scrape-errors", filters_of(parsed_args))["scrape_errors"]
        return self.table(parsed_args, self._columns, map(_scrape_error, groups))


def _scrape_error(group: Json) -> Row:
    project, affected = group["project"], group.get("affected_projects", 1)
    others = f" and {affected - 1} more" if affected > 1 else ""
    return {
        "Service": group["service_type"],
        "Domain Name": project["domain"]["name"],
        "Project ID": project["id"],
        "Project Name": Text(project["name"], f"{project['name']}{others}", width=20),
        "Affected Projects": affected,
        "Checked At": moment(group["checked_at"]),
        "Message": Text(group["message"]),
    }
