"""The only places that read time and randomness. They come in through constructors, so that tests never patch."""

import random
import secrets
import time
import uuid
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Returns the present, with time zone UTC, truncated to whole microseconds."""

    def monotonic(self) -> float:
        """Returns seconds from an arbitrary start that never go back."""


class IdSource(Protocol):
    def uuid(self) -> str:
        """Returns a new UUID (version 4), lower case with dashes."""

    def token(self) -> str:
        """48 hexadecimal digits of secret randomness (24 bytes)."""


class Jitter(Protocol):
    """Spreads scheduled times, so that work does not come in waves."""

    def spread(self, seconds: float) -> float:
        """Returns a duration near `seconds`: within plus or minus 10 percent of it."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class SystemIds:
    def uuid(self) -> str:
        return str(uuid.uuid4())

    def token(self) -> str:
        return secrets.token_hex(24)


class RandomJitter:
    def spread(self, seconds: float) -> float:
        return seconds * random.uniform(0.9, 1.1)  # noqa: S311 - spreads load, guards no secret
