"""Metrics of mails: what became of them, and what waits."""

import logging
import threading
from collections import Counter as Tally
from collections.abc import Iterator, Sequence

from prometheus_client.core import GaugeMetricFamily, UntypedMetricFamily
from prometheus_client.registry import Collector

from limes.actions.mails.send_mails import Sent
from limes.db.engine import Engine
from limes.db.queries import mails as queries
from limes.errors import Unavailable
from limes.system import Clock

log = logging.getLogger(__name__)

_MAILS = ("limes_mails", "Mails by what became of a try; unreachable counts tries to reach the server")
_WAITING = ("limes_mails_waiting", "Mails that are made, and that the server has not taken yet")
_AGE = ("limes_mails_age_seconds", "Age of the oldest mail that the server has not taken yet; 0 if there is none")
_OUTCOMES = ("sent", "dropped", "retried", "unreachable")


class MailCounters(Collector):
    """Tries to send mails, by sink and outcome."""

    def __init__(self, sinks: Sequence[str]) -> None:
        """`sinks` are there from the start, with 0."""
        self._lock = threading.Lock()
        self._counts: Tally[tuple[str, str]] = Tally({(sink, outcome): 0 for sink in sinks for outcome in _OUTCOMES})

    def count(self, sink: str, outcome: Sent) -> None:
        """Adds a run."""
        numbers = (outcome.sent, outcome.dropped, outcome.retried, int(outcome.error is not None))
        with self._lock:
            for name, number in zip(_OUTCOMES, numbers, strict=True):
                self._counts[sink, name] += number

    def collect(self) -> Iterator[UntypedMetricFamily]:
        """Yields the present counts."""
        family = UntypedMetricFamily(*_MAILS, labels=["sink", "outcome"])
        with self._lock:
            counts = dict(self._counts)
        for labels, count in sorted(counts.items()):
            family.add_metric(labels, count)
        yield family

    def describe(self) -> list[UntypedMetricFamily]:
        """Returns the name, for the registry."""
        return [UntypedMetricFamily(*_MAILS)]


class MailGauges(Collector):
    """What waits. While the database does not answer there is nothing."""

    def __init__(self, engine: Engine, clock: Clock, sinks: Sequence[str]) -> None:
        """`sinks` are always there."""
        self._engine = engine
        self._clock = clock
        self._sinks = sinks

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yields the present figures."""
        try:
            backlogs = {row.sink: row for row in self._engine.snapshot(lambda: queries.backlogs(self._engine))}
        except Unavailable as error:
            log.error("metrics: %s", error)
            return
        now = self._clock.now().timestamp()
        waiting, age = (GaugeMetricFamily(*family, labels=["sink"]) for family in (_WAITING, _AGE))
        for sink in sorted({*self._sinks, *backlogs}):
            row = backlogs.get(sink)
            waiting.add_metric((sink,), row.mails if row else 0)
            age.add_metric((sink,), max(0.0, now - row.since) if row else 0)
        yield from (waiting, age)

    def describe(self) -> list[GaugeMetricFamily]:
        """Returns the names, for the registry."""
        return [GaugeMetricFamily(*_WAITING), GaugeMetricFamily(*_AGE)]
