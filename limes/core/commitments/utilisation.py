"""How much of their commitments projects use: figures by day, and a recommended amount."""

from collections.abc import Mapping
from typing import NamedTuple


class DayOfUse(NamedTuple):
    """One day (UTC, in days since the epoch) of a project's resource in one AZ. Sums are over several samples."""

    day: int
    looks: int
    usage_sum: int
    usage_min: int
    usage_max: int
    committed_sum: int

    @property
    def usage(self) -> int:
        """The average usage, rounded down."""
        return self.usage_sum // self.looks

    @property
    def committed(self) -> int:
        """The average committed amount, rounded down."""
        return self.committed_sum // self.looks

    @property
    def unused(self) -> int:
        """How much of the committed amount was not used, on average."""
        return max(0, self.committed - self.usage)


def recommended_amount(days: Mapping[int, DayOfUse], today: int) -> int:
    """Returns the largest amount that was in use all day long on nine days out of ten, since the first known day.

    A missing day is one without usage.
    """
    if not days:
        return 0
    minima = sorted(days[day].usage_min if day in days else 0 for day in range(min(days), today + 1))
    return minima[len(minima) // 10] if minima else 0
