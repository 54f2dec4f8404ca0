"""Commitments as rows, and the commands that list them, their utilisation, their changes and their sums."""

import abc
import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from osc_lib.exceptions import CommandError

from limes_osc import base
from limes_osc.client import Json
from limes_osc.columns import IN_ZONE, Cell, Columns, Row, Text, amount, at, exact_amount, is_some, named, shown

OFFERS = "/public-commitments"
"""The path of what is offered to everybody."""

add_id = base.option("id", type=int, help="ID of the commitment (its number)")


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
    "Amount": exact_amount("amount"),
    "Duration": "duration",
    "Status": _status,
    **named(at, "confirm_by", "confirmed_at", "expires_at", "superseded_at"),
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


class ListOfCommitments(base.Listing):
    options = [base.add_filters, base.add_long, base.add_unit]


class ListCommitments(base.InProject, ListOfCommitments):
    """List a project's commitments"""

    nothing = "No commitments were found."
    options = [base.option("--history", action="store_true", help="Include ended commitments")]
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


class OneCommitment(base.LimesShowOne):
    options = [base.add_unit]

    @abc.abstractmethod
    def commitment(self, args: argparse.Namespace) -> Json:
        """Returns the commitment. Raises `CommandError`."""

    def row(self, args: argparse.Namespace) -> Row:
        return COMMITMENT.row(self.commitment(args), args.unit)


class OneOfProject(base.InProject, OneCommitment):
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


class ListUtilisation(base.InProject, base.Listing):
    """List how well commitments match usage, and the recommended amounts"""

    nothing = "No commitments were found, nor usage that can be committed to."
    options = [
        base.add_filters,
        base.option("--days", type=int, help="How many days to look back (default: 30)"),
        base.option("--daily", action="store_true", help="One row for each day, instead of only the last day"),
        *(base.add_long, base.add_unit),
    ]
    columns = Columns(
        {
            **IN_ZONE,
            "Recommended": amount("recommended_amount"),
            "Date": "date",
            **named(amount, "committed", "used", "unused", "min_used", "max_used"),
        },
        hidden={"Min Used", "Max Used", "Date"},
    )

    def columns_for(self, args: argparse.Namespace) -> Columns:
        return replace(self.columns, hidden={"Min Used", "Max Used"}) if args.daily else self.columns

    def entries(self, args: argparse.Namespace) -> Iterator[Json]:
        """One for each resource and AZ, or for each of their days."""
        path = f"{self.path(args)}/commitments/utilisation"
        for entry in self.found(args, path, "utilisation", days=args.days):
            for day in entry["days"] if args.daily else entry["days"][-1:]:
                yield {**entry, **day}


class ListEvents(base.Listing):
    """List the changes of all commitments in order, for billing"""

    nothing = "No changes."
    options = [
        base.option(
            "--since", metavar="<number>", type=int, default=0, help="Only changes after the one of this number"
        ),
        base.option("--limit", metavar="<number>", type=int, help="At most this many (default: 1000)"),
        base.repeated("--status", help="Only changes to this status"),
        base.repeated("--az", help="Only in this availability zone"),
        base.repeated("--domain-id", metavar="<id>", help="Only of this domain; may be repeated, as --status and --az"),
        base.repeated(
            "--project-id", metavar="<id>", help="Only of this project; may be repeated, as --status and --az"
        ),
        base.time_option("--changed-since", help="Only changes at this time or later"),
        base.time_option("--changed-until", help="Only changes before this time"),
        *(base.add_long, base.add_unit),
    ]
    columns = Columns(
        {
            "Number": "number",
            "At": at("at"),
            "Event": "event",
            "Project ID": "project_id",
            "UUID": "uuid",
            **IN_ZONE,
            "Amount": exact_amount("amount"),
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
        """Each with its commitment; the last number is the `--since` of the next call."""
        names = ("since", "limit", "status", "az", "domain_id", "project_id", "changed_since", "changed_until")
        query = {"availability_zone" if name == "az" else name: getattr(args, name) for name in names}
        return (
            {**event["commitment"], **event} for event in self.limes.get("/commitments", base.pairs_of(query))["events"]
        )


def _share(value: float) -> Text:
    """From 0 to 1; for people in percent."""
    return Text(value, f"{value:.0%}".replace("%", " %"))


class SummarizeCommitments(base.InScope, base.Listing):
    """List commitments in sum, by resource and availability zone: what they cover, and what of them is not used"""

    nothing = "There are no commitments."
    options = [
        base.option("--days", type=int, help="How far Expiring looks ahead (default: 30)"),
        *(base.add_filters, base.add_long, base.add_unit),
    ]
    columns = Columns(
        {
            **IN_ZONE,
            **named(amount, "committed", "used", "unused", "usage"),
            **named(partial(shown, _share), "coverage", "waste"),
            **named(amount, "expiring", "pending", "planned"),
            **named(str, "commitments", "projects"),
        },
        hidden={"Unused", "Usage", "Commitments", "Projects"},
        optional={"Coverage", "Waste"},
        notable={title: is_some(title) for title in ("Pending", "Planned")},
    )

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        return self.found(args, f"{self.path(args)}/commitment-summary", "commitment_summary", days=args.days)
