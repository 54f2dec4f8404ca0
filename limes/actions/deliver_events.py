"""Delivers audit events from the outbox to a sink: at least once, and each stream in its order.

One collector at a time serves a sink, under a lease. An event is marked as delivered once the sink has it, so a
collector that dies in between causes a repetition, and never a loss. After each failure, a sink that does not answer is
left alone for longer. A refused event waits for its next try together with all later ones of its stream.
"""

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from limes.actions.project_tasks import never
from limes.audit.sinks.base import Delivery, OutgoingEvent, Sink
from limes.db.engine import Engine
from limes.db.queries import outbox, tasks
from limes.db.queries.outbox import OutboxEvent
from limes.errors import Unavailable
from limes.system import Clock, Jitter

log = logging.getLogger(__name__)

_BATCH = 100
_CLEANUP_BATCH = 1000


class Failures:
    """Counts how often in a row a sink did not answer this process."""

    def __init__(self) -> None:
        self._count = 0
        self._lock = threading.Lock()

    def count(self, *, failed: bool) -> int:
        """Counts a failure, or starts again from 0 after a success. Returns the number."""
        with self._lock:
            self._count = self._count + 1 if failed else 0
            return self._count


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run went: numbers of events."""

    delivered: int
    refused: int
    failed: bool
    """Whether the sink did not answer."""


@dataclass(frozen=True, slots=True)
class DeliverEvents:
    """The use case for one sink. Durations are in seconds."""

    engine: Engine
    clock: Clock
    jitter: Jitter
    sink: Sink
    interval: float = 5.0
    retry: float = 10.0
    retry_max: float = 600.0
    lease: float = 300.0
    retention: float = 7 * 86400.0
    failures: Failures = field(default_factory=Failures)
    what: str = "audit event"
    """For logs: notifications are delivered in the same way."""
    job: str = ""
    """The name of the job, if it is not that of an audit sink."""

    @property
    def name(self) -> str:
        """The name of the job."""
        return self.job or f"audit:{self.sink.name}"

    def run_if_due(self) -> Outcome | None:
        """Delivers waiting events. None if it is not due yet, or another collector is doing it."""
        started = self._now()
        lease, horizon = started + self.lease, self._never(started)
        if not self.engine.atomic(lambda: tasks.claim_job(self.engine, self.name, started, lease, horizon)):
            return None
        delivered = refused = 0
        error: str | None = None
        deadline = self.clock.monotonic() + self.lease / 2  # nobody else begins before this run has ended
        while error is None and self.clock.monotonic() < deadline:
            events = self.engine.snapshot(self._due)
            if not events:
                break
            delivery = self._deliver(events)
            delivered, refused = delivered + len(delivery.delivered), refused + len(delivery.refused)
            error = delivery.error
        self._forget()
        self._finish(lease, error)
        return Outcome(delivered, refused, failed=error is not None)

    def _due(self) -> Sequence[OutboxEvent]:
        now = self._now()
        return outbox.due(self.engine, self.sink.name, now, self._never(now), _BATCH)

    def _never(self, now: float) -> float:
        return never(now, self.interval, self.retry_max, self.lease)

    def _deliver(self, events: Sequence[OutboxEvent]) -> Delivery:
        delivery = self.sink.deliver(
            [OutgoingEvent(each.number, each.stream, each.event_id, each.document, each.tries) for each in events]
        )
        tries = {event.number: event.tries for event in events}

        def work() -> None:
            now = self._now()
            outbox.mark_delivered(self.engine, delivery.delivered, now)
            for number, reason in delivery.refused.items():
                pause = self.jitter.spread(self._pause(tries[number] + 1))
                outbox.retry_later(self.engine, number, now + pause, reason)
            for number, time in delivery.later.items():
                outbox.hold(self.engine, number, time)

        self.engine.atomic(work)
        for number, reason in delivery.refused.items():
            log.error("%s %d was refused by the sink %s, and is kept: %s", self.what, number, self.sink.name, reason)
        if not (delivery.delivered or delivery.refused or delivery.later) and delivery.error is None:
            raise Unavailable(f"the sink {self.sink.name} took nothing, and does not say why")
        return delivery

    def _finish(self, lease: float, error: str | None) -> None:
        failures = self.failures.count(failed=error is not None)
        if error is not None:
            log.error("%ss wait for the sink %s: %s", self.what, self.sink.name, error)
        pause = self.interval if error is None else self._pause(failures)
        now = self._now()
        next_run_at = now + self.jitter.spread(pause)
        self.engine.atomic(lambda: tasks.finish_job(self.engine, self.name, lease, now, next_run_at, error or ""))

    def _forget(self) -> None:
        """Deletes one batch; the next run deletes more."""
        before = self._now() - self.retention
        self.engine.atomic(lambda: outbox.forget_delivered(self.engine, self.sink.name, before, _CLEANUP_BATCH))

    def _pause(self, failures: int) -> float:
        return float(min(self.retry_max, self.retry * 2 ** min(failures - 1, 20)))

    def _now(self) -> float:
        return self.clock.now().timestamp()
