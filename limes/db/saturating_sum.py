"""SQLite's `SUM`, except that it stops at the largest integer of the database instead of failing there."""

_LARGEST = 2**63 - 1


class SaturatingSum:
    """The aggregate function. With SQLite's own, a statement fails if a sum does not fit into 64 bits. PostgreSQL's is
    NUMERIC and has no limit."""

    def __init__(self) -> None:
        self._total: int | float | None = None

    def step(self, value: int | float | None) -> None:
        """Adds a value; nulls do not count."""
        if value is not None:
            self._total = value if self._total is None else self._total + value

    def finalize(self) -> int | float | None:
        """Returns the sum; null where there was no value."""
        if isinstance(self._total, int):
            return max(-_LARGEST, min(self._total, _LARGEST))
        return self._total
