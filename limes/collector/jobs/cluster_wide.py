"""What is done for the whole cluster at regular intervals, by one collector at a time: discovery, consistency."""

from dataclasses import dataclass

from limes.actions.run_job import RunJob
from limes.metrics.outcomes import OutcomeCounter


@dataclass(frozen=True, slots=True)
class ClusterWideJob:
    """Does one thing whenever it is due."""

    action: RunJob
    runs: OutcomeCounter
    workers: int = 1

    @property
    def name(self) -> str:
        """For logs."""
        return self.action.name

    def step(self) -> bool:
        """Does it, if it is due."""
        success = self.action.run_if_due()
        if success is None:
            return False
        self.runs.count(success)
        return True

    def close(self) -> None:
        """Nothing is claimed before it is begun."""
