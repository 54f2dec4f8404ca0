"""A clock that stands still until it is told to move."""

from datetime import UTC, datetime, timedelta


class FrozenClock:
    """Starts at 2026-01-01T00:00:00Z."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._now.timestamp()

    def advance(self, seconds: float) -> None:
        """Moves on."""
        self._now += timedelta(seconds=seconds)
