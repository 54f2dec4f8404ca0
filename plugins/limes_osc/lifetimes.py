"""From when to when subresources existed: `limes subresource lifetime list`."""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from limes_osc.base import LimesLister, Options, Table
from limes_osc.cells import Text
from limes_osc.client import Json
from limes_osc.columns import Columns, Row
from limes_osc.options import add_filters, add_long, filters_of, selects
from limes_osc.targets import InScope
from limes_osc.times import Age, moment, read_time

_PAGE = 10_000
"""The most that the server gives at once."""


def _add_window(parser: argparse.ArgumentParser) -> None:
    for name, meaning in (("from", "Only periods that end after this time (default: 30 days before --until)"),
                          ("until", "Only periods that begin before this time (default: now)")):  # fmt: skip
        parser.add_argument(f"--{name}", metavar="<time>", type=read_time, dest=f"{name}_", help=meaning)
    parser.add_argument("--az", metavar="<az>", action="append", default=[], help="Only in this availability zone")
    parser.add_argument("--id", metavar="<id>", action="append", default=[], help="Only subresources of this ID")
    parser.add_argument("--limit", metavar="<number>", type=int, help="At most this many periods (default: all)")


class ListLifetimes(InScope, LimesLister):
    """List from when to when subresources existed, with which attributes, for billing"""

    nothing = "No subresources are known for this time."
    options: ClassVar[Options] = (_add_window, add_filters, add_long)
    _columns = Columns(
        [
            *("Domain ID", "Domain Name", "Project ID", "Project Name", "Service", "Resource", "AZ", "ID", "Name"),
            *("Attributes", "First Seen At", "Began At", "Last Seen At", "Ended At", "Seconds"),
        ],
        optional={"Name", "Ended At"},
        hidden={
            *("Domain ID", "Domain Name", "Project ID", "Project Name", "AZ", "Name"),
            *("First Seen At", "Began At", "Last Seen At", "Ended At"),
        },
        unit=False,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each period. Asks for further pages as long as there are any."""
        path, columns = self.path(parsed_args), self._columns
        if "/projects/" not in path:
            columns = replace(columns, hidden={title for title in columns.hidden if title != "Project Name"})
        return self.table(parsed_args, columns, map(_row, self._periods(f"{path}/subresources", parsed_args)))

    def _periods(self, path: str, args: argparse.Namespace) -> Iterator[Json]:
        window = [(name, getattr(args, f"{name}_")) for name in ("from", "until")]
        query = [
            *filters_of(args),
            *((name, str(time)) for name, time in window if time is not None),
            *(("availability_zone", az) for az in args.az),
            *(("id", id_) for id_ in args.id),
        ]
        left, marker = args.limit, "0"
        while left is None or left > 0:
            size = _PAGE if left is None else min(_PAGE, left)
            document = self.limes.get(path, [*query, ("limit", str(size)), ("marker", marker)])
            found = document["subresources"]
            yield from (one for one in found if selects(args, one["service_type"], one["resource_name"]))
            left = None if left is None else left - len(found)
            following = [link["href"] for link in document["subresources_links"] if link["rel"] == "next"]
            if not following:
                return
            [marker] = parse_qs(urlsplit(following[0]).query)["marker"]


def _row(period: Json) -> Row:
    project, attributes = period["project"], period["attributes"]
    return {
        "Domain ID": project["domain"]["id"],
        "Domain Name": project["domain"]["name"],
        "Project ID": project["id"],
        "Project Name": project["name"],
        "Service": period["service_type"],
        "Resource": period["resource_name"],
        "AZ": period["availability_zone"],
        "ID": Text(period["id"], period["name"] or period["id"], width=18),
        "Name": period["name"] or None,
        "Attributes": Text(attributes, "\n".join(f"{name}: {_shown(attributes[name])}" for name in sorted(attributes))),
        "First Seen At": moment(period["first_seen_at"]),
        "Began At": moment(period["began_at"]),
        "Last Seen At": moment(period["last_seen_at"]),
        "Ended At": moment(period.get("ended_at")),
        "Seconds": Age(period["seconds"]),
    }


def _shown(value: Any) -> str:
    """Returns a value for people: `5 GiB`."""
    if isinstance(value, dict) and set(value) == {"value", "unit"}:
        return f"{value['value']} {value['unit']}"
    return str(value)
