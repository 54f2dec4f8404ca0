"""Capacity, capacitor by capacitor."""

from dataclasses import dataclass

from limes.actions.scrape_capacity import ScrapeCapacity
from limes.metrics.outcomes import OutcomeCounter


@dataclass(frozen=True, slots=True)
class CapacityJob:
    """Scrapes all capacitors."""

    action: ScrapeCapacity
    scrapes: OutcomeCounter
    workers: int = 1
    name: str = "scrape-capacity"

    def step(self) -> bool:
        """Scrapes one capacitor."""
        outcome = self.action.run_next()
        if outcome is None:
            return False
        self.scrapes.count(outcome.success, outcome.capacitor)
        return True

    def close(self) -> None:
        """Nothing is claimed before it is begun."""
