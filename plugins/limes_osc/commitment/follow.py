"""Looking back: `utilisation list` and `event list`."""

import argparse
from collections.abc import Iterator
from typing import ClassVar

from limes.core.units import Unit
from limes_osc.base import Columns, LimesLister, Options, Row, Table
from limes_osc.client import Json
from limes_osc.columns import Amount, shown_unit, time, unit_of
from limes_osc.commitment.rows import OPTIONAL, row_of
from limes_osc.options import add_filters, add_unit, filters_of, selects
from limes_osc.targets import InProject


def _add_days(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", metavar="<days>", type=int, help="How many days to look back (default: 30)")
    parser.add_argument("--daily", action="store_true", help="One row for each day, instead of the last one only")


class ListUtilisation(InProject, LimesLister):
    """List how well commitments fit usage, and what one should commit to"""

    options: ClassVar[Options] = (add_filters, _add_days, add_unit)
    _figures: ClassVar[dict[str, str]] = {
        "Committed": "committed",
        "Used": "used",
        "Unused": "unused",
        "Min Used": "min_used",
        "Max Used": "max_used",
    }
    _columns = Columns(["Service", "Resource", "AZ", "Recommended", "Date", *_figures])

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """One row for each resource and AZ, or for each of their days."""
        days = [("days", str(parsed_args.days))] if parsed_args.days is not None else []
        path = f"{self.path(parsed_args)}/commitments/utilisation"
        found = self.limes.get(path, [*filters_of(parsed_args), *days])["utilisation"]
        rows = (
            row
            for one in found
            if selects(parsed_args, one["service_type"], one["resource_name"])
            for row in self._rows(one, parsed_args)
        )
        return self.table(parsed_args, self._columns, rows)

    def _rows(self, one: Json, args: argparse.Namespace) -> Iterator[Row]:
        unit, wanted = unit_of(one), args.unit
        for day in one["days"] if args.daily else one["days"][-1:]:
            yield {
                "Service": one["service_type"],
                "Resource": one["resource_name"],
                "AZ": one["availability_zone"],
                "Recommended": Amount(one["recommended_amount"], unit, wanted),
                "Date": day["date"],
                **{title: Amount(day[key], unit, wanted) for title, key in self._figures.items()},
                "Unit": shown_unit(one, wanted),
            }


def _add_since(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since", metavar="<number>", type=int, default=0, help="Only changes after the one of this number"
    )
    parser.add_argument("--limit", metavar="<number>", type=int, help="At most so many (default: 1000)")


class ListEvents(LimesLister):
    """List changes of all commitments in their order, for billing"""

    options: ClassVar[Options] = (_add_since, add_unit)
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
        OPTIONAL | {"Related"},
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """One row for each change; the last number is the `--since` of the next call."""
        query = [("since", str(parsed_args.since))]
        query += [("limit", str(parsed_args.limit))] if parsed_args.limit is not None else []
        found = self.limes.get("/commitments", query)["events"]
        return self.table(parsed_args, self._columns, (_event(one, parsed_args.unit) for one in found))


def _event(event: Json, wanted: Unit | None) -> Row:
    commitment = event["commitment"]
    return row_of(commitment, wanted) | {
        "Number": event["number"],
        "At": time(event["at"]),
        "Event": event["event"],
        "Project ID": commitment["project_id"],
        "Domain ID": commitment["domain_id"],
        "Related": ", ".join(commitment.get("related", ())) or None,
    }
