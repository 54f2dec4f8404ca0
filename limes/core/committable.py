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
        return Tally(self).committable_by(project)

    def allows(self, project: int, amount: int) -> bool:
        """Whether `amount` more can be confirmed for this project."""
        return self.claimed + self.increase(project, amount) <= self.capacity

    def increase(self, project: int, amount: int) -> int:
        """By how much the sum of all claims rises with `amount` more committed by this project."""
        return _increase(self.usage.get(project, 0), self.committed.get(project, 0), amount)

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


class Tally:
    """A balance to go on with: the same decision, step by step, each in constant time."""

    def __init__(self, balance: Balance) -> None:
        self._usage = balance.usage
        self._committed = dict(balance.committed)
        self._room = balance.capacity - balance.claimed

    def add(self, project: int, amount: int) -> None:
        """`amount` more (or, if negative, less) is committed by this project."""
        self._room -= self._increase(project, amount)
        self._committed[project] = self._committed.get(project, 0) + amount

    def allows(self, project: int, amount: int) -> bool:
        """As `Balance.allows`."""
        return self._increase(project, amount) <= self._room

    def missing(self, project: int, amount: int) -> int:
        """By how much capacity is short for `amount` more; 0 if it is not."""
        return max(0, self._increase(project, amount) - self._room)

    def committable_by(self, project: int) -> int:
        """As `Balance.committable_by`."""
        own = max(0, self._usage.get(project, 0) - self._committed.get(project, 0))
        return self._room + own if self._room >= 0 else 0

    def take(self, pending: Iterable[Commitment]) -> list[Commitment]:
        """Adds, and answers, those that there is capacity for, in this order."""
        taken = []
        for one in pending:
            if self.allows(one.project_id, one.amount):
                self.add(one.project_id, one.amount)
                taken.append(one)
        return taken

    def _increase(self, project: int, amount: int) -> int:
        return _increase(self._usage.get(project, 0), self._committed.get(project, 0), amount)


def _increase(used: int, committed: int, amount: int) -> int:
    """By how much a project's claim rises with `amount` more committed."""
    return max(used, committed + amount) - max(used, committed)


def choose_confirmable(balance: Balance, pending: Iterable[Commitment]) -> list[Commitment]:
    """Which of the pending ones get capacity, in order. One that does not fit does not block smaller later ones."""
    return Tally(balance).take(sorted(pending, key=queue_order))
