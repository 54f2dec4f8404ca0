"""From computed quotas to the ones that are written now: small changes wait, so that the history stays readable.

A change waits if it is small, the last one was not long ago, what the project has now covers all it needs, and is
within its bounds. But no change waits that makes room for others: with what waits, no AZ has more quota than computed,
unless there is capacity for it.

What is written is written in pieces, those first that make room.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from limes.autogrow.rules import ProjectBounds
from limes.catalog.catalog import ANY_AZ, AutogrowRule
from limes.kernel.units import MAX_AMOUNT

Quotas = Mapping[str, int]
"""By AZ. Those of 0 are missing."""


class Proposal(NamedTuple):
    """A project's quota as it is, and as it was computed."""

    id: int
    old: Quotas
    new: Quotas
    needed: Quotas
    changed_at: float = 0
    """When the quota was changed last."""
    bounds: ProjectBounds = ProjectBounds()

    def may_wait(self, rule: AutogrowRule, now: float) -> bool:
        """Returns whether the change is small enough, too soon, and not needed."""
        old, new = sum(self.old.values()), sum(self.new.values())
        age = abs(now - self.changed_at)  # below 0 after a clock that was ahead
        if abs(new - old) >= old * rule.minor_change or age >= rule.minor_change_interval:
            return False
        if any(self.old.get(az, 0) < amount for az, amount in self.needed.items()):
            return False
        bounds = self.bounds
        if bounds.forbids_growth and old > max(sum(self.needed.values()), bounds.minimum):
            return False
        return bounds.minimum <= old and (bounds.maximum is None or old <= bounds.maximum)


def capped(quotas: Quotas) -> Quotas:
    """Returns quotas whose sum is no more than the largest amount there is."""
    excess = sum(quotas.values()) - MAX_AMOUNT
    if excess <= 0:
        return quotas
    kept = {}
    for az, quota in sorted(quotas.items()):
        taken = min(quota, max(excess, 0))
        excess -= taken
        if quota > taken:
            kept[az] = quota - taken
    return kept


def cover(present: Quotas, needed: Quotas) -> Quotas:
    """Returns quotas that cover what is needed in each AZ. What is in no particular AZ, and not needed there, is taken
    first; so no more is added than has to be."""
    missing = {az: amount - present.get(az, 0) for az, amount in needed.items() if amount > present.get(az, 0)}
    spare = max(0, present.get(ANY_AZ, 0) - needed.get(ANY_AZ, 0))
    taken = min(spare, sum(missing.values()))
    covered = {az: present.get(az, 0) + missing.get(az, 0) for az in {**present, **missing}}
    if taken:
        covered[ANY_AZ] -= taken
    return capped({az: quota for az, quota in covered.items() if quota})


def choose_changes(
    capacity: Mapping[str, int], proposals: Sequence[Proposal], rule: AutogrowRule, now: float
) -> list[Proposal]:
    """Returns the proposals to write now, in their order: those that change something and need not wait."""
    waiting = {each.id: each for each in proposals if each.old != each.new and each.may_wait(rule, now)}
    if waiting:
        _release(waiting, capacity, proposals)
    return [each for each in proposals if each.old != each.new and each.id not in waiting]


def _release(waiting: dict[int, Proposal], capacity: Mapping[str, int], proposals: Sequence[Proposal]) -> None:
    """Removes from `waiting` the proposals that must not wait."""
    computed = _sum(each.new for each in proposals)
    kept = computed.copy()
    for each in waiting.values():
        _move(kept, each.new, each.old)
    real, in_all = _limits(capacity, computed, kept)
    while waiting:
        crowded = {az for az, limit in real.items() if kept[az] > limit}
        is_crowded = kept.total() > in_all
        released = [each for each in waiting.values() if _takes_room(each, crowded, everywhere=is_crowded)]
        if not released:
            return
        for each in released:
            del waiting[each.id]
            _move(kept, each.old, each.new)


def _limits(capacity: Mapping[str, int], computed: Counter[str], azs: Iterable[str]) -> tuple[dict[str, int], int]:
    """Returns how much quota there may be in each of these AZs and in all: the capacity, or what was computed beyond.
    Quota in no particular AZ only counts in all."""
    real = {az: max(capacity.get(az, 0), computed[az]) for az in azs if az != ANY_AZ}
    return real, max(sum(capacity.values()), computed.total())


_ROUNDS = 8
"""How often it is looked for changes that fit by now. What does not fit then is one piece, whatever its size."""


def split(
    capacity: Mapping[str, int], proposals: Sequence[Proposal], changes: Sequence[Proposal], size: int
) -> Iterator[list[Proposal]]:
    """Yields the changes (some of the proposals) in pieces, in an order in which they can be written. After
    each piece, no AZ and not all of them together have more quota than at first, or than `choose_changes` allows. What
    can only be changed together, as quota of one project goes to another AZ and vice versa, is one piece."""
    if not changes:
        return
    sums = _sum(each.old for each in proposals)
    final = sums.copy()
    for each in changes:
        _move(final, each.old, each.new)
    real, in_all = _limits(capacity, _sum(each.new for each in proposals), [*sums, *final])
    real = {az: max(limit, final[az]) for az, limit in real.items()}
    in_all = max(in_all, final.total())
    left = sorted(changes, key=lambda each: sum(each.new.values()) - sum(each.old.values()))
    piece: list[Proposal] = []
    for _ in range(_ROUNDS):
        late = []
        for each in left:
            grown = {az: growth for az, new in each.new.items() if (growth := new - each.old.get(az, 0)) > 0}
            in_sum = sum(each.new.values()) - sum(each.old.values())
            fits = all(az == ANY_AZ or sums[az] + growth <= real[az] for az, growth in grown.items())
            if not fits or (in_sum > 0 and sums.total() + in_sum > in_all):
                late.append(each)
                continue
            _move(sums, each.old, each.new)
            piece.append(each)
            if len(piece) == size:
                yield piece
                piece = []
        if not late or len(late) == len(left):
            break
        left = late
    if piece or late:
        yield piece + late


def _takes_room(each: Proposal, crowded: set[str], *, everywhere: bool) -> bool:
    if everywhere and sum(each.old.values()) > sum(each.new.values()):
        return True
    return any(each.old.get(az, 0) > each.new.get(az, 0) for az in crowded)


def _sum(quotas: Iterable[Quotas]) -> Counter[str]:
    sums = Counter[str]()
    for one in quotas:
        for az, quota in one.items():  # a third of the time of `update`
            sums[az] += quota
    return sums


def _move(sums: Counter[str], before: Quotas, after: Quotas) -> None:
    for az, quota in before.items():
        sums[az] -= quota
    for az, quota in after.items():
        sums[az] += quota
