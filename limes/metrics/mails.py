"""Metrics of mails: what became of them, and what waits."""

import threading
from collections import Counter as Tally
from collections.abc import Sequence

from prometheus_client.core import UntypedMetricFamily

from limes.actions.mails.send_mails import Sent
from limes.db.engine import Engine
from limes.db.queries import mails as queries
from limes.metrics.samples import Family, SampleCollector, Samples, shows
from limes.system import Clock

_MAILS = Family(
    "limes_mails",
    "Mails by what became of a try; unreachable counts tries to reach the server",
    ("sink", "outcome"),
    UntypedMetricFamily,
)
_OUTCOMES = ("sent", "dropped", "retried", "unreachable")


class MailCounters(SampleCollector):
    """Tries to send mails, by sink and outcome."""

    def __init__(self, sinks: Sequence[str]) -> None:
        """`sinks` are there from the start, with 0."""
        super().__init__([_MAILS], self._samples)
        self._lock = threading.Lock()
        self._counts: Tally[tuple[str, str]] = Tally({(sink, outcome): 0 for sink in sinks for outcome in _OUTCOMES})

    def count(self, sink: str, outcome: Sent) -> None:
        """Adds a run."""
        numbers = (outcome.sent, outcome.dropped, outcome.retried, int(outcome.error is not None))
        with self._lock:
            for name, number in zip(_OUTCOMES, numbers, strict=True):
                self._counts[sink, name] += number

    def _samples(self) -> Samples:
        with self._lock:
            counts = sorted(self._counts.items())
        for labels, count in counts:
            yield _MAILS.name, labels, count


@shows(
    Family("limes_mails_waiting", "Mails that are made, and that the server has not taken yet", ("sink",)),
    Family(
        "limes_mails_age_seconds",
        "Age of the oldest mail that the server has not taken yet; 0 if there is none",
        ("sink",),
    ),
)
def mail_gauges(engine: Engine, clock: Clock, sinks: Sequence[str]) -> Samples:
    """`sinks` are always there."""
    backlogs = {row.sink: row for row in engine.snapshot(lambda: queries.backlogs(engine))}
    now = clock.now().timestamp()
    for sink in sorted({*sinks, *backlogs}):
        row = backlogs.get(sink)
        yield "limes_mails_waiting", (sink,), row.mails if row else 0
        yield "limes_mails_age_seconds", (sink,), max(0.0, now - row.since) if row else 0
