"""What is near its limit, ends soon or fails: `limes alert list`."""

import argparse
from collections.abc import Iterable

from limes.core.units import Unit
from limes_osc.amounts import Amount, unit_of
from limes_osc.base import InScope, Listing
from limes_osc.client import Json
from limes_osc.columns import Columns, Text, amount, at
from limes_osc.options import add_filters, add_long, add_unit, option
from limes_osc.temporary import temporary_quota

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
}
"""What an alert says to people, with the names of its figures."""


def _kind(alert: Json, wanted: Unit | None) -> Text:
    words, kind = {**alert, **alert.get("commitment", {})}, alert["kind"]
    for name in ("quota", "usage", "amount"):
        if words.get(name) is not None:
            words[name] = Amount(words[name], unit_of(alert), wanted, exactly=True).human_readable()
    if end := temporary_quota(alert):
        words["end"] = end.human_readable()
    return Text(kind, _WORDS[kind].format_map(words) if kind in _WORDS else None)


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
            "Domain Name": "domain.name",
            "Project ID": "project.id",
            "Project Name": "project.name",
            "Service": "service",
            "Resource": "resource",
            "Capacitor": "capacitor",
            "Since": at("since"),
            "Until": at("until"),
            "Quota": amount("quota", exactly=True),
            "Usage": amount("usage", exactly=True),
            "Commitment": "commitment.id",
            "Amount": amount("commitment.amount", exactly=True),
            "Message": lambda alert, _: Text(alert["message"]) if alert["message"] else None,
        },
        optional={"Project ID", "Project Name", "Domain Name", "Service", "Resource", "Capacitor", "Since", "Until"}
        | {"Quota", "Usage", "Commitment", "Amount", "Message"},
        hidden={"Project ID", "Domain Name", "Since", "Quota", "Usage", "Commitment", "Amount", "Message"},
    )

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        return map(_with_times, self.found(args, f"{self.path(args)}/alerts", "alerts", limit=args.limit))


def _with_times(alert: Json) -> Json:
    """Returns an alert with the times and the message of what it is about."""
    commitment, temporary = alert.get("commitment", {}), alert.get("temporary_quota", {})
    confirm_by = commitment.get("confirm_by") if "unconfirmed" in alert["kind"] else None
    return {
        **alert,
        "domain": alert.get("project", alert).get("domain"),
        "since": alert.get("since") or confirm_by,
        "until": commitment.get("expires_at", temporary.get("until")),
        "message": temporary.get("problem") if temporary else commitment.get("auto_renew_error"),
    }
