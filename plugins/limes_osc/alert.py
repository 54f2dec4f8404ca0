"""What is near its limit, ends soon or fails: `limes alert list`."""

import argparse
from typing import ClassVar

from limes_osc.amounts import Amount, shown_unit, unit_of
from limes_osc.base import LimesLister, Options, Table
from limes_osc.cells import Text
from limes_osc.client import Json
from limes_osc.columns import Columns, Row
from limes_osc.options import add_filters, add_long, add_unit, filters_of, selects
from limes_osc.targets import InScope
from limes_osc.temporary import Temporary
from limes_osc.times import moment

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


def _add_limit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", metavar="<number>", type=int, help="At most this many (default: 100)")


class ListAlerts(InScope, LimesLister):
    """List what is near its limit, ends soon or fails, in a project, a domain or the whole cloud"""

    nothing = "No alerts."
    options: ClassVar[Options] = (_add_limit, add_filters, add_long, add_unit)
    _columns = Columns(
        [
            "Severity",
            "Kind",
            "Domain Name",
            "Project ID",
            "Project Name",
            "Service",
            "Resource",
            "Capacitor",
            "Since",
            "Until",
            "Quota",
            "Usage",
            "Commitment",
            "Amount",
            "Message",
        ],
        optional={"Project ID", "Project Name", "Domain Name", "Service", "Resource", "Capacitor", "Since", "Until"}
        | {"Quota", "Usage", "Commitment", "Amount", "Message"},
        hidden={"Project ID", "Domain Name", "Since", "Quota", "Usage", "Commitment", "Amount", "Message"},
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each alert, the critical ones first."""
        limit = [("limit", str(parsed_args.limit))] if parsed_args.limit is not None else []
        found = self.limes.get(f"{self.path(parsed_args)}/alerts", [*filters_of(parsed_args), *limit])
        rows = (
            _row(alert, parsed_args)
            for alert in found["alerts"]
            if "resource" not in alert or selects(parsed_args, alert["service"], alert["resource"])
        )
        return self.table(parsed_args, self._columns, rows)


def _row(alert: Json, args: argparse.Namespace) -> Row:
    unit, project, commitment = unit_of(alert), alert.get("project", {}), alert.get("commitment", {})
    amounts = {"quota": alert.get("quota"), "usage": alert.get("usage"), "amount": commitment.get("amount")}
    figures = {
        name: Amount(value, unit, args.unit, exactly=True) for name, value in amounts.items() if value is not None
    }
    words = {**alert, **commitment, **{name: amount.human_readable() for name, amount in figures.items()}}
    kind, message = alert["kind"], commitment.get("auto_renew_error")
    if temporary := alert.get("temporary_quota"):
        words["end"] = "\n".join(Temporary(temporary, unit).lines())
        message = temporary.get("problem")
    return {
        "Severity": alert["severity"],
        "Kind": Text(kind, _WORDS[kind].format_map(words) if kind in _WORDS else None),
        "Domain Name": project.get("domain", alert.get("domain", {})).get("name"),
        "Project ID": project.get("id"),
        "Project Name": project.get("name"),
        "Service": alert.get("service"),
        "Resource": alert.get("resource"),
        "Capacitor": alert.get("capacitor"),
        "Since": moment(alert.get("since") or (commitment.get("confirm_by") if "unconfirmed" in kind else None)),
        "Until": moment(commitment.get("expires_at", (temporary or {}).get("until"))),
        **{name.title(): amount for name, amount in figures.items()},
        "Commitment": commitment.get("id"),
        "Message": Text(message) if message else None,
        "Unit": shown_unit(alert, args.unit),
    }
