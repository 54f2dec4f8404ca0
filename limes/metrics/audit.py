"""How the delivery of audit events goes, under the original's names. What waits is in `limes.metrics.scrapes`."""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence

from prometheus_client.core import UntypedMetricFamily
from prometheus_client.registry import Collector

_LABELS = ("sink",)
_GOOD = ("limes_successful_auditevent_publish", "Audit events that a sink has taken")
_BAD = ("limes_failed_auditevent_publish", "Tries to deliver audit events that failed; each is repeated")


class AuditCounters(Collector):
    """The counters of this process."""

    def __init__(self, sinks: Sequence[str]) -> None:
        """`sinks` are there from the start, with 0."""
        self._sinks = sinks
        self._lock = threading.Lock()
        self._good: Counter[str] = Counter()
        self._bad: Counter[str] = Counter()

    def count(self, sink: str, delivered: int, failed: int) -> None:
        """Adds what one look has brought."""
        with self._lock:
            self._good[sink] += delivered
            self._bad[sink] += failed

    def collect(self) -> Iterator[UntypedMetricFamily]:
        """The present counts."""
        with self._lock:
            counts = [(_GOOD, dict(self._good)), (_BAD, dict(self._bad))]
        for (name, text), by_sink in counts:
            family = UntypedMetricFamily(name, text, labels=_LABELS)
            for sink in self._sinks:
                family.add_metric((sink,), by_sink.get(sink, 0))
            yield family

    def describe(self) -> list[UntypedMetricFamily]:
        """The names, for the registry."""
        return [UntypedMetricFamily(*one) for one in (_GOOD, _BAD)]
