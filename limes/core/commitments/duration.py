"""Durations of commitments: "1 year, 3 months", in one canonical form, added by the calendar in UTC."""

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches

from limes.errors import LimesError


class DurationError(LimesError):
    """A text is not a duration. The message says what a duration looks like."""


_UNITS = ("year", "month", "day", "hour", "minute", "second")
_WORDS = (*_UNITS, *(f"{unit}s" for unit in _UNITS))
_PART = re.compile(r"([0-9]{1,9})\s*(second|minute|hour|day|month|year)s?\Z")


@dataclass(frozen=True, slots=True)
class Duration:
    """A calendar duration in canonical form: at most 59 minutes, 23 hours, 11 months. Days never become months."""

    months: int = 0
    seconds: int = 0

    def __str__(self) -> str:
        """Returns the canonical text, for instance `1 year, 3 months`."""
        years, months = divmod(self.months, 12)
        minutes, seconds = divmod(self.seconds, 60)
        hours, minutes = divmod(minutes, 60)
        days, hours = divmod(hours, 24)
        amounts = zip(_UNITS, (years, months, days, hours, minutes, seconds), strict=True)
        return ", ".join(f"{amount} {unit}{'' if amount == 1 else 's'}" for unit, amount in amounts if amount)

    def after(self, start: datetime, anchor_day: int | None = None) -> datetime:
        """Returns the end of the duration that starts at `start`, in UTC. A day that the month lacks becomes its last
        one. Months are counted to `anchor_day`; None: to the day of `start`."""
        start = start.astimezone(UTC)
        year, month0 = divmod(start.year * 12 + start.month - 1 + self.months, 12)
        day = min(anchor_day or start.day, calendar.monthrange(year, month0 + 1)[1])
        return start.replace(year=year, month=month0 + 1, day=day) + timedelta(seconds=self.seconds)


def parse_duration(text: str) -> Duration:
    """Reads positive multiples of seconds to years, separated by commas. Raises `DurationError`."""
    months = seconds = 0
    for part in text.split(","):
        match = _PART.match(part.strip())
        if match is None:
            raise DurationError(f"{text!r} is not a duration ({_expected(text)})")
        amount, unit = int(match[1]), match[2]
        if unit in ("year", "month"):
            months += amount * (12 if unit == "year" else 1)
        else:
            seconds += amount * {"day": 86400, "hour": 3600, "minute": 60, "second": 1}[unit]
    if months + seconds == 0:
        raise DurationError(f"{text!r} is not a duration: it must be above zero")
    if months > 12 * 1000 or seconds > 366 * 86400 * 1000:
        raise DurationError(f"{text!r} is not a duration that can be kept: at most 1000 years")
    return Duration(months, seconds)


def _expected(text: str) -> str:
    """Returns what was probably meant."""
    meant = re.sub(r"[A-Za-z]+", lambda word: (get_close_matches(word[0].lower(), _WORDS, 1) or word)[0], text)
    if all(_PART.match(part.strip()) for part in meant.split(",")):
        return f'did you mean "{meant.strip()}"?'
    return 'expected for example "1 year" or "2 years, 6 months"'


def canonical_duration(text: str) -> str:
    """Returns the duration in canonical form, in which durations are compared. Raises `DurationError`."""
    return str(parse_duration(text))
