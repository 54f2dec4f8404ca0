"""What closing a day writes: the day where something has happened, and the month until its end."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from limes.actions.metering.corrections import nothing, says_the_same
from limes.actions.metering.sources import Counted, Sources
from limes.core.metering.account import Account
from limes.core.metering.calendar import Bucket, month_of, next_month
from limes.db.queries.usage_sources import Meter, StoredAccount


def ends_month(day: Bucket) -> bool:
    """Returns whether this is the last day of its month."""
    return day.end == next_month(month_of(day.begin))


@dataclass(frozen=True, slots=True)
class ClosedDay:
    """What is known of the day, and what to write. With `told`, the day was closed before, by a clock that was ahead:
    that is what was said of it."""

    known: Sources
    day: Bucket
    told: Mapping[Meter, Sequence[StoredAccount]] | None
    months_told: Mapping[Meter, int]
    """The versions of months that are open again, by meter."""
    days: list[tuple[Meter, StoredAccount]] = field(default_factory=list)
    months: list[tuple[Meter, StoredAccount]] = field(default_factory=list)
    corrected: list[tuple[str, Meter, StoredAccount]] = field(default_factory=list)
    """Days and months that say something else now."""

    def add(self, zones: Sequence[Meter]) -> None:
        """Adds a resource in all of its AZs."""
        known, day, month = self.known, self.day, month_of(self.day.begin)
        (counted,) = known.accounts(zones, [day])
        to_tell = self._to_tell(zones, counted)
        self.days.extend((meter, self._day(meter, counted[meter].account)) for meter in zones if meter in to_tell)
        if to_tell or ends_month(day):
            self.months.extend(
                (meter, self._month(meter, account))
                for meter, account in known.month_until(zones, month, day.end).items()
                if meter in to_tell or not account.is_nothing
            )

    def _to_tell(self, zones: Sequence[Meter], counted: Mapping[Meter, Counted]) -> Collection[Meter]:
        """Returns where the day has to be told: elsewhere, usage was what it was before. Where AZs are covered
        together, they are told together, as what counts in one depends on the others."""
        known, day = self.known, self.day
        if self.told is not None:
            return zones
        eventful = {
            meter
            for meter in zones
            if counted[meter].account.unknown > 0
            or any(day.begin <= step.at < day.end for step in known.steps.get(meter, ()))
        }
        return zones if eventful and known.is_pooled(zones, month_of(day.begin), day.end) else eventful

    def _day(self, meter: Meter, account: Account) -> StoredAccount:
        row = StoredAccount(self.day.begin, account, 1, self.day.end)
        if self.told is None:
            return row
        (old,) = self.told.get(meter) or [nothing(self.day.begin, self.day.end)]
        if says_the_same(old.account, account):
            return row._replace(version=old.version)
        self.corrected.append(("day", meter, old))
        return row._replace(version=old.version + 1)

    def _month(self, meter: Meter, account: Account) -> StoredAccount:
        month = month_of(self.day.begin)
        row = StoredAccount(month, account, self.months_told.get(meter, 1), self.day.end)
        if self.told is not None and ends_month(self.day) and meter not in self.months_told and not account.is_nothing:
            self.corrected.append(("month", meter, nothing(month, self.day.end)))
            return row._replace(version=2)
        return row
