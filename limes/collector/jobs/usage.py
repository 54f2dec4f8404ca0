"""Usage and quota of projects, service by service: a service whose backend hangs holds up no other one."""

from dataclasses import dataclass

from limes.actions.scrape_usage import ScrapeUsage
from limes.metrics.outcomes import OutcomeCounter


@dataclass(frozen=True, slots=True)
class UsageJob:
    """Scrapes the projects of one service."""

    service_type: str
    service_name: str
    action: ScrapeUsage
    scrapes: OutcomeCounter
    workers: int = 1

    @property
    def name(self) -> str:
        """For logs."""
        return f"scrape-usage:{self.service_type}"

    def step(self) -> bool:
        """Scrapes one project."""
        success = self.action.run_next(self.service_type)
        if success is None:
            return False
        self.scrapes.count(success, self.service_type, self.service_name)
        return True
