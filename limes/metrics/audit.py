"""How the delivery of audit events goes. The counters have the original's names."""

import logging
import threading
from collections import Counter
from collections.abc import Iterator, Sequence

from prometheus_client.core import GaugeMetricFamily, UntypedMetricFamily
from prometheus_client.registry import Collector

from limes.db.engine import Engine
from limes.db.queries import outbox
from limes.errors import Unavailable
from limes.seams import Clock

log = logging.getLogger(__name__)

_LABELS = ("sink",)
_GOOD = ("limes_successful_auditevent_publish", "Audit events that a sink has taken")
_BAD = ("limes_failed_auditevent_publish", "Tries to deliver audit events that failed; each is repeated")
_PENDING = ("limes_audit_events_pending", "Audit events that wait for their sink")
_AGE = ("limes_audit_event_age_seconds", "For how long the audit event that has waited longest waits; 0 if none does")


class AuditCounters(Collector):
    """The counters of this process, and what waits in the database."""

    def __init__(self, engine: Engine, clock: Clock, sinks: Sequence[str]) -> None:
        self._engine = engine
        self._clock = clock
        self._sinks = sinks
        self._lock = threading.Lock()
        self._good: Counter[str] = Counter()
        self._bad: Counter[str] = Counter()

    def count(self, sink: str, delivered: int, failed: int) -> None:
        """Adds what one look has brought."""
        with self._lock:
            self._good[sink] += delivered
            self._bad[sink] += failed

    def collect(self) -> Iterator[UntypedMetricFamily | GaugeMetricFamily]:
        """The present figures; the gauges only while the database answers."""
        with self._lock:
            counts = [(_GOOD, dict(self._good)), (_BAD, dict(self._bad))]
        for (name, text), by_sink in counts:
            family = UntypedMetricFamily(name, text, labels=_LABELS)
            for sink in self._sinks:
                family.add_metric((sink,), by_sink.get(sink, 0))
            yield family
        try:
            waiting = {sink: outbox.backlog(self._engine, sink) for sink in self._sinks}
        except Unavailable as error:
            log.error("metrics: %s", error)
            return
        pending, age = GaugeMetricFamily(*_PENDING, labels=_LABELS), GaugeMetricFamily(*_AGE, labels=_LABELS)
        now = self._clock.now().timestamp()
        for sink, backlog in waiting.items():
            pending.add_metric((sink,), backlog.events)
            age.add_metric((sink,), 0 if backlog.oldest is None else max(0.0, now - backlog.oldest))
        yield from (pending, age)

    def describe(self) -> list[UntypedMetricFamily]:
        """The names, for the registry."""
        return [UntypedMetricFamily(*one) for one in (_GOOD, _BAD, _PENDING, _AGE)]
