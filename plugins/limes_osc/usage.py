"""What was used and committed over time: `limes usage report`."""

import argparse
from collections.abc import Iterator
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from cliff.columns import FormattableColumn

from limes.core.units import Unit
from limes_osc.amounts import Amount, unit_of
from limes_osc.base import LimesLister, Options, Table
from limes_osc.cells import Text
from limes_osc.client import Json
from limes_osc.columns import Columns, Row
from limes_osc.options import add_filters, add_long, filters_of, selects
from limes_osc.targets import InScope
from limes_osc.times import Age, iso, read_time, short


def _add_times(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="since",
        metavar="<time>",
        type=read_time,
        required=True,
        help="Beginning of an hour, a day or a month (UTC), such as 2026-11-01",
    )
    parser.add_argument(
        "--until",
        metavar="<time>",
        type=read_time,
        help="The end, which is not included (default: the end of the present hour, day or month)",
    )
    parser.add_argument(
        "--granularity",
        choices=("hour", "day", "month", "total"),
        default="month",
        help="One row for each, or for all of the time (default: month)",
    )
    parser.add_argument(
        "--as-of",
        metavar="<time>",
        type=read_time,
        help="The figures as they were at this time, without later corrections; only of days that were closed by then",
    )
    parser.add_argument("--per-az", action="store_true", help="One row for each availability zone")
    parser.add_argument(
        "--az",
        metavar="<az>",
        action="append",
        default=[],
        help="Only in this AZ; may be repeated; implies --per-az",
    )


class AmountTime(FormattableColumn[int]):
    """Amount-seconds: for people in hours, such as `336 h` or `3.3 TiB h`."""

    def __init__(self, seconds: int, unit: Unit) -> None:
        super().__init__(seconds)
        self._unit = unit

    def human_readable(self) -> str:
        """See above."""
        if self._unit.value:
            return f"{Amount(round(self._value / 3600), self._unit).human_readable()} h"
        return f"{self._value / 3600:,.1f}".removesuffix(".0") + " h"


class ReportUsage(InScope, LimesLister):
    """Report what was used and committed over time, in amount-seconds: of a project, a domain or the whole cloud"""

    nothing = "Nothing was used or committed."
    options: ClassVar[Options] = (_add_times, add_filters, add_long)
    _columns = Columns(
        [
            *("Domain ID", "Domain Name", "Project ID", "Project Name", "Service", "Resource", "AZ", "From", "Until"),
            *("Used", "Committed", "Beyond Commitments", "Unknown", "Smallest", "Largest", "Last"),
            *("State", "Version"),
        ],
        optional={"AZ", "Unknown"},
        notable={"Committed": lambda row: row["Has"], "Beyond Commitments": lambda row: row["Has"]},
        hidden={"Domain ID", "Domain Name", "Project ID", "Until", "Smallest", "Largest", "Last", "State", "Version"},
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each project, resource and time, and with `--per-az` for each AZ."""
        path = f"{self.path(parsed_args)}/usage-reports"
        query = [("from", str(parsed_args.since)), ("granularity", parsed_args.granularity)]
        times = {"until": parsed_args.until, "as_of": parsed_args.as_of}
        query += [(name, str(time)) for name, time in times.items() if time is not None]
        query += [("per_az", "true")] if parsed_args.per_az or parsed_args.az else []
        query += [("availability_zone", az) for az in parsed_args.az]
        entries = self._entries(path, [*filters_of(parsed_args), *query])
        rows = (_row(entry) for entry in entries if selects(parsed_args, entry["service_type"], entry["resource_name"]))
        return self.table(parsed_args, self._columns, rows)

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


def _row(entry: Json) -> Row:
    unit, project = unit_of(entry), entry["project"]

    def amount(name: str) -> Any:
        return Amount(entry[name], unit, exactly=True) if name in entry else None

    unknown = entry["unknown_seconds"]
    return {
        "Domain ID": project["domain"]["id"],
        "Domain Name": project["domain"]["name"],
        "Project ID": project["id"],
        "Project Name": project["name"],
        "Service": entry["service_type"],
        "Resource": entry["resource_name"],
        "AZ": entry.get("availability_zone"),
        "From": Text(iso(entry["from"]), short(entry["from"])),
        "Until": Text(iso(entry["until"]), short(entry["until"])),
        "Used": AmountTime(entry["used"], unit),
        "Committed": AmountTime(entry["committed"], unit),
        "Has": entry["committed"] > 0,
        "Beyond Commitments": AmountTime(entry["beyond_commitments"], unit),
        "Unknown": Age(unknown) if unknown else None,
        "Smallest": amount("smallest"),
        "Largest": amount("largest"),
        "Last": amount("last"),
        "State": "open" if "open" in entry else "closed",
        "Version": entry["version"],
        "Unit": unit.value,
    }
