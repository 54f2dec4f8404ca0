"""What a cloud admin has to look after: `limes inconsistency` and `limes scrape error`."""

import argparse
from collections.abc import Iterable

from limes.core.units import Unit
from limes_osc.amounts import Amount, unit_of
from limes_osc.base import Listing
from limes_osc.client import Json
from limes_osc.columns import Columns, Text, amount, at, shown
from limes_osc.options import add_filters, add_long, add_unit, selected

_WORDS = {
    "domain_quota_overcommitted": "projects have {projects_quota}\nof {quota}",
    "project_quota_overspent": "usage {usage}\nabove {quota}",
    "project_quota_mismatch": "backend has {backend_quota}\ninstead of {quota}",
}
"""What a finding says to people, with the names of its figures."""
_FIGURES = ("quota", "projects_quota", "usage", "backend_quota")


def _kind(finding: Json, wanted: Unit | None) -> Text:
    kind, unit = finding["kind"], unit_of(finding)
    figures = {name: finding[name] for name in _FIGURES if finding.get(name) is not None}
    words = {name: Amount(figure, unit, wanted, exactly=True).human_readable() for name, figure in figures.items()}
    return Text(kind, _WORDS[kind].format_map(words) if kind in _WORDS else None)


class ListInconsistencies(Listing):
    """List quotas that contradict each other, usage or the backends"""

    nothing = "No inconsistencies."
    options = [add_filters, add_long, add_unit]
    columns = Columns(
        {
            "Kind": _kind,
            "Domain Name": "domain.name",
            "Project ID": "project.id",
            "Project Name": "project.name",
            "Service": "service",
            "Resource": "resource",
            "Quota": amount("quota", exactly=True),
            "Projects Quota": amount("projects_quota", exactly=True),
            "Usage": amount("usage", exactly=True),
            "Backend Quota": amount("backend_quota", exactly=True),
        },
        optional={"Project ID", "Project Name", "Projects Quota", "Usage", "Backend Quota"},
        hidden={"Project ID", "Quota", "Projects Quota", "Usage", "Backend Quota"},
    )

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        """Yields the findings of the three kinds. All have a domain and a quota, whosever they are."""
        for kind, findings in self.query(args, "/inconsistencies")["inconsistencies"].items():
            for finding in selected(args, findings):
                quota = finding.get("domain_quota", finding.get("quota"))
                domain = finding.get("project", finding)["domain"]
                yield {**finding, "kind": kind, "domain": domain, "quota": quota}


def _project_name(group: Json, _: Unit | None) -> Text:
    name, affected = group["project"]["name"], group["affected_projects"]
    return Text(name, f"{name} and {affected - 1} more" if affected > 1 else name, width=20)


class ListScrapeErrors(Listing):
    """List scrapes that fail, one row for each service and message"""

    nothing = "No scrape fails."
    options = [add_filters, add_long]
    columns = Columns(
        {
            "Service": "service_type",
            "Domain Name": "project.domain.name",
            "Project ID": "project.id",
            "Project Name": _project_name,
            "Affected Projects": "affected_projects",
            "Checked At": at("checked_at"),
            "Message": shown(Text, "message"),
        },
        hidden={"Domain Name", "Project ID", "Affected Projects"},
        unit=False,
    )

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        """Returns a row for each group of projects; the first of them is named."""
        groups = self.found(args, "/admin/scrape-errors", "scrape_errors")
        return ({"affected_projects": 1, **group} for group in groups)
