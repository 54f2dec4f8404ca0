"""What was used and committed over time: `limes usage report`."""

import argparse
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

from limes_osc.amounts import Measured, rounded
from limes_osc.base import InScope, Listing
from limes_osc.client import Json
from limes_osc.columns import IN_ZONE, WHOSE, Cell, Columns, Text, amount, is_some, measured
from limes_osc.options import add_filters, add_long, filters_of, option, pairs_of, repeated, selected, time_option
from limes_osc.times import Age, iso, short


class AmountTime(Measured[int]):
    """Amount-seconds: for people in hours, such as `336 h` or `3.3 TiB h`."""

    def human_readable(self) -> str:
        if self._unit.value:
            return f"{rounded(round(self._value / 3600), self._unit)} h"
        return f"{self._value / 3600:,.1f}".removesuffix(".0") + " h"


def _time(name: str) -> Cell:
    return lambda entry, _: Text(iso(entry[name]), short(entry[name]))


class ReportUsage(InScope, Listing):
    """Report what was used and committed over time, in amount-seconds: of a project, a domain or the whole cloud"""

    nothing = "Nothing was used or committed."
    options = [
        time_option(
            "--from",
            dest="since",
            required=True,
            help="Beginning of an hour, a day or a month (UTC), such as 2026-11-01",
        ),
        time_option(
            "--until", help="The end, which is not included (default: the end of the present hour, day or month)"
        ),
        option(
            "--granularity",
            choices=("hour", "day", "month", "total"),
            default="month",
            help="One row for each, or for all of the time (default: month)",
        ),
        time_option(
            "--as-of",
            help="The figures as they were at this time, without later corrections; only of days that were closed by"
            " then",
        ),
        option("--per-az", action="store_true", help="One row for each availability zone"),
        repeated("--az", help="Only in this AZ; may be repeated; implies --per-az"),
        *(add_filters, add_long),
    ]
    columns = Columns(
        {
            **WHOSE,
            **IN_ZONE,
            "From": _time("from"),
            "Until": _time("until"),
            "Used": measured(AmountTime, "used"),
            "Committed": measured(AmountTime, "committed"),
            "Beyond Commitments": measured(AmountTime, "beyond_commitments"),
            "Unknown": lambda entry, _: Age(entry["unknown_seconds"]) if entry["unknown_seconds"] else None,
            "Smallest": amount("smallest", exactly=True),
            "Largest": amount("largest", exactly=True),
            "Last": amount("last", exactly=True),
            "State": lambda entry, _: "open" if "open" in entry else "closed",
            "Version": "version",
        },
        optional={"AZ", "Unknown"},
        notable=dict.fromkeys(("Committed", "Beyond Commitments"), is_some("Committed")),
        hidden={"Domain ID", "Domain Name", "Project ID", "Until", "Smallest", "Largest", "Last", "State", "Version"},
    )

    def entries(self, args: argparse.Namespace) -> Iterator[Json]:
        asked = {"from": args.since, "granularity": args.granularity, "until": args.until, "as_of": args.as_of}
        asked |= {"per_az": bool(args.per_az or args.az), "availability_zone": args.az}
        path, query = f"{self.path(args)}/usage-reports", [*filters_of(args), *pairs_of(asked)]
        return selected(args, self._entries(path, query))

    def _entries(self, path: str, query: list[tuple[str, str]]) -> Iterator[Json]:
        """Yields the entries of all pages, and says if there are none of the first part of the time."""
        is_first = True
        while query:
            report = self.limes.get(path, query)["usage_report"]
            began_at = report.get("metering_began_at", 0)
            if is_first and report.get("from", began_at) < began_at:
                self.warn(f"Metering began at {iso(began_at)}: what was used before is not known.")
            is_first = False
            yield from report["entries"]
            query = [pair for link in report["links"] for pair in parse_qsl(urlsplit(link["href"]).query)]
