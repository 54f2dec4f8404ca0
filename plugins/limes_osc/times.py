"""Times: ISO 8601 in UTC for programs, and for people what can be read at a glance."""

import argparse
import math
import time
from datetime import UTC, datetime

from cliff.columns import FormattableColumn

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
        seconds = int(text) if text.isascii() and text.isdigit() else _seconds(datetime.fromisoformat(text))
        iso(seconds)  # a time that is no date, such as one in milliseconds, could not be shown
    except (ValueError, OverflowError, OSError):
        message = (
            f"{text!r} is not a time (expected for example 2027-01-31, 2027-01-31T12:00:00Z or UNIX time in seconds)"
        )
        raise argparse.ArgumentTypeError(message) from None
    return seconds


def _seconds(moment: datetime) -> int:
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


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
        """Returns what lists show."""
        return distance(self._seconds, now) if abs(self._seconds - now) < _NEAR else self._value[:10]

    def in_full(self, now: float | None = None) -> str:
        """Returns what is shown of a single thing: `2026-01-01 00:00:00 UTC (in 2h 5m)`."""
        return f"{self.to_the_second()} ({distance(self._seconds, time.time() if now is None else now)})"

    def to_the_second(self) -> str:
        """Returns what lists show with `--long`: `2026-01-01 00:00:00 UTC`."""
        return f"{self._value[:10]} {self._value[11:19]} UTC"


class Age(FormattableColumn[float]):
    """A duration in seconds; for people `2h 5m`."""

    def human_readable(self) -> str:
        return duration(self._value)
