"""SQLite's `SUM`, but that it ends at the largest integer of the database instead of failing there."""

_LARGEST = 2**63 - 1


class SaturatingSum:
    """The aggregate function. A sum that would not fit into 64 bits is an error to SQLite's own, and with it the whole
    statement. PostgreSQL's is NUMERIC and has no end."""

    def __init__(self) -> None:
        self._total: int | float | None = None

    def step(self, value: int | float | None) -> None:
        """Adds a value; nulls do not count."""
        if value is not None:
            self._total = value if self._total is None else self._total + value

    def finalize(self) -> int | float | None:
        """The sum; null where there was no value."""
        if isinstance(self._total, int):
            return max(-_LARGEST, min(self._total, _LARGEST))
        return self._total
