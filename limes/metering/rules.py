"""The account of one project, resource and AZ over a time: what was used, committed, and used beyond that.

Usage is constant from one step to the next. In a gap it is not known: it counts as unknown, never as 0. Commitments are
known at all times. Times are whole seconds since the epoch, and totals are amount-seconds: an amount of 3 for a minute
is 180.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct, field

from limes.catalog.catalog import ANY_AZ, Ref
from limes.kernel.calendar import month_of, next_month


class Step(NamedTuple):
    """From this time on, so much is used."""

    at: int
    usage: int


class Gap(NamedTuple):
    """A time in which the usage is unknown; `end` itself is not part of it."""

    begin: int
    end: int


class CommittedTime(NamedTuple):
    """A time in which an amount was committed; `end` itself is not part of it."""

    begin: int
    end: int
    amount: int


class Account(NamedTuple):
    """What happened in a time. The first three are amount-seconds."""

    used: int
    committed: int
    beyond: int
    """Used beyond what was committed, at each moment."""
    unknown: int
    """Seconds in which the usage is unknown: nothing is counted as used in them."""
    smallest: int | None
    """The smallest and largest usage that was known; None if none was."""
    largest: int | None
    last: int
    """The usage at the end, as far as known: what the next time begins with."""

    @property
    def is_nothing(self) -> bool:
        """Nothing was used or committed, which was known all the time."""
        return not (self.used or self.committed or self.unknown or self.largest or self.last)


def constant(begin: int, end: int, usage: int) -> Account:
    """Returns the account of a time without steps, gaps and commitments."""
    used = usage * (end - begin)
    return Account(used, 0, used, 0, usage, usage, usage)


def integrate(
    begin: int,
    end: int,
    usage: int,
    steps: Sequence[Step] = (),
    gaps: Iterable[Gap] = (),
    committed: Iterable[CommittedTime] = (),
) -> Account:
    """Returns the account from `begin` to `end`. `usage` is what was used at the beginning. Steps are in order; those
    outside of the time are ignored. Gaps may overlap, and so may committed times, which add up."""
    steps = [step for step in steps if begin <= step.at < end]
    gaps = [gap for gap in gaps if gap.begin < end and gap.end > begin]
    committed = [time for time in committed if time.begin < end and time.end > begin]
    if not steps and not gaps and not committed:
        return constant(begin, end, usage)
    times = {begin, end, *(step.at for step in steps)}
    for first, last in (*(gap[:2] for gap in gaps), *(time[:2] for time in committed)):
        times.update((max(first, begin), min(last, end)))
    moments = sorted(times)
    pieces = []
    remaining = iter((*steps, Step(end, 0)))
    upcoming = next(remaining)
    for start, stop in pairwise(moments):
        while upcoming.at <= start:
            usage, upcoming = upcoming.usage, next(remaining)
        amount = sum(time.amount for time in committed if time.begin <= start < time.end)
        is_known = not any(gap.begin <= start < gap.end for gap in gaps)
        seconds, beyond = stop - start, max(usage - amount, 0)
        piece = Account(0, amount * seconds, 0, seconds, None, None, usage)
        if is_known:
            piece = Account(usage * seconds, amount * seconds, beyond * seconds, 0, usage, usage, usage)
        pieces.append(piece)
    return reduce(add, pieces)


class Zone(NamedTuple):
    usage: int
    """At the beginning."""
    steps: Sequence[Step] = ()
    committed: Sequence[CommittedTime] = ()


def integrate_each(begin: int, end: int, zones: Mapping[str, Zone], gaps: Sequence[Gap] = ()) -> dict[str, Account]:
    return {az: integrate(begin, end, zone.usage, zone.steps, gaps, zone.committed) for az, zone in zones.items()}


def integrate_zones(begin: int, end: int, zones: Mapping[str, Zone], gaps: Sequence[Gap] = ()) -> dict[str, Account]:
    """Returns the accounts of a resource by AZ. A commitment in a real AZ covers usage there. One in the AZ `any` is
    pooled: it covers usage in all AZs, as far as their own commitments do not. While there is one, what was used beyond
    stands in `any`, and is 0 in all others. So a sum over AZs counts it once."""
    found = integrate_each(begin, end, zones, gaps)
    if any(time.begin < end and time.end > begin for time in pooled_times(zones)):
        for az, beyond in _beyond(begin, end, zones, gaps).items():
            found[az] = found[az]._replace(beyond=beyond)
    return found


def pooled_times(zones: Mapping[str, Zone]) -> Sequence[CommittedTime]:
    """Returns the times of commitments that cover usage in all AZs."""
    return zones[ANY_AZ].committed if ANY_AZ in zones else ()


def _beyond(begin: int, end: int, zones: Mapping[str, Zone], gaps: Sequence[Gap]) -> dict[str, int]:
    steps = sorted((step.at, az, step.usage) for az, zone in zones.items() for step in zone.steps if begin <= step.at)
    times = {begin, end, *(at for at, _, _ in steps)}
    times.update(*(span[:2] for span in gaps), *(time[:2] for zone in zones.values() for time in zone.committed))
    usages = {az: zone.usage for az, zone in zones.items()}
    found = dict.fromkeys(zones, 0)
    following = 0
    for start, stop in pairwise(sorted(time for time in times if begin <= time <= end)):
        while following < len(steps) and steps[following][0] <= start:
            _, az, usages[az] = steps[following]
            following += 1
        if any(gap.begin <= start < gap.end for gap in gaps):
            continue
        committed = {
            az: sum(time.amount for time in zone.committed if time.begin <= start < time.end)
            for az, zone in zones.items()
        }
        uncovered = {az: max(usage - committed[az], 0) for az, usage in usages.items() if az != ANY_AZ}
        if committed[ANY_AZ]:
            uncovered = {ANY_AZ: max(sum(uncovered.values()) + usages[ANY_AZ] - committed[ANY_AZ], 0)}
        else:
            uncovered[ANY_AZ] = usages[ANY_AZ]
        for az, amount in uncovered.items():
            found[az] += amount * (stop - start)
    return found


def add_zones(accounts: Sequence[Account]) -> Account:
    """Returns the account of a resource in all AZs, at the same time. Usage is unknown in all of them at once. What was
    smallest and largest in each was hardly so at the same time, so that is left out."""
    used, committed, beyond = (sum(totals) for totals in list(zip(*accounts, strict=True))[:3])
    unknown = max(account.unknown for account in accounts)
    return Account(used, committed, beyond, unknown, None, None, sum(account.last for account in accounts))


def add(earlier: Account, later: Account) -> Account:
    """Returns the account of two consecutive times."""
    return Account(
        earlier.used + later.used,
        earlier.committed + later.committed,
        earlier.beyond + later.beyond,
        earlier.unknown + later.unknown,
        _choose(min, earlier.smallest, later.smallest),
        _choose(max, earlier.largest, later.largest),
        later.last,
    )


def _choose(choose: Callable[[list[int]], int], one: int | None, other: int | None) -> int | None:
    known = [value for value in (one, other) if value is not None]
    return choose(known) if known else None


class MonthUnits(Struct, frozen=True):
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
