"""The units that months of the account have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from limes.catalog.catalog import Ref
from limes.kernel.calendar import month_of, next_month


@dataclass(frozen=True, slots=True)
class MonthUnits:
    """A month has the last unit that its resource had in it. Amounts are not converted."""

    noted: Mapping[Ref, Sequence[tuple[int, str]]] = field(default_factory=dict)
    """Since when a resource had a unit, in order."""

    def at(self, ref: Ref, time: int) -> str | None:
        """Returns the unit of the month of this time; None if none was ever noted."""
        known = self.noted.get(ref)
        if not known:
            return None
        end = next_month(month_of(time))
        # before the first one was noted, it was most likely the same
        return next((unit for since, unit in reversed(known) if since < end), known[0][1])

    def differ(self, months: Sequence[int]) -> bool:
        return any(len({self.at(ref, month) for month in months}) > 1 for ref in self.noted)
