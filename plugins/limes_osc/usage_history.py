"""How usage has grown, and when it reaches its limits: `limes usage history`, `limes forecast list`."""

import argparse
from collections.abc import Iterator
from typing import ClassVar

from cliff.columns import FormattableColumn

from limes.core.units import Unit
from limes_osc.amounts import Amount, shown_unit, unit_of
from limes_osc.base import LimesLister, Options, Table
from limes_osc.cells import Text
from limes_osc.client import Json
from limes_osc.columns import Columns, Row
from limes_osc.options import add_filters, add_long, add_unit, filters_of, selects
from limes_osc.targets import InScope
from limes_osc.times import moment, read_time


def _add_range(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--days", metavar="<days>", type=int, help="How far to look back (default: 30; 1 for hours, 366 for months)"
    )
    parser.add_argument(
        "--from", dest="since", metavar="<time>", type=read_time, help="From this time on, such as 2026-11-01"
    )
    parser.add_argument("--until", metavar="<time>", type=read_time, help="Until this time (default: now)")
    parser.add_argument(
        "--granularity",
        choices=("hour", "day", "month", "auto"),
        default="auto",
        help="One row for each (default: auto, which is hours for up to a day of data, else days)",
    )


def _add_per_az(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--per-az", action="store_true", help="Each availability zone, rather than all together")


class ShowUsageHistory(InScope, LimesLister):
    """Show how usage, quota and commitments have grown, in a project, a domain or the whole cloud"""

    nothing = "Nothing was measured in this time."
    options: ClassVar[Options] = (_add_range, _add_per_az, add_filters, add_long, add_unit)
    _columns = Columns(
        [
            *("Service", "Resource", "AZ", "Date", "Used", "Largest", "Last", "Committed", "Quota", "Capacity"),
        ],
        optional={"AZ", "Quota", "Capacity"},
        hidden={"Largest", "Last"},
        notable={"Committed": lambda row: row["Has"]},
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each resource and time."""
        asked = {"days": parsed_args.days, "from": parsed_args.since, "until": parsed_args.until}
        query = [(name, str(value)) for name, value in asked.items() if value is not None]
        query += [("granularity", parsed_args.granularity), *_per_az(parsed_args)]
        path = f"{self.path(parsed_args)}/usage-history"
        found = self.limes.get(path, [*filters_of(parsed_args), *query])
        rows = (
            _point(each, point, parsed_args)
            for each in found["usage_history"]
            if selects(parsed_args, each["service"], each["resource"])
            for point in each[f"{found['granularity']}s"]
        )
        return self.table(parsed_args, self._columns, rows)


def _per_az(args: argparse.Namespace) -> list[tuple[str, str]]:
    return [("per_az", "true")] if args.per_az else []


def _point(each: Json, point: Json, args: argparse.Namespace) -> Row:
    unit = unit_of(each)

    def amount(name: str) -> Amount | None:
        return Amount(point[name], unit, args.unit) if name in point else None

    return {
        "Service": each["service"],
        "Resource": each["resource"],
        "AZ": each.get("availability_zone"),
        "Date": point["date"],
        "Used": amount("used"),
        "Largest": amount("largest"),
        "Last": amount("last"),
        "Committed": amount("committed"),
        "Has": point["committed"] > 0,
        "Quota": amount("quota"),
        "Capacity": amount("capacity"),
        "Unit": shown_unit(each, args.unit),
    }


class GrowthPerDay(FormattableColumn[float]):
    """Amounts per day: for people to three digits."""

    def __init__(self, amount: float, unit: Unit) -> None:
        super().__init__(amount)
        self._unit = unit

    def human_readable(self) -> str:
        """See above."""
        if abs(self._value) < 10 and not self._unit.value:
            return f"{self._value:.3g}"
        sign = "-" if self._value < 0 else ""
        return sign + Amount(abs(round(self._value)), self._unit).human_readable()


class ListForecasts(InScope, LimesLister):
    """List when the limits of a project, a domain or the whole cloud are exhausted, the first ones first"""

    nothing = "Nothing was measured so far."
    options: ClassVar[Options] = (_add_per_az, add_filters, add_long, add_unit)
    _columns = Columns(
        [
            *("Service", "Resource", "AZ", "Usage", "Growth per Day", "Lowest", "Highest", "Limit", "Amount"),
            *("At", "Earliest", "Latest", "Days", "Forecast"),
        ],
        optional={"AZ"},
        hidden={"Lowest", "Highest", "Amount", "At", "Earliest", "Latest", "Days"},
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each resource and limit."""
        path = f"{self.path(parsed_args)}/forecast"
        found = self.limes.get(path, [*filters_of(parsed_args), *_per_az(parsed_args)])
        rows = (
            row
            for each in found["forecasts"]
            if selects(parsed_args, each["service"], each["resource"])
            for row in _limits(each, parsed_args, found["sampled_at"])
        )
        return self.table(parsed_args, self._columns, rows)


def _limits(each: Json, args: argparse.Namespace, now: int) -> Iterator[Row]:
    unit = unit_of(each)
    growth = each.get("growth_per_day")
    speeds = {name: GrowthPerDay(growth[name], unit) for name in growth} if growth else {}
    head = {
        "Service": each["service"],
        "Resource": each["resource"],
        "AZ": each.get("availability_zone"),
        "Usage": Amount(each["usage"], unit, args.unit),
        "Growth per Day": speeds.get("expected"),
        "Lowest": speeds.get("lowest"),
        "Highest": speeds.get("highest"),
        "Days": each["days"],
        "Unit": shown_unit(each, args.unit),
    }
    for limit in each["limits"]:
        amount = Amount(limit["amount"], unit, args.unit)
        yield {
            **head,
            "Limit": Text(limit["limit"], f"{limit['limit']}\n{amount.human_readable()}"),
            "Amount": amount,
            "At": moment(limit.get("at")),
            "Earliest": moment(limit.get("earliest")),
            "Latest": moment(limit.get("latest")),
            "Forecast": Text(_state(each, limit, now), _words(each, limit, now), width=17),
        }


def _state(each: Json, limit: Json, now: int) -> str:
    """Returns what programs read."""
    if limit.get("at", now + 1) <= now or each["usage"] >= limit["amount"]:
        return "reached"
    if "growth_per_day" not in each:
        return "unknown"
    return "expected" if "at" in limit else "none"


def _words(each: Json, limit: Json, now: int) -> str:
    """Returns what people read: `in 5 weeks (3 to 9)`."""
    state = _state(each, limit, now)
    if state == "reached":
        return "reached"
    if state == "unknown":
        missing = each["missing_days"]
        return f"needs {missing} more day{'s' if missing != 1 else ''} of data"
    if state == "none":
        earliest = limit.get("earliest")
        return "no end in sight" + (f"\n({_ahead(earliest, now)[3:]} or more)" if earliest else "")
    expected, earliest = _ahead(limit["at"], now), _ahead(limit["earliest"], now)
    if "latest" not in limit:
        return f"{expected}\n({earliest.removeprefix('in ')} or more)"
    latest = _ahead(limit["latest"], now)
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
