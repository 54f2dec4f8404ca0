"""Amounts and times: as people type them, and as tables show them to people and programs."""

import argparse
import math
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from cliff.columns import FormattableColumn
from osc_lib.exceptions import CommandError

from limes.kernel.units import MAX_AMOUNT, Unit, UnitError, convert, find_unit

_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*\Z")
_UNITS = [unit for unit in Unit if unit.is_measured]


NO_LIMIT = "no limit"
"""What people see instead of the largest amount that there is, or sums with it."""


class AmountError(CommandError):
    """Not an amount of the resource. The message says what would be."""


def parse_amount(text: str, unit: Unit) -> int:
    """Returns the amount in `unit`. Amounts of measured resources need a unit, except 0. Raises `AmountError`."""
    match = _NUMBER.match(text)
    if match is None:
        raise AmountError(f"{text!r} is not an amount (expected for example {_example(unit)})")
    number, unit_name = Fraction(match[1]), match[2]
    if number == 0 and not unit_name:
        return 0
    if unit.is_measured and not unit_name:
        raise AmountError(f"{text!r} has no unit (did you mean {match[1]}{unit.value}?)")
    if unit_name and not unit.is_measured:
        raise AmountError(f"{text!r} has a unit, the resource has none (expected for example {_example(unit)})")
    known = find_unit(unit_name)
    if known is None:
        raise AmountError(f"{unit_name!r} is not a unit ({suggest_unit(unit_name, match[1])})")
    total = number * known.multiplier
    if total.denominator != 1:
        raise AmountError(f"{text!r} is not a whole number of {unit.value or 'things'}")
    try:
        return convert(total.numerator, Unit.BYTES.value if known.is_measured else "", unit)
    except UnitError as error:
        raise AmountError(f"{text!r}: {error}") from None


def suggest_unit(name: str, number: str = "") -> str:
    """Returns the end of an error about an unknown unit, with the number before it. GiB is also written G, Gi or GB."""
    for unit in _UNITS:
        prefix = unit.value.removesuffix("iB").lower()
        if name.lower() in (prefix, f"{prefix}i", f"{prefix}b", f"{prefix}ib"):
            return f"did you mean {number}{unit.value}?"
    return f"there are: {', '.join(_UNITS)}"


def _example(unit: Unit) -> str:
    return f"10{unit.value}"


def apply_change(text: str, present: int, unit: Unit) -> int:
    """Returns the new amount, from a text that may refer to the present one. `20` or `20GiB` is the new amount, `+5`
    and `-5GiB` count from the present one, `+10%` and `-10%` are parts of it; a part is rounded down, so that never
    more is changed than was asked for. Raises `AmountError`."""
    text = text.strip()
    if text[:1] not in ("+", "-"):
        return parse_amount(text, unit)
    sign, size = (1 if text[0] == "+" else -1), text[1:]
    if size.endswith("%"):
        match = _NUMBER.match(size[:-1])
        if match is None or match[2]:
            raise AmountError(f"{text!r} is not a change (expected for example {text[0]}10%)")
        step = int(present * Fraction(match[1]) / 100)
    else:
        step = parse_amount(size, unit)
    if present + sign * step < 0:
        raise AmountError(f"{text!r} of {exact(present, unit)} would be below zero")
    return present + sign * step


def exact(amount: int, unit: Unit) -> str:
    """For changes: the largest unit that shows the amount exactly, with at most 3 decimals: `1.5 TiB`, `204801 MiB`."""
    return _in_largest(amount, unit, 3, lambda number: (number * 1000).denominator == 1)


def rounded(amount: int, unit: Unit) -> str:
    """For tables: the largest unit that gives at least one, with at most 2 decimals: `1.18 TiB`."""
    return _in_largest(amount, unit, 2, lambda _: True)


def _in_largest(amount: int, unit: Unit, decimals: int, suits: Callable[[Fraction], bool]) -> str:
    if (word := _word(amount)) is not None:
        return word
    total = amount * unit.multiplier
    for larger in reversed(_UNITS) if unit.is_measured else ():
        number = Fraction(total, larger.multiplier)
        if unit.multiplier <= larger.multiplier <= total and suits(number):
            text = f"{float(number):.{decimals}f}" if number.denominator != 1 else str(number.numerator)
            return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {larger.value}"
    return unit.render(amount)


def _word(amount: int) -> str | None:
    if amount < 0:
        return "unlimited"
    return NO_LIMIT if amount >= MAX_AMOUNT else None


def in_unit(amount: int, unit: Unit, wanted: Unit) -> int | float:
    """Returns the number of `wanted` units: a whole number where it is one. -1, which means unlimited, stays."""
    number = Fraction(amount * unit.multiplier, wanted.multiplier)
    return amount if amount < 0 else number.numerator if number.denominator == 1 else float(number)


def unit_of(document: Mapping[str, Any]) -> Unit:
    """Returns the unit that a resource's document names; that of counted resources if it names none."""
    return find_unit(document.get("unit", "")) or Unit.COUNT


def display_unit(unit: Unit, wanted: Unit | None) -> Unit:
    """The unit for a resource if the user asks for `wanted`: its own where that is None, or the resource counted."""
    return wanted if wanted is not None and unit.is_measured else unit


class Amount(FormattableColumn[int | float]):
    """An amount: for people with a unit that suits its size, for programs a number of the unit in the column `Unit`."""

    def __init__(self, amount: int, unit: Unit, wanted: Unit | None = None, *, exactly: bool = False) -> None:
        """`wanted` is a unit that the user asks for. `exactly` shows every byte to people, too."""
        super().__init__(in_unit(amount, unit, display_unit(unit, wanted)))
        self._amount, self._unit = amount, unit
        if wanted is not None:
            number, shown = self._value, display_unit(unit, wanted)
            text = shown.render(number) if isinstance(number, int) else f"{number:.2f} {shown.value}".lstrip()
            self._text = _word(amount) or text
        else:
            self._text = exact(amount, unit) if exactly else rounded(amount, unit)

    def human_readable(self) -> str:
        return self._text

    def __lt__(self, other: object) -> bool:
        """Compares in bytes, so that columns of different units are sorted by size."""
        if not isinstance(other, Amount):
            return NotImplemented
        return self._amount * self._unit.multiplier < other._amount * other._unit.multiplier


_DAY = 86400
_NEAR = 2 * _DAY
"""Within this many seconds of the present, lists show how long ago or ahead a time is."""


def iso(seconds: float) -> str:
    """Returns a UNIX time as programs get it: `2026-01-01T00:00:00Z`."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def iso_after(seconds: float) -> str:
    """Returns the same, not before that time."""
    return iso(math.ceil(seconds))


def read_time(text: str) -> int:
    """Returns a UNIX time, or an ISO 8601 date or time (UTC, unless it says otherwise). Raises `ArgumentTypeError`."""
    try:
        if text.isascii() and text.isdigit():
            seconds = int(text)
        else:
            moment = datetime.fromisoformat(text)
            seconds = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        iso(seconds)  # a time that is no date, such as one in milliseconds, could not be shown
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time (expected for example 2027-01-31, 2027-01-31T12:00:00Z or UNIX time in seconds)"
        ) from None
    return seconds


def short(seconds: float) -> str:
    """Returns a UNIX time to the minute, or the day if it is midnight: `2027-01-31`."""
    text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
    return text.removesuffix(" 00:00")


def duration(seconds: float) -> str:
    """Returns the two largest units: `2h 5m`."""
    left, parts = max(0, round(seconds)), []
    for unit, size in (("d", _DAY), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2]) or "0s"


def distance(seconds: float, now: float) -> str:
    """Returns how far away a time is: `in 2h 5m`, `3d 4h ago`."""
    return f"in {duration(seconds - now)}" if seconds > now else f"{duration(now - seconds)} ago"


class Moment(FormattableColumn[str]):
    """A UNIX time. Lists show the distance of near ones (`in 2h 5m`) and the date of others; `in_full` shows both."""

    def __init__(self, seconds: float) -> None:
        super().__init__(iso(seconds))
        self._seconds = seconds

    def human_readable(self) -> str:
        return self.at_glance(time.time())

    def at_glance(self, now: float) -> str:
        return distance(self._seconds, now) if abs(self._seconds - now) < _NEAR else self._value[:10]

    def in_full(self, now: float | None = None) -> str:
        """Returns what is shown of a single thing: `2026-01-01 00:00:00 UTC (in 2h 5m)`."""
        return f"{self.to_the_second()} ({distance(self._seconds, time.time() if now is None else now)})"

    def to_the_second(self) -> str:
        """Returns what lists show with `--long`: `2026-01-01 00:00:00 UTC`."""
        return f"{self._value[:10]} {self._value[11:19]} UTC"
