"""Whether there is capacity for a commitment: the one decision for new ones, can-confirm, transfers and the job.

Each project claims, of an AZ's capacity, what it has committed to or what it uses, whichever is more. Invariant: no
confirmation, transfer or conversion through us makes the sum of all claims exceed the AZ's effective capacity.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from limes.core.commitments import Commitment


@dataclass(frozen=True, slots=True)
class Balance:
    """The figures of one resource in one AZ. Projects that are not in `committed` or `usage` have 0 there."""

    capacity: int
    """Effective capacity; 0 where none is known."""
    total_usage: int
    """Over all projects, also those that are not in `usage`."""
    committed: dict[int, int]
    """Confirmed amounts by project, of all projects. Those marked for transfer count."""
    usage: Mapping[int, int]
    """Usage by project, at least of those that are in `committed` or that one asks about."""

    @property
    def claimed(self) -> int:
        """The sum over all projects of what is committed or used, whichever is more."""
        unused = sum(max(0, amount - self.usage.get(project, 0)) for project, amount in self.committed.items())
        return self.total_usage + unused

    @property
    def committable(self) -> int:
        """What is left for a project that has neither commitments nor usage."""
        return max(0, self.capacity - self.claimed)

    def committable_by(self, project: int) -> int:
        """The largest amount that this project could commit to: what is left, and what it uses without commitment."""
        own = max(0, self.usage.get(project, 0) - self.committed.get(project, 0))
        room = self.capacity - self.claimed
        return max(0, room + own) if room >= 0 else 0

    def allows(self, project: int, amount: int) -> bool:
        """Whether `amount` more can be confirmed for this project."""
        return self.claimed + self.increase(project, amount) <= self.capacity

    def increase(self, project: int, amount: int) -> int:
        """By how much the sum of all claims rises with `amount` more committed by this project."""
        used, committed = self.usage.get(project, 0), self.committed.get(project, 0)
        return max(used, committed + amount) - max(used, committed)

    def add(self, project: int, amount: int) -> "Balance":
        """The same with `amount` more (or, if negative, less) committed by this project."""
        committed = self.committed.get(project, 0) + amount
        return replace(self, committed={**self.committed, project: committed})

    def allows_move(self, source: int, target: int, amount: int) -> bool:
        """Whether `amount` that is committed by one project may become another's.

        A move that makes nothing worse is fine even where capacity has shrunk below what is claimed.
        """
        if source == target:
            return True
        after = self.claimed + self.increase(source, -amount) + self.increase(target, amount)
        return after <= max(self.capacity, self.claimed)


def queue_order(commitment: Commitment) -> tuple[float, float, int]:
    """First come, first served."""
    return (commitment.created_at, commitment.confirm_by or 0.0, commitment.id)


def choose_confirmable(balance: Balance, pending: Iterable[Commitment]) -> list[Commitment]:
    """Which of the pending ones get capacity, in order. One that does not fit does not block smaller later ones."""
    chosen = []
    claimed = balance.claimed
    balance = replace(balance, committed=dict(balance.committed))
    for commitment in sorted(pending, key=queue_order):
        project, amount = commitment.project_id, commitment.amount
        increase = balance.increase(project, amount)
        if claimed + increase <= balance.capacity:
            claimed += increase
            balance.committed[project] = balance.committed.get(project, 0) + amount
            chosen.append(commitment)
    return chosen
