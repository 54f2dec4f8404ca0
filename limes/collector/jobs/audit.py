"""Audit events for sinks: a sink that hangs holds up no other one, and no other job."""

from dataclasses import dataclass

from limes.actions.deliver_events import DeliverEvents
from limes.metrics.audit import AuditCounters


@dataclass(frozen=True, slots=True)
class AuditJob:
    """Delivers the events for one sink."""

    action: DeliverEvents
    counters: AuditCounters
    workers: int = 1

    @property
    def name(self) -> str:
        """For logs."""
        return self.action.name

    def step(self) -> bool:
        """Delivers what waits, if it is time."""
        outcome = self.action.run_if_due()
        if outcome is None:
            return False
        failed = outcome.refused + (1 if outcome.failed else 0)
        self.counters.count(self.action.sink.name, outcome.delivered, failed)
        return True

    def close(self) -> None:
        """Nothing is claimed before it is begun."""
