"""Commitments as rows, and the commands that list them, their utilisation and their changes."""

import abc
import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from osc_lib.exceptions import CommandError

from limes_osc.base import InProject, LimesShowOne, Listing
from limes_osc.client import Json
from limes_osc.columns import IN_ZONE, Cell, Columns, Row, Text, amount, at
from limes_osc.options import add_filters, add_long, add_unit, option, pairs_of, repeated, time_option

OFFERS = "/public-commitments"
"""The path of what is offered to everybody."""

add_id = option("id", type=int, help="ID of the commitment (its number)")


def _status(commitment: Json, _: Any) -> Text:
    status, transfer = commitment["status"], commitment.get("transfer_status")
    return Text(status, f"{status} ({transfer})" if transfer else None)


_MORE: dict[str, Cell] = {
    "UUID": "uuid",
    "Created At": at("created_at"),
    "Created By": "creator_name",
    "Transfer Token": "transfer_token",
}
_CELLS: dict[str, Cell] = {
    "ID": "id",
    **IN_ZONE,
    "Amount": amount("amount", exactly=True),
    "Duration": "duration",
    "Status": _status,
    "Confirm By": at("confirm_by"),
    "Confirmed At": at("confirmed_at"),
    "Expires At": at("expires_at"),
    "Superseded At": at("superseded_at"),
    "Transfer Status": "transfer_status",
    "Auto Renew": lambda commitment, _: commitment.get("auto_renew_error") or commitment.get("auto_renew"),
    **_MORE,
}
_OFFERED = {"ID", *IN_ZONE, "Amount", "Duration", "Status", "Expires At", "Transfer Token"}
COMMITMENT = Columns(
    _CELLS,
    optional={
        *("Confirm By", "Confirmed At", "Superseded At", "Transfer Status", "Auto Renew"),
        *("Created By", "Transfer Token"),
    },
    hidden={"Duration", "Confirmed At", "Superseded At", "Transfer Status"},  # a transfer is also behind the status
    more=_MORE,
)


class ListOfCommitments(Listing):
    """Commitments, restricted by the usual filters."""

    options = [add_filters, add_long, add_unit]


class ListCommitments(InProject, ListOfCommitments):
    """List a project's commitments"""

    nothing = "No commitments were found."
    options = [option("--history", action="store_true", help="Include those that have ended")]
    columns = COMMITMENT

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        path, history = f"{self.path(args)}/commitments", "" if args.history else None
        return self.found(args, path, "commitments", secret=True, history=history)


class ListOffers(ListOfCommitments):
    """List commitments that are offered to everybody; transfer accept takes one by its ID"""

    nothing = "No offers were found."
    columns = Columns(
        {title: cell for title, cell in _CELLS.items() if title in _OFFERED}, hidden={"Status", "Transfer Token"}
    )

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        return self.found(args, OFFERS, "commitments", secret=True)


class OneCommitment(LimesShowOne):
    options = [add_unit]

    @abc.abstractmethod
    def commitment(self, args: argparse.Namespace) -> Json:
        """Returns the commitment. Raises `CommandError`."""

    def row(self, args: argparse.Namespace) -> Row:
        return COMMITMENT.row(self.commitment(args), args.unit)


class OneOfProject(InProject, OneCommitment):
    """About one commitment of a project."""

    def find(self, args: argparse.Namespace, number: int) -> Json:
        """Returns the commitment of that number. Raises `CommandError`."""
        path = f"{self.path(args)}/commitments"
        commitments: list[Json] = self.limes.get(path, [("history", "")], secret=True)["commitments"]
        for commitment in commitments:
            if commitment["id"] == number:
                return commitment
        raise CommandError(f"the project has no commitment {number}")

    def change(self, args: argparse.Namespace, operation: str, body: Json | None = None, method: str = "POST") -> Json:
        """Sends a request below the project's commitments, and returns the commitment in the answer."""
        path = f"{self.path(args)}/commitments/{operation}"
        return dict(self.send(method, path, body, secret=True)["commitment"])


class ShowCommitment(OneOfProject):
    """Show a commitment of a project, even one that has ended"""

    options = [add_id]

    def commitment(self, args: argparse.Namespace) -> Json:
        return self.find(args, args.id)


class ListUtilisation(InProject, Listing):
    """List how well commitments match usage, and the recommended amounts"""

    nothing = "No commitments were found, nor usage that one could commit to."
    options = [
        add_filters,
        option("--days", type=int, help="How many days to look back (default: 30)"),
        option("--daily", action="store_true", help="One row for each day, instead of only the last day"),
        *(add_long, add_unit),
    ]
    columns = Columns(
        {
            **IN_ZONE,
            "Recommended": amount("recommended_amount"),
            "Date": "date",
            "Committed": amount("committed"),
            "Used": amount("used"),
            "Unused": amount("unused"),
            "Min Used": amount("min_used"),
            "Max Used": amount("max_used"),
        },
        hidden={"Min Used", "Max Used", "Date"},
    )

    def columns_for(self, args: argparse.Namespace) -> Columns:
        return replace(self.columns, hidden={"Min Used", "Max Used"}) if args.daily else self.columns

    def entries(self, args: argparse.Namespace) -> Iterator[Json]:
        """Yields each resource and AZ, or each of their days."""
        path = f"{self.path(args)}/commitments/utilisation"
        for entry in self.found(args, path, "utilisation", days=args.days):
            for day in entry["days"] if args.daily else entry["days"][-1:]:
                yield {**entry, **day}


class ListEvents(Listing):
    """List the changes of all commitments in order, for billing"""

    nothing = "No changes."
    options = [
        option("--since", metavar="<number>", type=int, default=0, help="Only changes after the one of this number"),
        option("--limit", metavar="<number>", type=int, help="At most this many (default: 1000)"),
        repeated("--status", help="Only changes to this status"),
        repeated("--az", help="Only in this availability zone"),
        repeated("--domain-id", metavar="<id>", help="Only of this domain; may be repeated, as --status and --az"),
        repeated("--project-id", metavar="<id>", help="Only of this project; may be repeated, as --status and --az"),
        time_option("--changed-since", help="Only changes at this time or later"),
        time_option("--changed-until", help="Only changes before this time"),
        *(add_long, add_unit),
    ]
    columns = Columns(
        {
            "Number": "number",
            "At": at("at"),
            "Event": "event",
            "Project ID": "project_id",
            "UUID": "uuid",
            **IN_ZONE,
            "Amount": amount("amount", exactly=True),
            "Duration": "duration",
            "Status": _status,
            "Expires At": at("expires_at"),
            "Domain ID": "domain_id",
            "Related": lambda event, _: ", ".join(event.get("related", ())) or None,
        },
        optional={"Related"},
        hidden={"Project ID", "UUID", "AZ", "Duration", "Status", "Expires At", "Domain ID", "Related"},
    )

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        """Returns the changes, each with its commitment; the last number is the `--since` of the next call."""
        query = {
            "since": args.since,
            "limit": args.limit,
            "status": args.status,
            "availability_zone": args.az,
            "domain_id": args.domain_id,
            "project_id": args.project_id,
            "changed_since": args.changed_since,
            "changed_until": args.changed_until,
        }
        return ({**event["commitment"], **event} for event in self.limes.get("/commitments", pairs_of(query))["events"])
