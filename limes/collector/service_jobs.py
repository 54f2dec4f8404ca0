"""The jobs of one service: scraping its projects and writing their quota. A backend that hangs delays no other one.

A service's backend is left alone while its circuit is open.
"""

from collections.abc import Sequence
from functools import partial

from limes.actions.context import Limes
from limes.actions.push_quota import push_next
from limes.actions.scrape import Listener
from limes.actions.scrape_usage import claim_scrapes, give_back, scrape_project
from limes.audit.events import of_job
from limes.backends.breaker import CircuitBreaker
from limes.collector.claim_queue import ClaimQueue
from limes.collector.loop import Job, counted
from limes.metrics.counters import OutcomeCounter


def scrape_job(
    limes: Limes,
    service: tuple[str, str],
    listeners: Sequence[Listener],
    scrapes: OutcomeCounter,
    breaker: CircuitBreaker,
    workers: int = 1,
) -> Job:
    """Scrapes the projects of a service, which is given as its type and the name of its plugin."""
    name = f"scrape-usage:{service[0]}"
    limes, batch = limes.as_initiator(of_job(name)), limes.settings.collector.batch
    claim = partial(claim_scrapes, limes, service[0])
    queue = ClaimQueue(claim, partial(give_back, limes), workers=workers, largest=batch, lease=limes.lease)

    def step() -> bool:
        if not breaker.ready():
            queue.give_back()
            return False
        task = queue.take()
        if task is None:
            return False
        with queue.measure_task():
            success = scrape_project(limes, task, listeners)
        if success is not None:
            scrapes.count(success, *service)
        return True

    return Job(name, step, workers, queue.close)


def push_job(
    limes: Limes, service: tuple[str, str], pushes: OutcomeCounter, breaker: CircuitBreaker, workers: int = 1
) -> Job:

    def push() -> bool | None:
        return push_next(limes, service[0]) if breaker.ready() else None

    return Job(f"push-quota:{service[0]}", counted(push, lambda success: pushes.count(success, *service)), workers)
