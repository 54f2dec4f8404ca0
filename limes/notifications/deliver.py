"""Delivers audit events from the outbox to a sink: at least once, and each stream in its order.

One collector at a time serves a sink, under a lease. An event is marked as delivered once the sink has it, so a
collector that dies in between causes a repetition, and never a loss. After each failure, a sink that does not answer is
left alone for longer. A refused event waits for its next try together with all later ones of its stream.
"""

import logging
import threading
from collections.abc import Sequence

from msgspec import Struct, field

from limes.app.context import Limes
from limes.audit import outbox, settings, sinks
from limes.kernel.errors import Unavailable
from limes.notifications.settings import NotificationSettings
from limes.projects.claims import claim_job, finish_job, never, next_pause

log = logging.getLogger(__name__)

_BATCH = 100
_CLEANUP_BATCH = 1000


class Failures:
    """Counts how often in a row a sink did not answer this process."""

    def __init__(self) -> None:
        self._count = 0
        self._lock = threading.Lock()

    def count(self, *, failed: bool) -> int:
        with self._lock:
            self._count = self._count + 1 if failed else 0
            return self._count


class DeliveryResult(Struct, frozen=True):
    delivered: int
    refused: int
    failed: bool
    """Whether the sink did not answer."""


class DeliverEvents(Struct, frozen=True):
    limes: Limes
    sink: sinks.Sink
    section: settings.AuditSettings | NotificationSettings
    """Says how often to try, and for how long to keep what was delivered."""
    interval: float = 5.0
    failures: Failures = field(default_factory=Failures)
    what: str = "audit event"
    """For logs: notifications are delivered in the same way."""
    job: str = ""
    """The name of the job, if it is not that of an audit sink."""
    refusals: int = logging.ERROR
    """The level at which the log says what was refused."""

    @property
    def name(self) -> str:
        return self.job or f"audit:{self.sink.name}"

    def run_if_due(self) -> DeliveryResult | None:
        """Delivers waiting events. None if it is not due yet, or another collector is doing it."""
        limes, clock = self.limes, self.limes.clock
        claimed_until = claim_job(limes, self.name, self.interval, self.section.retry_max)
        if claimed_until is None:
            return None
        delivered = refused = 0
        error: str | None = None
        deadline = clock.monotonic() + limes.lease / 2  # no other run starts before this one has ended
        while error is None and clock.monotonic() < deadline:
            events = limes.engine.snapshot(self._due)
            if not events:
                break
            delivery = self._deliver(events)
            delivered, refused = delivered + len(delivery.delivered), refused + len(delivery.refused)
            error = delivery.error
        before = limes.now() - self.section.delivered_retention
        # one batch; the next run deletes more
        limes.engine.atomic(lambda: outbox.forget_delivered(limes.engine, self.sink.name, before, _CLEANUP_BATCH))
        failures = self.failures.count(failed=error is not None)
        if error is not None:
            log.error("%ss wait for the sink %s: %s", self.what, self.sink.name, error)
        pause = self.interval if error is None else self._pause(failures)
        finish_job(limes, self.name, claimed_until, pause, error or "")
        return DeliveryResult(delivered, refused, failed=error is not None)

    def _due(self) -> list[sinks.OutgoingEvent]:
        now = self.limes.now()
        horizon = never(now, self.interval, self.section.retry_max, self.limes.lease)
        due = outbox.due(self.limes.engine, self.sink.name, now, horizon, _BATCH)
        return [sinks.OutgoingEvent(*event) for event in due]

    def _deliver(self, events: Sequence[sinks.OutgoingEvent]) -> sinks.Delivery:
        engine, delivery = self.limes.engine, self.sink.deliver(events)
        tries = {event.number: event.tries for event in events}

        def work() -> None:
            now = self.limes.now()
            outbox.mark_delivered(engine, delivery.delivered, now)
            for number, reason in delivery.refused.items():
                pause = self.limes.jitter.spread(self._pause(tries[number] + 1))
                outbox.retry_later(engine, number, now + pause, reason)
            for number, time in delivery.later.items():
                outbox.hold(engine, number, time)

        engine.atomic(work)
        for number, reason in delivery.refused.items():
            text = "%s %d was refused by the sink %s, and is kept: %s"
            log.log(self.refusals, text, self.what, number, self.sink.name, reason)
        if not (delivery.delivered or delivery.refused or delivery.later) and delivery.error is None:
            raise Unavailable(f"the sink {self.sink.name} took nothing, and does not say why")
        return delivery

    def _pause(self, failures: int) -> float:
        return next_pause(failures, self.section.retry, self.section.retry_max)
