"""A job for the whole cluster: capacity, quota that follows usage, what is done at regular intervals, and delivery of
audit events, notifications and mails.

It works on its claims at once, so that it has nothing to give back when it is closed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

OutcomeT = TypeVar("OutcomeT")


@dataclass(frozen=True, slots=True)
class ClusterJob(Generic[OutcomeT]):
    """Does one thing again and again."""

    name: str
    """For logs."""
    run: Callable[[], OutcomeT | None]
    """Does what is due, and returns how it went. None if nothing was due."""
    count: Callable[[OutcomeT], None]
    """Called with that, for the metrics."""
    workers: int = 1

    def step(self) -> bool:
        """Does it if it is due. Returns whether it was."""
        outcome = self.run()
        if outcome is None:
            return False
        self.count(outcome)
        return True

    def close(self) -> None:
        """Nothing to give back."""
