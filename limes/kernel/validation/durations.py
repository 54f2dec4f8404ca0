"""Durations in the configuration file: seconds, or an amount with a unit, such as `30m`, `2h` or `5 years`."""

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic.fields import FieldInfo

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400
_SECONDS: Mapping[str, float] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), _MINUTE),
    **dict.fromkeys(("h", "hour", "hours"), _HOUR),
    **dict.fromkeys(("d", "day", "days"), _DAY),
    **dict.fromkeys(("w", "week", "weeks"), 7 * _DAY),
    **dict.fromkeys(("y", "year", "years"), _YEAR),
}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)")
_EXAMPLES = "a number of seconds, or an amount with a unit such as 30s, 5m, 2h, 7 days or 1 year"


def read_duration(value: Any) -> float:
    """Returns seconds. A year is 365 days; there are no months, as they differ. Raises `ValueError`."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"expected {_EXAMPLES}")
    seconds = _seconds_in(value.strip().lower()) if isinstance(value, str) else float(value)
    if not math.isfinite(seconds):
        raise ValueError(f"expected {_EXAMPLES}")
    return seconds


def _seconds_in(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        pass
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text).replace(",", "").strip():
        raise ValueError(f"expected {_EXAMPLES}")
    for _, unit in parts:
        if unit.startswith("month"):
            raise ValueError("months differ in length; give days, such as 90 days")
        if unit not in _SECONDS:
            raise ValueError(f"there is no unit {unit!r}; expected {_EXAMPLES}")
    return sum(float(amount) * _SECONDS[unit] for amount, unit in parts)


def say_duration(seconds: float) -> str:
    """Returns a duration as people say it, in the largest unit that divides it: `5 years`, `90 minutes`."""
    for unit, size in (("year", _YEAR), ("day", _DAY), ("hour", _HOUR), ("minute", _MINUTE)):
        if seconds and seconds % size == 0:
            amount = int(seconds // size)
            return f"{amount} {unit}" if amount == 1 else f"{amount} {unit}s"
    return "0" if not seconds else "1 second" if seconds == 1 else f"{seconds:.15g} seconds"


_MARK = object()
"""Tells the types of durations from other numbers."""

SecondsOrZero = Annotated[float, _MARK, BeforeValidator(read_duration), Field(ge=0)]
"""A duration; in the program, a number of seconds."""
Seconds = Annotated[float, _MARK, BeforeValidator(read_duration), Field(gt=0)]
"""A duration above zero; in the program, a number of seconds."""
WholeSeconds = Annotated[int, _MARK, BeforeValidator(read_duration), Field(ge=0)]
"""A duration of whole seconds."""


def is_duration(field: FieldInfo) -> bool:
    """Returns whether a setting is one of the types above, so that `say_duration` shows its default."""
    return _MARK in field.metadata
