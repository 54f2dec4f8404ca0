"""Quota that backends have to be told, service by service."""

from dataclasses import dataclass

from limes.actions.push_quota import PushQuota
from limes.backends.breaker import CircuitBreaker
from limes.metrics.outcomes import OutcomeCounter


@dataclass(frozen=True, slots=True)
class PushJob:
    """Writes the quotas of one service."""

    service_type: str
    service_name: str
    action: PushQuota
    pushes: OutcomeCounter
    breaker: CircuitBreaker
    workers: int = 1

    @property
    def name(self) -> str:
        """For logs."""
        return f"push-quota:{self.service_type}"

    def step(self) -> bool:
        """Writes the quota of one project, unless the backend is left alone."""
        if not self.breaker.ready():
            return False
        success = self.action.run_next(self.service_type)
        if success is None:
            return False
        self.pushes.count(success, self.service_type, self.service_name)
        return True

    def close(self) -> None:
        """Nothing is claimed before it is begun."""
