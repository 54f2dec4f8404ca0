"""A commitment and its life: pure functions from one frozen value to the next.

    planned --confirm_by--> pending --capacity--> confirmed --duration--> expired
       \\_______________________________________/    |
                 (confirmed at once)                 \\--split, merge, convert--> superseded, with successors

Unconfirmed commitments (`planned` and `pending`) expire as well. `reshaping` makes new commitments of old ones, and
`claims` decides whether there is capacity. Times are seconds since the epoch, UTC. Durations ("1 year, 3 months") have
one canonical form, and are added by the calendar in UTC.
"""

import calendar
import enum
import re
from datetime import UTC, datetime, timedelta

from msgspec import Struct, structs

from limes.kernel.errors import Conflict, LimesError, Unprocessable


class Status(enum.StrEnum):
    """Where a commitment is in its life."""

    PLANNED = "planned"
    """To be confirmed later: `confirm_by` is ahead."""
    PENDING = "pending"
    """To be confirmed as soon as there is capacity: `confirm_by` has passed."""
    CONFIRMED = "confirmed"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"


LIVE = frozenset({Status.PLANNED, Status.PENDING, Status.CONFIRMED})


class Commitment(Struct, frozen=True):
    """A project's promise to use an amount of a resource in one AZ for a time."""

    id: int
    """The number in the API; 0 until it is stored."""
    uuid: str
    project_id: int
    resource_id: int
    az: str
    amount: int
    duration: str
    """Canonical text."""
    status: Status
    created_at: float
    creator_uuid: str
    creator_name: str
    confirm_by: float | None
    confirmed_at: float | None
    expires_at: float
    superseded_at: float | None = None
    predecessor_id: int | None = None
    """The commitment that it was split, merged or converted from, or that it renews."""
    transfer_status: str = ""
    transfer_token: str | None = None
    auto_renews: bool = False
    """Whether it is renewed before its end without a request. Its renewal inherits that."""
    renewal_error: str = ""
    """Why it could not be, at the last try."""
    anchor_day: int | None = None
    """Of a renewal that begins on the last day of a shorter month: the day that its months are counted to. From
    31 January, a month ends on 28 February, and the next one on 31 March."""

    @property
    def is_live(self) -> bool:
        return self.status in LIVE

    @property
    def is_confirmed(self) -> bool:
        """Whether it blocks capacity and counts for bills."""
        return self.status is Status.CONFIRMED

    @property
    def starts_at(self) -> float:
        """When its duration begins: at `confirm_by`, else when it was confirmed at once."""
        if self.confirm_by is not None:
            return self.confirm_by
        return self.created_at if self.confirmed_at is None else self.confirmed_at


def end_of(start: float, duration: str, anchor_day: int | None = None) -> float:
    """Returns when a duration that begins at `start` ends, by the calendar in UTC."""
    return parse_duration(duration).after(datetime.fromtimestamp(start, UTC), anchor_day).timestamp()


def advance(commitment: Commitment, now: float) -> Commitment:
    """Returns the commitment as time alone changes it: a planned one becomes pending, and any live one expires."""
    if not commitment.is_live:
        return commitment
    if commitment.expires_at <= now:
        return structs.replace(withdraw(commitment), status=Status.EXPIRED)
    if commitment.status is Status.PLANNED and commitment.confirm_by is not None and commitment.confirm_by <= now:
        return structs.replace(commitment, status=Status.PENDING)
    return commitment


def confirm(commitment: Commitment, now: float) -> Commitment:
    """Confirms a pending one, for which the caller has found capacity. Its end does not move."""
    if commitment.status is not Status.PENDING:
        raise Conflict(f"commitment {commitment.id} is {commitment.status}, so it cannot be confirmed")
    return structs.replace(commitment, status=Status.CONFIRMED, confirmed_at=now)


def require_live(commitment: Commitment) -> None:
    """Raises `Conflict` for a commitment that has ended."""
    if not commitment.is_live:
        raise Conflict(f"commitment {commitment.id} is {commitment.status}")


# -- transfer ----------------------------------------------------------------------------------------------------------


def offer(commitment: Commitment, transfer_status: str, token: str) -> Commitment:
    """Marks it for transfer. A new token replaces the old one, which is void then."""
    require_live(commitment)
    if not commitment.is_confirmed:
        raise Unprocessable("commitment needs to be confirmed in order to transfer it.")
    return structs.replace(commitment, transfer_status=transfer_status, transfer_token=token)


def withdraw(commitment: Commitment) -> Commitment:
    return structs.replace(commitment, transfer_status="", transfer_token=None)


def hand_over(commitment: Commitment, project_id: int) -> Commitment:
    """Gives it to another project, which has not asked for a renewal. Otherwise unchanged."""
    return structs.replace(withdraw(commitment), project_id=project_id, auto_renews=False, renewal_error="")


# -- durations ---------------------------------------------------------------------------------------------------------


class DurationError(LimesError):
    """A text is not a duration. The message says what a duration looks like."""


_UNITS = ("year", "month", "day", "hour", "minute", "second")
_WORDS = (*_UNITS, *(f"{unit}s" for unit in _UNITS))
_EXAMPLES = 'expected for example "1 year" or "2 years, 6 months"'
_PART = re.compile(r"([0-9]{1,9})\s*(second|minute|hour|day|month|year)s?\Z")


class Duration(Struct, frozen=True):
    """A calendar duration in canonical form: at most 59 minutes, 23 hours, 11 months. Days never become months."""

    months: int = 0
    seconds: int = 0

    def __str__(self) -> str:
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
            from difflib import get_close_matches  # rarely needed

            meant = re.sub(r"[A-Za-z]+", lambda word: (get_close_matches(word[0].lower(), _WORDS, 1) or word)[0], text)
            is_plain = all(_PART.match(part.strip()) for part in meant.split(","))
            advice = f'did you mean "{meant.strip()}"?' if is_plain else _EXAMPLES
            raise DurationError(f"{text!r} is not a duration ({advice})")
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


def canonical_duration(text: str) -> str:
    """Returns the duration in canonical form, in which durations are compared. Raises `DurationError`."""
    return str(parse_duration(text))
