"""How usage has grown, and when it reaches its limits: `limes usage history`, `limes forecast list`."""

import argparse
from collections.abc import Iterable, Iterator

from limes.core.units import Unit
from limes_osc.amounts import Amount, Measured, rounded, unit_of
from limes_osc.base import InScope, Listing
from limes_osc.client import Json
from limes_osc.columns import Columns, Text, amount, at, is_some, measured
from limes_osc.options import add_filters, add_long, add_unit, option, selected, time_option

_add_per_az = option("--per-az", action="store_true", help="Each availability zone, rather than all together")
_IN_ZONE = {"Service": "service", "Resource": "resource", "AZ": "availability_zone"}


class ShowUsageHistory(InScope, Listing):
    """Show how usage, quota and commitments have grown, in a project, a domain or the whole cloud"""

    nothing = "Nothing was measured in this time."
    options = [
        option("--days", type=int, help="How far to look back (default: 30; 1 for hours, 366 for months)"),
        time_option("--from", dest="since", help="From this time on, such as 2026-11-01"),
        time_option("--until", help="Until this time (default: now)"),
        option(
            "--granularity",
            choices=("hour", "day", "month", "auto"),
            default="auto",
            help="One row for each (default: auto, which is hours for up to a day of data, else days)",
        ),
        *(_add_per_az, add_filters, add_long, add_unit),
    ]
    columns = Columns(
        {
            **_IN_ZONE,
            "Date": "date",
            **{name.title(): amount(name) for name in ("used", "largest", "last", "committed", "quota", "capacity")},
        },
        optional={"AZ", "Quota", "Capacity"},
        hidden={"Largest", "Last"},
        notable={"Committed": is_some("Committed")},
    )

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        asked = {"days": args.days, "from": args.since, "until": args.until, "granularity": args.granularity}
        found = self.query(args, f"{self.path(args)}/usage-history", **asked, per_az=args.per_az)
        points = f"{found['granularity']}s"
        return ({**each, **point} for each in selected(args, found["usage_history"]) for point in each[points])


class GrowthPerDay(Measured[float]):
    """Amounts per day: for people to three digits."""

    def human_readable(self) -> str:
        if abs(self._value) < 10 and not self._unit.value:
            return f"{self._value:.3g}"
        sign = "-" if self._value < 0 else ""
        return sign + rounded(abs(round(self._value)), self._unit)


def _limit(each: Json, wanted: Unit | None) -> Text:
    amount = Amount(each["amount"], unit_of(each), wanted)
    return Text(each["limit"], f"{each['limit']}\n{amount.human_readable()}")


class ListForecasts(InScope, Listing):
    """List when the limits of a project, a domain or the whole cloud are exhausted, the first ones first"""

    nothing = "Nothing was measured so far."
    options = [_add_per_az, add_filters, add_long, add_unit]
    columns = Columns(
        {
            **_IN_ZONE,
            "Usage": amount("usage"),
            "Growth per Day": measured(GrowthPerDay, "growth_per_day.expected"),
            "Lowest": measured(GrowthPerDay, "growth_per_day.lowest"),
            "Highest": measured(GrowthPerDay, "growth_per_day.highest"),
            "Limit": _limit,
            "Amount": amount("amount"),
            "At": at("at"),
            "Earliest": at("earliest"),
            "Latest": at("latest"),
            "Days": "days",
            "Forecast": lambda each, _: Text(_state(each), _words(each), width=17),
        },
        optional={"AZ"},
        hidden={"Lowest", "Highest", "Amount", "At", "Earliest", "Latest", "Days"},
    )

    def entries(self, args: argparse.Namespace) -> Iterator[Json]:
        """Yields each limit, with what is known of the resource."""
        found = self.query(args, f"{self.path(args)}/forecast", per_az=args.per_az)
        for each in selected(args, found["forecasts"]):
            for limit in each["limits"]:
                yield {**each, **limit, "now": found["sampled_at"]}


def _state(each: Json) -> str:
    """Returns what programs read."""
    if each.get("at", each["now"] + 1) <= each["now"] or each["usage"] >= each["amount"]:
        return "reached"
    if "growth_per_day" not in each:
        return "unknown"
    return "expected" if "at" in each else "none"


def _words(each: Json) -> str:
    """Returns what people read: `in 5 weeks (3 to 9)`."""
    state, now = _state(each), each["now"]
    if state == "reached":
        return "reached"
    if state == "unknown":
        missing = each["missing_days"]
        return f"needs {missing} more day{'s' if missing != 1 else ''} of data"
    if state == "none":
        earliest = each.get("earliest")
        return "no end in sight" + (f"\n({_ahead(earliest, now)[3:]} or more)" if earliest else "")
    expected, earliest = _ahead(each["at"], now), _ahead(each["earliest"], now)
    if "latest" not in each:
        return f"{expected}\n({earliest.removeprefix('in ')} or more)"
    latest = _ahead(each["latest"], now)
    return expected if earliest == latest else f"{expected}\n({_range(earliest, latest)})"


def _range(earliest: str, latest: str) -> str:
    """Returns `3 to 9 weeks`."""
    (first, unit), (last, other) = (text.removeprefix("in ").split() for text in (earliest, latest))
    return f"{first} to {last} {other}" if unit == other else f"{first} {unit} to {last} {other}"


_SIZES = (("years", 365, 730), ("months", 30.4, 61), ("weeks", 7, 14))
"""Words, their length in days, and from how many days on they are used."""


def _ahead(time: int, now: int) -> str:
    """Returns how far ahead a time is, as exactly as a forecast is: `in 5 weeks`."""
    days = max(round((time - now) / 86400), 0)
    for word, size, least in _SIZES:
        if days >= least:
            return f"in {round(days / size)} {word}"
    return f"in {days} day{'s' if days != 1 else ''}"
