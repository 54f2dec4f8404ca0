"""From when to when subresources existed: `limes subresource lifetime list`."""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from limes.core.units import Unit
from limes_osc.base import InScope, LimesLister, Table
from limes_osc.client import Json
from limes_osc.columns import IN_ZONE, WHOSE, Columns, Text, at, shown
from limes_osc.options import add_filters, add_long, option, repeated, selected, time_option
from limes_osc.times import Age

_PAGE = 10_000
"""The most that the server gives at once."""


def _attributes(period: Json, _: Unit | None) -> Text:
    attributes = period["attributes"]
    return Text(attributes, "\n".join(f"{name}: {_shown(attributes[name])}" for name in sorted(attributes)))


def _shown(value: Any) -> str:
    """Returns a value for people: `5 GiB`."""
    if isinstance(value, dict) and set(value) == {"value", "unit"}:
        return f"{value['value']} {value['unit']}"
    return str(value)


class ListLifetimes(InScope, LimesLister):
    """List from when to when subresources existed, with which attributes, for billing"""

    nothing = "No subresources are known for this time."
    options = [
        time_option(
            "--from", dest="from_", help="Only periods that end after this time (default: 30 days before --until)"
        ),
        time_option("--until", help="Only periods that begin before this time (default: now)"),
        repeated("--az", help="Only in this availability zone"),
        repeated("--id", help="Only subresources of this ID"),
        option("--limit", metavar="<number>", type=int, help="At most this many periods (default: all)"),
        *(add_filters, add_long),
    ]
    columns = Columns(
        {
            **WHOSE,
            **IN_ZONE,
            "ID": lambda period, _: Text(period["id"], period["name"] or period["id"], width=18),
            "Name": lambda period, _: period["name"] or None,
            "Attributes": _attributes,
            "First Seen At": at("first_seen_at"),
            "Began At": at("began_at"),
            "Last Seen At": at("last_seen_at"),
            "Ended At": at("ended_at"),
            "Seconds": shown(Age, "seconds"),
        },
        optional={"Name", "Ended At"},
        hidden={*WHOSE, "AZ", "Name", "First Seen At", "Began At", "Last Seen At", "Ended At"},
        unit=False,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        path, columns = self.path(parsed_args), self.columns
        if "/projects/" not in path:
            columns = replace(columns, hidden={title for title in columns.hidden if title != "Project Name"})
        return self.table(parsed_args, columns, map(columns.row, self._periods(f"{path}/subresources", parsed_args)))

    def _periods(self, path: str, args: argparse.Namespace) -> Iterator[Json]:
        """Yields the periods. Asks for further pages as long as there are any."""
        wanted = {"from": args.from_, "until": args.until, "availability_zone": args.az, "id": args.id}
        left, marker = args.limit, "0"
        while left is None or left > 0:
            size = _PAGE if left is None else min(_PAGE, left)
            document = self.query(args, path, **wanted, limit=size, marker=marker)
            found = document["subresources"]
            yield from selected(args, found)
            left = None if left is None else left - len(found)
            following = [link["href"] for link in document["subresources_links"] if link["rel"] == "next"]
            if not following:
                return
            [marker] = parse_qs(urlsplit(following[0]).query)["marker"]
