"""What everybody has committed to, in sum: `limes commitment summary list`."""

import argparse
from typing import ClassVar

from cliff.columns import FormattableColumn

from limes_osc.amounts import Amount, shown_unit, unit_of
from limes_osc.base import LimesLister, Options, Table
from limes_osc.client import Json
from limes_osc.columns import Columns, Row
from limes_osc.options import add_filters, add_long, add_unit, filters_of, selects
from limes_osc.targets import InScope


class Share(FormattableColumn[float]):
    """A share from 0 to 1; for people in percent."""

    def human_readable(self) -> str:
        """Returns `81 %`."""
        return f"{self._value:.0%}".replace("%", " %")


def _add_days(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", metavar="<days>", type=int, help="How far Expiring looks ahead (default: 30)")


class SummarizeCommitments(InScope, LimesLister):
    """List commitments in sum, by resource and availability zone: what they cover, and what of them is not used"""

    nothing = "There are no commitments."
    options: ClassVar[Options] = (_add_days, add_filters, add_long, add_unit)
    _amounts = ("Committed", "Used", "Unused", "Usage", "Expiring", "Pending", "Planned")
    _columns = Columns(
        [
            *("Service", "Resource", "AZ", "Committed", "Used", "Unused", "Usage", "Coverage", "Waste"),
            *("Expiring", "Pending", "Planned", "Commitments", "Projects"),
        ],
        hidden={"Unused", "Usage", "Commitments", "Projects"},
        optional={"Coverage", "Waste"},
        notable={"Pending": lambda row: row["Some Pending"], "Planned": lambda row: row["Some Planned"]},
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each resource and AZ."""
        days = [("days", str(parsed_args.days))] if parsed_args.days is not None else []
        found = self.limes.get(f"{self.path(parsed_args)}/commitment-summary", [*filters_of(parsed_args), *days])
        rows = (
            self._row(each, parsed_args)
            for each in found["commitment_summary"]
            if selects(parsed_args, each["service_type"], each["resource_name"])
        )
        return self.table(parsed_args, self._columns, rows)

    def _row(self, each: Json, args: argparse.Namespace) -> Row:
        unit = unit_of(each)
        return {
            "Service": each["service_type"],
            "Resource": each["resource_name"],
            "AZ": each["availability_zone"],
            **{title: Amount(each[title.lower()], unit, args.unit) for title in self._amounts},
            **{title: Share(each[title.lower()]) for title in ("Coverage", "Waste") if title.lower() in each},
            "Some Pending": each["pending"] > 0,
            "Some Planned": each["planned"] > 0,
            "Commitments": each["commitments"],
            "Projects": each["projects"],
            "Unit": shown_unit(each, args.unit),
        }
