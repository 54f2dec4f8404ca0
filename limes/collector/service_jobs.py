"""The jobs of one service: scraping its projects and writing their quota. A backend that hangs delays no other one.

A service's backend is left alone while its circuit is open.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from limes.actions.push_quota import PushQuota
from limes.actions.scrape_usage import ScrapeTask, ScrapeUsage
from limes.backends.breaker import CircuitBreaker
from limes.collector.claim_queue import ClaimQueue
from limes.metrics.counters import OutcomeCounter


class UsageJob:
    """Scrapes the projects of one service."""

    def __init__(
        self,
        service_type: str,
        service_name: str,
        action: ScrapeUsage,
        scrapes: OutcomeCounter,
        breaker: CircuitBreaker,
        *,
        workers: int = 1,
        batch: int = 1,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """At most `batch` projects are claimed at once."""
        self.name = f"scrape-usage:{service_type}"
        self.workers = workers
        self.breaker = breaker
        self._labels = (service_type, service_name)
        self._action = action
        self._scrapes = scrapes
        self._queue: ClaimQueue[ScrapeTask] = ClaimQueue(
            lambda limit: action.claim(service_type, limit),
            action.give_back,
            workers=workers,
            largest=batch,
            lease=action.lease,
            monotonic=monotonic,
        )

    def step(self) -> bool:
        """Scrapes one project if one is due. Returns whether there was one."""
        if not self.breaker.ready():
            self._queue.give_back()
            return False
        task = self._queue.take()
        if task is None:
            return False
        with self._queue.measure_task():
            success = self._action.run(task)
        if success is not None:
            self._scrapes.count(success, *self._labels)
        return True

    def close(self) -> None:
        """Gives back what was claimed and not begun."""
        self._queue.close()


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
        """Writes the quota of one project if one is due. Returns whether there was one."""
        if not self.breaker.ready():
            return False
        success = self.action.run_next(self.service_type)
        if success is None:
            return False
        self.pushes.count(success, self.service_type, self.service_name)
        return True

    def close(self) -> None:
        """There is nothing to give back: each claim is worked on at once."""
