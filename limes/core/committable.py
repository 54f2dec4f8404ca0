"""Whether there is capacity for a commitment: the one decision for new ones, can-confirm, plans, transfers and the job.

In each AZ a project claims what it has committed to or what it uses there, whichever is more. `Claims.room` is the
rule. Invariants: no confirmation, transfer or conversion through us makes the claims in an AZ exceed the AZ's effective
capacity. Where something is used in an AZ that is not known (`any`, `unknown`), none makes the claims in all AZs
together, with that usage, exceed the whole effective capacity: it is never sold
(docs/adr/0014-usage-in-unknown-zones.md).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from limes.core.capacity import effective, effective_total
from limes.core.catalog import ANY_AZ, UNKNOWN_AZ, Behavior
from limes.core.commitments import Commitment

Share = tuple[str, int]
"""A project's part of a resource in one AZ: the AZ, and the project's id."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What all projects together claim of a resource, AZ by AZ, and what there is. AZs that are missing have 0."""

    capacity: Mapping[str, int]
    """Effective capacity by AZ."""
    whole_capacity: int
    """Over all AZs, also those that are not known. Rounded once, so it may exceed their sum."""
    claimed: Mapping[str, int]
    """By AZ, also those that are not known. Those that nobody asks about may be missing, unless `unplaced`."""
    is_pooled: bool = False
    """Commitments are not for one AZ: everything counts together, as the single AZ `any`."""

    @classmethod
    def of(cls, raw_capacity: Mapping[str, int], claimed: Mapping[str, int], behavior: Behavior) -> "Claims":
        """The claims on a resource that behaves so. Capacity is before overcommit, by AZ, as is what is claimed."""
        factor, is_pooled = behavior.overcommit_factor, not behavior.commitment_is_az_aware
        if is_pooled:
            raw_capacity = {ANY_AZ: sum(raw_capacity.values())}
            claimed = {ANY_AZ: sum(claimed.values())}
        return cls(
            capacity={az: effective(amount, factor) for az, amount in raw_capacity.items()},
            whole_capacity=effective_total(raw_capacity.values(), factor),
            claimed=claimed,
            is_pooled=is_pooled,
        )

    def room(self, az: str) -> int:
        """How much more may be claimed in an AZ. Negative where there are more claims than capacity already.

        Where everything that is claimed has its AZ, each AZ stands for itself.
        """
        return min(self.room_inside(az), self.room_overall) if self.unplaced else self.room_inside(az)

    def place(self, az: str) -> str:
        """Where a commitment in this AZ counts."""
        return ANY_AZ if self.is_pooled else az

    def room_inside(self, az: str) -> int:
        """What the AZ's own claims leave of its capacity."""
        place = self.place(az)
        return self.capacity.get(place, 0) - self.claimed.get(place, 0)

    @property
    def room_overall(self) -> int:
        """What all claims leave of the whole capacity."""
        return self.whole_capacity - sum(self.claimed.values())

    @property
    def unplaced(self) -> int:
        """How much is claimed in AZs that are not known."""
        return 0 if self.is_pooled else self.claimed.get(ANY_AZ, 0) + self.claimed.get(UNKNOWN_AZ, 0)

    def holds_back(self, az: str) -> bool:
        """Whether what is used in AZs that are not known leaves less room in this AZ than it has by itself."""
        return self.unplaced > 0 and self.room_overall < self.room_inside(az)


@dataclass(frozen=True, slots=True)
class Balance:
    """The claims, and the parts that some projects have in them: all of those that one asks about."""

    claims: Claims
    committed: Mapping[Share, int]
    """Confirmed amounts. Those marked for transfer count."""
    usage: Mapping[Share, int]


def queue_order(commitment: Commitment) -> tuple[float, float, int]:
    """First come, first served."""
    return (commitment.created_at, commitment.confirm_by or 0.0, commitment.id)


class Tally:
    """A balance to go on with: the decision, step by step, each in constant time."""

    def __init__(self, balance: Balance) -> None:
        self._usage = balance.usage
        self._committed = dict(balance.committed)
        self._claimed = dict(balance.claims.claimed)
        self.claims = replace(balance.claims, claimed=self._claimed)
        """As they are now."""

    def add(self, az: str, project: int, amount: int) -> None:
        """`amount` more (or, if negative, less) is committed by this project in this AZ."""
        place = self.claims.place(az)
        self._claimed[place] = self._claimed.get(place, 0) + self.increase(az, project, amount)
        self._committed[place, project] = self._committed.get((place, project), 0) + amount

    def allows(self, az: str, project: int, amount: int) -> bool:
        """Whether `amount` more can be confirmed for this project. Always, where it claims no more than before."""
        return self.missing(az, project, amount) == 0

    def allows_move(self, az: str, source: int, target: int, amount: int) -> bool:
        """Whether `amount` that is committed by one project may become another's, as `allows`."""
        if source == target:
            return True
        increase = self.increase(az, source, -amount) + self.increase(az, target, amount)
        return _missing(increase, self.claims.room(az)) == 0

    def missing(self, az: str, project: int, amount: int) -> int:
        """By how much capacity is short for `amount` more; 0 if it is not."""
        return _missing(self.increase(az, project, amount), self.claims.room(az))

    def committable_by(self, az: str, project: int) -> int:
        """The largest amount that this project could commit to: what is left, and what it uses without commitment."""
        used, committed = self._share(az, project)
        return max(0, self.claims.room(az)) + max(0, used - committed)

    def take(self, pending: Iterable[Commitment]) -> list[Commitment]:
        """Adds, and answers, those that there is capacity for, first come first served.

        All AZs together, as they share what is left overall. One that does not fit does not hold up those behind it.
        """
        taken = []
        for one in sorted(pending, key=queue_order):
            if self.allows(one.az, one.project_id, one.amount):
                self.add(one.az, one.project_id, one.amount)
                taken.append(one)
        return taken

    def increase(self, az: str, project: int, amount: int) -> int:
        """By how much the project's claim rises with `amount` more committed."""
        used, committed = self._share(az, project)
        return max(used, committed + amount) - max(used, committed)

    def _share(self, az: str, project: int) -> tuple[int, int]:
        share = (self.claims.place(az), project)
        return self._usage.get(share, 0), self._committed.get(share, 0)


def _missing(increase: int, room: int) -> int:
    """A change that claims no more than before makes nothing worse, even where there are too many claims already."""
    return max(0, increase - room) if increase > 0 else 0
