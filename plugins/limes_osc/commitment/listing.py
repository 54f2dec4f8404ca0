"""Commitments as rows, and the commands that list them, their utilisation and their changes."""

import argparse
from collections.abc import Iterator
from typing import ClassVar

from osc_lib.exceptions import CommandError

from limes.core.units import Unit
from limes_osc.amounts import Amount, shown_unit, unit_of
from limes_osc.base import Fields, LimesLister, LimesShowOne, Options, Table
from limes_osc.cells import Text
from limes_osc.client import Json, Query, document_of
from limes_osc.columns import Columns, Row
from limes_osc.options import add_filters, add_long, add_unit, filters_of, selects
from limes_osc.targets import InProject
from limes_osc.times import moment, read_time

_TITLES = [
    "ID",
    "Service",
    "Resource",
    "AZ",
    "Amount",
    "Duration",
    "Status",
    "Confirm By",
    "Confirmed At",
    "Expires At",
    "Superseded At",
    "Transfer Status",
    "Auto Renew",
]
_MORE = ["UUID", "Created At", "Created By", "Transfer Token"]
OPTIONAL = {
    *("Confirm By", "Confirmed At", "Superseded At", "Transfer Status", "Created By", "Transfer Token"),
    "Auto Renew",
}
"""Columns that tables leave out where they are empty."""
HIDDEN = {"Duration", "Confirmed At", "Superseded At", "Transfer Status"}
"""Columns that tables have with `--long` only; a transfer is also behind the status."""
OFFERS = "/public-commitments"
"""The path of what is offered to everybody."""


def row_of(commitment: Json, wanted: Unit | None = None) -> Row:
    """Returns all cells of a commitment."""
    transfer = commitment.get("transfer_status")
    return {
        "ID": commitment["id"],
        "Service": commitment["service_type"],
        "Resource": commitment["resource_name"],
        "AZ": commitment["availability_zone"],
        "Amount": Amount(commitment["amount"], unit_of(commitment), wanted, exactly=True),
        "Duration": commitment["duration"],
        "Status": Text(commitment["status"], f"{commitment['status']} ({transfer})" if transfer else None),
        "Confirm By": moment(commitment.get("confirm_by")),
        "Confirmed At": moment(commitment.get("confirmed_at")),
        "Expires At": moment(commitment["expires_at"]),
        "Superseded At": moment(commitment.get("superseded_at")),
        "Transfer Status": transfer,
        "Auto Renew": commitment.get("auto_renew_error") or commitment.get("auto_renew"),
        "UUID": commitment["uuid"],
        "Created At": moment(commitment["created_at"]),
        "Created By": commitment.get("creator_name"),
        "Transfer Token": commitment.get("transfer_token"),
        "Unit": shown_unit(commitment, wanted),
    }


class ListOfCommitments(LimesLister):
    """Commitments, restricted by the usual filters."""

    options: ClassVar[Options] = (add_filters, add_long, add_unit)

    def list_commitments(self, args: argparse.Namespace, path: str, query: Query, columns: Columns) -> Table:
        """Returns one row for each selected commitment."""
        commitments = self.limes.get(path, [*filters_of(args), *query], secret=True)["commitments"]
        selected = (
            commitment
            for commitment in commitments
            if selects(args, commitment["service_type"], commitment["resource_name"])
        )
        return self.table(args, columns, (row_of(commitment, args.unit) for commitment in selected))


def _add_history(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--history", action="store_true", help="Include those that have ended")


class ListCommitments(InProject, ListOfCommitments):
    """List a project's commitments"""

    nothing = "No commitments were found."
    options: ClassVar[Options] = (_add_history,)

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each commitment."""
        query = [("history", "")] if parsed_args.history else []
        columns = Columns(_TITLES, OPTIONAL, HIDDEN, more=_MORE)
        return self.list_commitments(parsed_args, f"{self.path(parsed_args)}/commitments", query, columns)


class ListOffers(ListOfCommitments):
    """List commitments that are offered to everybody; transfer accept takes one by its ID"""

    nothing = "No offers were found."

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each commitment."""
        titles = ["ID", "Service", "Resource", "AZ", "Amount", "Duration", "Status", "Expires At", "Transfer Token"]
        columns = Columns(titles, hidden={"Status", "Transfer Token"})
        return self.list_commitments(parsed_args, OFFERS, (), columns)


class OneCommitment(LimesShowOne):
    """Shows a commitment."""

    options: ClassVar[Options] = (add_unit,)

    def commitment_fields(self, args: argparse.Namespace, commitment: Json) -> Fields:
        """Returns the fields of a commitment."""
        return self.fields(args, row_of(commitment, args.unit))


def add_id(parser: argparse.ArgumentParser) -> None:
    """Adds the argument with the number of a commitment."""
    parser.add_argument("id", metavar="<id>", type=int, help="ID of the commitment (its number)")


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

    def change_commitment(
        self, args: argparse.Namespace, operation: str, body: Json | None = None, method: str = "POST"
    ) -> Fields:
        """Sends a request below the project's commitments, and returns the fields of the commitment in the answer."""
        answer = self.limes.request(method, f"{self.path(args)}/commitments/{operation}", (), body, secret=True)
        return self.commitment_fields(args, self.warned(document_of(answer))["commitment"])


class ShowCommitment(OneOfProject):
    """Show a commitment of a project, even one that has ended"""

    options: ClassVar[Options] = (add_id,)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns all its fields."""
        return self.commitment_fields(parsed_args, self.find(parsed_args, parsed_args.id))


def _add_days(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", metavar="<days>", type=int, help="How many days to look back (default: 30)")
    parser.add_argument("--daily", action="store_true", help="One row for each day, instead of only the last day")


class ListUtilisation(InProject, LimesLister):
    """List how well commitments match usage, and the recommended amounts"""

    nothing = "No commitments were found, nor usage that one could commit to."
    options: ClassVar[Options] = (add_filters, _add_days, add_long, add_unit)
    _figures: ClassVar[dict[str, str]] = {
        "Committed": "committed",
        "Used": "used",
        "Unused": "unused",
        "Min Used": "min_used",
        "Max Used": "max_used",
    }
    _titles = ("Service", "Resource", "AZ", "Recommended", "Date", *_figures)

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each resource and AZ, or for each of their days."""
        days = [("days", str(parsed_args.days))] if parsed_args.days is not None else []
        path = f"{self.path(parsed_args)}/commitments/utilisation"
        utilisation = self.limes.get(path, [*filters_of(parsed_args), *days])["utilisation"]
        rows = (
            row
            for entry in utilisation
            if selects(parsed_args, entry["service_type"], entry["resource_name"])
            for row in self._rows(entry, parsed_args)
        )
        hidden = {"Min Used", "Max Used", *([] if parsed_args.daily else ["Date"])}
        return self.table(parsed_args, Columns(self._titles, hidden=hidden), rows)

    def _rows(self, entry: Json, args: argparse.Namespace) -> Iterator[Row]:
        unit, wanted = unit_of(entry), args.unit
        for day in entry["days"] if args.daily else entry["days"][-1:]:
            yield {
                "Service": entry["service_type"],
                "Resource": entry["resource_name"],
                "AZ": entry["availability_zone"],
                "Recommended": Amount(entry["recommended_amount"], unit, wanted),
                "Date": day["date"],
                **{title: Amount(day[key], unit, wanted) for title, key in self._figures.items()},
                "Unit": shown_unit(entry, wanted),
            }


def _add_since(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since", metavar="<number>", type=int, default=0, help="Only changes after the one of this number"
    )
    parser.add_argument("--limit", metavar="<number>", type=int, help="At most this many (default: 1000)")
    parser.add_argument("--status", metavar="<status>", action="append", default=[], help="Only changes to this status")
    parser.add_argument("--az", metavar="<az>", action="append", default=[], help="Only in this availability zone")
    for name in ("domain", "project"):
        text = f"Only of this {name}; may be repeated, as --status and --az"
        parser.add_argument(f"--{name}-id", metavar="<id>", action="append", default=[], help=text)
    for name, text in (("since", "at this time or later"), ("until", "before this time")):
        parser.add_argument(f"--changed-{name}", metavar="<time>", type=read_time, help=f"Only changes {text}")


_FILTERS = {
    **{"status": "status", "availability_zone": "az", "domain_id": "domain_id", "project_id": "project_id"},
    **{"changed_since": "changed_since", "changed_until": "changed_until"},
}
"""Query parameters, each with the option that gives its values."""


class ListEvents(LimesLister):
    """List the changes of all commitments in order, for billing"""

    nothing = "No changes."
    options: ClassVar[Options] = (_add_since, add_long, add_unit)
    _columns = Columns(
        [
            "Number",
            "At",
            "Event",
            "Project ID",
            "UUID",
            "Service",
            "Resource",
            "AZ",
            "Amount",
            "Duration",
            "Status",
            "Expires At",
            "Domain ID",
            "Related",
        ],
        optional=OPTIONAL | {"Related"},
        hidden={"Project ID", "UUID", "AZ", "Duration", "Status", "Expires At", "Domain ID", "Related"},
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each change; the last number is the `--since` of the next call."""
        query = [("since", str(parsed_args.since))]
        query += [("limit", str(parsed_args.limit))] if parsed_args.limit is not None else []
        for parameter, option in _FILTERS.items():
            given = getattr(parsed_args, option)
            values = given if isinstance(given, list) else [] if given is None else [given]
            query += [(parameter, str(value)) for value in values]
        events = self.limes.get("/commitments", query)["events"]
        return self.table(parsed_args, self._columns, (_event(event, parsed_args.unit) for event in events))


def _event(event: Json, wanted: Unit | None) -> Row:
    commitment = event["commitment"]
    return row_of(commitment, wanted) | {
        "Number": event["number"],
        "At": moment(event["at"]),
        "Event": event["event"],
        "Project ID": commitment["project_id"],
        "Domain ID": commitment["domain_id"],
        "Related": ", ".join(commitment.get("related", ())) or None,
    }
