"""What needs attention: `limes alert`, `limes inconsistency` and `limes scrape error`."""

import argparse
from collections.abc import Iterable, Mapping

from limes.kernel.units import Unit
from limes_osc import client, quota_changes, values
from limes_osc.base import InScope, Listing, add_filters, add_long, add_unit, option, selected
from limes_osc.columns import Cell, Columns, Text, at, exact_amount, named, shown

_WORDS = {
    "backend_unreachable": "does not answer",
    "capacity_unreachable": "does not answer",
    "capacity_drop": "reports much less\nthan before",
    "scrapes_fail": "fails in {failing_projects} of {projects} projects",
    "quota_not_written": "quota not in force in {unwritten_projects} of {projects} projects",
    "usage_above_quota": "usage {usage}\nabove {quota}",
    "quota_used": "usage {usage}\nof {quota}",
    "auto_renewal_failed": "commitment {id} of {amount}\nis not renewed",
    "commitment_unconfirmed": "commitment {id} of {amount}\nis not confirmed",
    "commitment_expires": "commitment {id} of {amount}\nends",
    "temporary_quota_over": "temporary quota\n{end}",
    "temporary_quota_waits": "raise waits:\n{end}",
    "temporary_quota_ends": "temporary quota\n{end}",
    "domain_quota_overcommitted": "projects have {projects_quota}\nof {quota}",
    "project_quota_overspent": "usage {usage}\nabove {quota}",
    "project_quota_mismatch": "backend has {backend_quota}\ninstead of {quota}",
}
"""What an alert or an inconsistency says to people, with the names of its figures."""


def _kind(finding: client.Json, wanted: Unit | None) -> Text:
    words, kind = {**finding, **finding.get("commitment", {})}, finding["kind"]
    for name in ("quota", "projects_quota", "usage", "backend_quota", "amount"):
        if words.get(name) is not None:
            words[name] = values.Amount(words[name], values.unit_of(finding), wanted, exactly=True).human_readable()
    if end := quota_changes.temporary_quota(finding):
        words["end"] = end.human_readable()
    return Text(kind, _WORDS[kind].format_map(words) if kind in _WORDS else None)


_ABOUT: Mapping[str, Cell] = {
    "Domain Name": "domain.name",
    "Project ID": "project.id",
    "Project Name": "project.name",
    "Service": "service",
    "Resource": "resource",
}


class ListAlerts(InScope, Listing):
    """List what is near its limit, ends soon or fails, in a project, a domain or the whole cloud"""

    nothing = "No alerts."
    options = [
        option("--limit", metavar="<number>", type=int, help="At most this many (default: 100)"),
        *(add_filters, add_long, add_unit),
    ]
    columns = Columns(
        {
            "Severity": "severity",
            "Kind": _kind,
            **_ABOUT,
            "Capacitor": "capacitor",
            **named(at, "since", "until"),
            **named(exact_amount, "quota", "usage"),
            "Commitment": "commitment.id",
            "Amount": exact_amount("commitment.amount"),
            "Message": lambda alert, _: Text(alert["message"]) if alert["message"] else None,
        },
        optional={*_ABOUT, "Capacitor", "Since", "Until", "Quota", "Usage", "Commitment", "Amount", "Message"},
        hidden={"Project ID", "Domain Name", "Since", "Quota", "Usage", "Commitment", "Amount", "Message"},
    )

    def entries(self, args: argparse.Namespace) -> Iterable[client.Json]:
        """Each with the times and the message of what it is about."""
        for alert in self.found(args, f"{self.path(args)}/alerts", "alerts", limit=args.limit):
            commitment, temporary = alert.get("commitment", {}), alert.get("temporary_quota", {})
            confirm_by = commitment.get("confirm_by") if "unconfirmed" in alert["kind"] else None
            yield {
                **alert,
                "domain": alert.get("project", alert).get("domain"),
                "since": alert.get("since") or confirm_by,
                "until": commitment.get("expires_at", temporary.get("until")),
                "message": temporary.get("problem") if temporary else commitment.get("auto_renew_error"),
            }


class ListInconsistencies(Listing):
    """List quotas that contradict each other, usage or the backends"""

    nothing = "No inconsistencies."
    options = [add_filters, add_long, add_unit]
    columns = Columns(
        {"Kind": _kind, **_ABOUT, **named(exact_amount, "quota", "projects_quota", "usage", "backend_quota")},
        optional={"Project ID", "Project Name", "Projects Quota", "Usage", "Backend Quota"},
        hidden={"Project ID", "Quota", "Projects Quota", "Usage", "Backend Quota"},
    )

    def entries(self, args: argparse.Namespace) -> Iterable[client.Json]:
        """Of all three kinds. Each has a domain and a quota, whosever it is."""
        for kind, findings in self.query(args, "/inconsistencies")["inconsistencies"].items():
            for finding in selected(args, findings):
                quota = finding.get("domain_quota", finding.get("quota"))
                domain = finding.get("project", finding)["domain"]
                yield {**finding, "kind": kind, "domain": domain, "quota": quota}


def _project_name(group: client.Json, _: Unit | None) -> Text:
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

    def entries(self, args: argparse.Namespace) -> Iterable[client.Json]:
        """One for each group of projects; the first of them is named."""
        groups = self.found(args, "/admin/scrape-errors", "scrape_errors")
        return ({"affected_projects": 1, **group} for group in groups)
