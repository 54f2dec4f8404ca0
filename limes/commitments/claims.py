"""Whether there is capacity for a commitment: the one decision for new ones, can-confirm, plans, transfers and the job.

In each AZ a project claims what it has committed to or what it uses there, whichever is more. `Claims.room` is the
rule. Invariants: no confirmation, transfer or conversion through us makes the claims in an AZ exceed its effective
capacity. Where usage is in no known AZ (`any`, `unknown`), none makes the claims in all AZs together, including that
usage, exceed the whole effective capacity: what it takes is never sold (docs/adr/0014-usage-in-unknown-zones.md).
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, structs

from limes.catalog.catalog import ANY_AZ, UNKNOWN_AZ, Behavior
from limes.commitments.commitment import Commitment
from limes.kernel.units import effective_capacity, effective_total

Share = tuple[str, int]
"""A project's part of a resource in one AZ: the AZ, and the project's id."""


class Claims(Struct, frozen=True):
    """What all projects together claim of a resource by AZ, and its capacity. A missing AZ has 0."""

    capacity: Mapping[str, int]
    whole_capacity: int
    """Over all AZs, known or not. Rounded once, so it may exceed their sum."""
    claimed: Mapping[str, int]
    """By AZ, known or not. AZs that do not matter may be left out if nothing is `unplaced`."""
    is_pooled: bool = False
    """Whether commitments are not for single AZs: everything counts together, in the AZ `any`."""

    @classmethod
    def of(cls, raw_capacity: Mapping[str, int], claimed: Mapping[str, int], behavior: Behavior) -> "Claims":
        """Returns the claims on a resource with this behavior. Capacity is before overcommit; both are by AZ."""
        factor, is_pooled = behavior.overcommit_factor, not behavior.commitment_is_az_aware
        if is_pooled:
            raw_capacity = {ANY_AZ: sum(raw_capacity.values())}
            claimed = {ANY_AZ: sum(claimed.values())}
        return cls(
            capacity={az: effective_capacity(amount, factor) for az, amount in raw_capacity.items()},
            whole_capacity=effective_total(raw_capacity.values(), factor),
            claimed=claimed,
            is_pooled=is_pooled,
        )

    def room(self, az: str) -> int:
        """Returns how much more may be claimed in an AZ. Negative where claims exceed capacity already. The whole
        capacity only counts if something is `unplaced`; otherwise each AZ stands for itself."""
        return min(self.room_inside(az), self.room_overall) if self.unplaced else self.room_inside(az)

    def counting_az(self, az: str) -> str:
        return ANY_AZ if self.is_pooled else az

    def room_inside(self, az: str) -> int:
        az = self.counting_az(az)
        return self.capacity.get(az, 0) - self.claimed.get(az, 0)

    @property
    def room_overall(self) -> int:
        return self.whole_capacity - sum(self.claimed.values())

    @property
    def unplaced(self) -> int:
        return 0 if self.is_pooled else self.claimed.get(ANY_AZ, 0) + self.claimed.get(UNKNOWN_AZ, 0)

    def holds_back(self, az: str) -> bool:
        """Returns whether unplaced usage leaves less room in this AZ than the AZ has by itself."""
        return self.unplaced > 0 and self.room_overall < self.room_inside(az)


class Balance(Struct, frozen=True):
    """The claims on a resource, and the shares of those projects that a decision is about."""

    claims: Claims
    committed: Mapping[Share, int]
    """Confirmed amounts, including those marked for transfer."""
    usage: Mapping[Share, int]


def queue_order(commitment: Commitment) -> tuple[float, float, int]:
    return (commitment.created_at, commitment.confirm_by or 0.0, commitment.id)


class Tally:
    """A balance that changes with each decision. Each step takes constant time."""

    def __init__(self, balance: Balance) -> None:
        self._usage = balance.usage
        self._committed = dict(balance.committed)
        self._claimed = dict(balance.claims.claimed)
        self.claims = structs.replace(balance.claims, claimed=self._claimed)
        """The claims as they are now."""

    def add(self, az: str, project: int, amount: int) -> None:
        az = self.claims.counting_az(az)
        self._claimed[az] = self._claimed.get(az, 0) + self.increase(az, project, amount)
        self._committed[az, project] = self._committed.get((az, project), 0) + amount

    def allows(self, az: str, project: int, amount: int) -> bool:
        """Returns whether `amount` more can be confirmed for this project. Always true if its claim does not rise."""
        return self.missing(az, project, amount) == 0

    def allows_move(self, az: str, source: int, target: int, amount: int) -> bool:
        """Returns whether a committed `amount` may move from one project to another, by the rule of `allows`."""
        if source == target:
            return True
        increase = self.increase(az, source, -amount) + self.increase(az, target, amount)
        return self._missing(az, increase) == 0

    def missing(self, az: str, project: int, amount: int) -> int:
        """Returns how much capacity is missing for `amount` more; 0 if there is enough."""
        return self._missing(az, self.increase(az, project, amount))

    def _missing(self, az: str, increase: int) -> int:
        """A claim that does not rise makes nothing worse, even where claims exceed capacity already."""
        return max(0, increase - self.claims.room(az)) if increase > 0 else 0

    def committable_by(self, az: str, project: int) -> int:
        """Returns the largest amount that this project could commit to: free capacity, and its usage without
        commitment."""
        used, committed = self._share(az, project)
        return max(0, self.claims.room(az)) + max(0, used - committed)

    def confirm_in_turn(self, pending: Iterable[Commitment]) -> list[Commitment]:
        """Adds the ones that fit into the capacity, first come first served, and returns them. One queue serves all
        AZs, as they share the whole capacity. A commitment that does not fit holds up no other."""
        confirmed = []
        for commitment in sorted(pending, key=queue_order):
            if self.allows(commitment.az, commitment.project_id, commitment.amount):
                self.add(commitment.az, commitment.project_id, commitment.amount)
                confirmed.append(commitment)
        return confirmed

    def increase(self, az: str, project: int, amount: int) -> int:
        """Returns how much the project's claim rises if it commits to `amount` more."""
        used, committed = self._share(az, project)
        return max(used, committed + amount) - max(used, committed)

    def _share(self, az: str, project: int) -> tuple[int, int]:
        share = (self.claims.counting_az(az), project)
        return self._usage.get(share, 0), self._committed.get(share, 0)
