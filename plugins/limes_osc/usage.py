"""Usage over time: `limes usage report`, `usage history`, `forecast list` and `subresource lifetime list`."""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qs, parse_qsl, urlsplit

from limes.kernel.units import Unit
from limes_osc import base
from limes_osc import columns as col
from limes_osc.client import Json
from limes_osc.values import Amount, iso, rounded, short, unit_of


def _amount_time(value: int, unit: Unit) -> col.Text:
    """Amount-seconds: for people in hours, such as `336 h` or `3.3 TiB h`."""
    hours = value / 3600
    text = rounded(round(hours), unit) if unit.value else f"{hours:,.1f}".removesuffix(".0")
    return col.Text(value, f"{text} h", width=0)


def _time(name: str) -> col.Cell:
    return lambda entry, _: col.Text(iso(entry[name]), short(entry[name]))


class ReportUsage(base.InScope, base.Listing):
    """Report what was used and committed over time, in amount-seconds: of a project, a domain or the whole cloud"""

    nothing = "Nothing was used or committed."
    options = [
        base.time_option(
            "--from",
            dest="since",
            required=True,
            help="Beginning of an hour, a day or a month (UTC), such as 2026-11-01",
        ),
        base.time_option(
            "--until", help="The end, which is not included (default: the end of the present hour, day or month)"
        ),
        base.option(
            "--granularity",
            choices=("hour", "day", "month", "total"),
            default="month",
            help="One row for each, or for all of the time (default: month)",
        ),
        base.time_option(
            "--as-of",
            help="The figures as they were at this time, without later corrections; only of days that were closed by"
            " then",
        ),
        base.option("--per-az", action="store_true", help="One row for each availability zone"),
        base.repeated("--az", help="Only in this AZ; may be repeated; implies --per-az"),
        *(base.add_filters, base.add_long),
    ]
    columns = col.Columns(
        {
            **col.WHOSE,
            **col.IN_ZONE,
            **col.named(_time, "from", "until"),
            **col.named(partial(col.measured, _amount_time), "used", "committed", "beyond_commitments"),
            "Unknown": lambda entry, _: col.age(entry["unknown_seconds"]) if entry["unknown_seconds"] else None,
            **col.named(col.exact_amount, "smallest", "largest", "last"),
            "State": lambda entry, _: "open" if "open" in entry else "closed",
            "Version": "version",
        },
        optional={"AZ", "Unknown"},
        notable=dict.fromkeys(("Committed", "Beyond Commitments"), col.is_some("Committed")),
        hidden={"Domain ID", "Domain Name", "Project ID", "Until", "Smallest", "Largest", "Last", "State", "Version"},
    )

    def entries(self, args: argparse.Namespace) -> Iterator[Json]:
        asked = {"from": args.since, "granularity": args.granularity, "until": args.until, "as_of": args.as_of}
        asked |= {"per_az": bool(args.per_az or args.az), "availability_zone": args.az}
        path, query = f"{self.path(args)}/usage-reports", [*base.filters_of(args), *base.pairs_of(asked)]
        return base.selected(args, self._entries(path, query))

    def _entries(self, path: str, query: list[tuple[str, str]]) -> Iterator[Json]:
        """Of all pages. Says if there are none of the first part of the time."""
        is_first = True
        while query:
            report = self.limes.get(path, query)["usage_report"]
            began_at = report.get("metering_began_at", 0)
            if is_first and report.get("from", began_at) < began_at:
                self.warn(f"Metering began at {iso(began_at)}: what was used before is not known.")
            is_first = False
            yield from report["entries"]
            query = [pair for link in report["links"] for pair in parse_qsl(urlsplit(link["href"]).query)]


_add_per_az = base.option("--per-az", action="store_true", help="Each availability zone, rather than all together")
_IN_ZONE = {"Service": "service", "Resource": "resource", "AZ": "availability_zone"}


class ShowUsageHistory(base.InScope, base.Listing):
    """Show how usage, quota and commitments have grown, in a project, a domain or the whole cloud"""

    nothing = "Nothing was measured in this time."
    options = [
        base.option("--days", type=int, help="How far to look back (default: 30; 1 for hours, 366 for months)"),
        base.time_option("--from", dest="since", help="From this time on, such as 2026-11-01"),
        base.time_option("--until", help="Until this time (default: now)"),
        base.option(
            "--granularity",
            choices=("hour", "day", "month", "auto"),
            default="auto",
            help="One row for each (default: auto, which is hours for up to a day of data, else days)",
        ),
        *(_add_per_az, base.add_filters, base.add_long, base.add_unit),
    ]
    columns = col.Columns(
        {
            **_IN_ZONE,
            "Date": "date",
            **col.named(col.amount, "used", "largest", "last", "committed", "quota", "capacity"),
        },
        optional={"AZ", "Quota", "Capacity"},
        hidden={"Largest", "Last"},
        notable={"Committed": col.is_some("Committed")},
    )

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        asked = {"days": args.days, "from": args.since, "until": args.until, "granularity": args.granularity}
        found = self.query(args, f"{self.path(args)}/usage-history", **asked, per_az=args.per_az)
        points = f"{found['granularity']}s"
        return ({**each, **point} for each in base.selected(args, found["usage_history"]) for point in each[points])


def _growth(value: float, unit: Unit) -> col.Text:
    """An amount per day: for people to three digits."""
    if abs(value) < 10 and not unit.value:
        return col.Text(value, f"{value:.3g}", width=0)
    return col.Text(value, ("-" if value < 0 else "") + rounded(abs(round(value)), unit), width=0)


def _limit(each: Json, wanted: Unit | None) -> col.Text:
    amount = Amount(each["amount"], unit_of(each), wanted)
    return col.Text(each["limit"], f"{each['limit']}\n{amount.human_readable()}")


def _forecast(each: Json, _: Unit | None) -> col.Text:
    """For programs whether the limit is reached, and for people when: `in 5 weeks (3 to 9)`."""
    now = each["now"]
    if each.get("at", now + 1) <= now or each["usage"] >= each["amount"]:
        return col.Text("reached", width=17)
    if "growth_per_day" not in each:
        missing = each["missing_days"]
        return col.Text("unknown", f"needs {missing} more day{'s' if missing != 1 else ''} of data", 17)
    earliest = _ahead(each["earliest"], now) if each.get("earliest") else ""
    if "at" not in each:
        return col.Text("none", "no end in sight" + (f"\n({earliest[3:]} or more)" if earliest else ""), 17)
    words = _ahead(each["at"], now)
    if "latest" not in each:
        words += f"\n({earliest.removeprefix('in ')} or more)"
    elif (latest := _ahead(each["latest"], now)) != earliest:
        (first, unit), (last, other) = (text.removeprefix("in ").split() for text in (earliest, latest))
        words += f"\n({first}{'' if unit == other else f' {unit}'} to {last} {other})"
    return col.Text("expected", words, 17)


class ListForecasts(base.InScope, base.Listing):
    """List when the limits of a project, a domain or the whole cloud are exhausted, the first ones first"""

    nothing = "Nothing was measured so far."
    options = [_add_per_az, base.add_filters, base.add_long, base.add_unit]
    columns = col.Columns(
        {
            **_IN_ZONE,
            "Usage": col.amount("usage"),
            "Growth per Day": col.measured(_growth, "growth_per_day.expected"),
            "Lowest": col.measured(_growth, "growth_per_day.lowest"),
            "Highest": col.measured(_growth, "growth_per_day.highest"),
            "Limit": _limit,
            "Amount": col.amount("amount"),
            **col.named(col.at, "at", "earliest", "latest"),
            "Days": "days",
            "Forecast": _forecast,
        },
        optional={"AZ"},
        hidden={"Lowest", "Highest", "Amount", "At", "Earliest", "Latest", "Days"},
    )

    def entries(self, args: argparse.Namespace) -> Iterator[Json]:
        """One for each limit, with what is known of the resource."""
        found = self.query(args, f"{self.path(args)}/forecast", per_az=args.per_az)
        for each in base.selected(args, found["forecasts"]):
            for limit in each["limits"]:
                yield {**each, **limit, "now": found["sampled_at"]}


_SIZES = (("years", 365, 730), ("months", 30.4, 61), ("weeks", 7, 14))
"""Words, their length in days, and from how many days on they are used."""


def _ahead(time: int, now: int) -> str:
    """Returns how far ahead a time is, as exactly as a forecast is: `in 5 weeks`."""
    days = max(round((time - now) / 86400), 0)
    for word, size, least in _SIZES:
        if days >= least:
            return f"in {round(days / size)} {word}"
    return f"in {days} day{'s' if days != 1 else ''}"


_PAGE = 10_000
"""The most that the server gives at once."""


def _attributes(period: Json, _: Unit | None) -> col.Text:
    lines = []
    for name, value in sorted(period["attributes"].items()):
        is_amount = isinstance(value, dict) and set(value) == {"value", "unit"}
        lines.append(f"{name}: {value['value']} {value['unit']}" if is_amount else f"{name}: {value}")
    return col.Text(period["attributes"], "\n".join(lines))


class ListLifetimes(base.InScope, base.LimesLister):
    """List from when to when subresources existed, with which attributes, for billing"""

    nothing = "No subresources are known for this time."
    options = [
        base.time_option(
            "--from", dest="from_", help="Only periods that end after this time (default: 30 days before --until)"
        ),
        base.time_option("--until", help="Only periods that begin before this time (default: now)"),
        base.repeated("--az", help="Only in this availability zone"),
        base.repeated("--id", help="Only subresources of this ID"),
        base.option("--limit", metavar="<number>", type=int, help="At most this many periods (default: all)"),
        *(base.add_filters, base.add_long),
    ]
    columns = col.Columns(
        {
            **col.WHOSE,
            **col.IN_ZONE,
            "ID": lambda period, _: col.Text(period["id"], period["name"] or period["id"], width=18),
            "Name": lambda period, _: period["name"] or None,
            "Attributes": _attributes,
            **col.named(col.at, "first_seen_at", "began_at", "last_seen_at", "ended_at"),
            "Seconds": col.shown(col.age, "seconds"),
        },
        optional={"Name", "Ended At"},
        hidden={*col.WHOSE, "AZ", "Name", "First Seen At", "Began At", "Last Seen At", "Ended At"},
        unit=False,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> base.Table:
        path, columns = self.path(parsed_args), self.columns
        if "/projects/" not in path:
            columns = replace(columns, hidden={title for title in columns.hidden if title != "Project Name"})
        return self.table(parsed_args, columns, map(columns.row, self._periods(f"{path}/subresources", parsed_args)))

    def _periods(self, path: str, args: argparse.Namespace) -> Iterator[Json]:
        wanted = {"from": args.from_, "until": args.until, "availability_zone": args.az, "id": args.id}
        left, marker = args.limit, "0"
        while left is None or left > 0:
            size = _PAGE if left is None else min(_PAGE, left)
            document = self.query(args, path, **wanted, limit=size, marker=marker)
            found = document["subresources"]
            yield from base.selected(args, found)
            left = None if left is None else left - len(found)
            following = [link["href"] for link in document["subresources_links"] if link["rel"] == "next"]
            if not following:
                return
            [marker] = parse_qs(urlsplit(following[0]).query)["marker"]
