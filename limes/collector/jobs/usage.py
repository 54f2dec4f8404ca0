"""Usage and quota of projects, service by service: a service whose backend hangs holds up no other one."""

import time
from collections.abc import Callable

from limes.actions.scrape_usage import ScrapeTask, ScrapeUsage
from limes.backends.breaker import CircuitBreaker
from limes.collector.claims import ClaimQueue
from limes.metrics.outcomes import OutcomeCounter


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
        """`batch` is the most projects that are claimed in one go."""
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
        """Scrapes one project, unless the backend is left alone."""
        if not self.breaker.ready():
            self._queue.give_back()
            return False
        task = self._queue.take()
        if task is None:
            return False
        with self._queue.timed():
            success = self._action.run(task)
        if success is not None:
            self._scrapes.count(success, *self._labels)
        return True

    def close(self) -> None:
        """Gives back what was claimed and not begun."""
        self._queue.close()
