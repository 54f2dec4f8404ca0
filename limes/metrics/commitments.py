"""How often commitments were made, confirmed, ended and so on."""

import logging
import threading
from collections import Counter as Tally
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from limes.db.engine import Engine
from limes.db.queries import commitment_events as queries
from limes.errors import Unavailable

log = logging.getLogger(__name__)

_CHANGES = ("limes_commitment_changes", "Changes of commitments since the first one, by kind of event")
_ALWAYS = ("created", "confirmed", "expired")
"""Those that are there from the start, with 0."""
_PIECE = 100_000
"""Events that one statement counts."""


class CommitmentChanges(Collector):
    """A counter over the whole history, which every process shows alike. While the database does not answer it is
    missing.

    Invariant: `_counts` is about the events up to number `_last`. Numbers are given in the order of commits, so what
    was counted once needs no second look, and a scrape reads only what is new.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._counts: Tally[str] = Tally({event: 0 for event in _ALWAYS})
        self._last = 0

    def collect(self) -> Iterator[CounterMetricFamily]:
        """Yields the present counts."""
        with self._lock:
            try:
                self._count_new()
            except Unavailable as error:
                log.error("metrics: %s", error)
                return
            counts = dict(self._counts)
        family = CounterMetricFamily(*_CHANGES, labels=("event",))
        for event, count in sorted(counts.items()):
            family.add_metric((event,), count)
        yield family

    def _count_new(self) -> None:
        """In pieces, as the first look may be at the history of many years."""
        last = queries.last_number(self._engine)
        while self._last < last:
            until = min(last, self._last + _PIECE)
            for row in queries.count_between(self._engine, self._last, until):
                self._counts[row.event] += row.events
            self._last = until

    def describe(self) -> list[CounterMetricFamily]:
        """Returns the name, for the registry."""
        return [CounterMetricFamily(*_CHANGES)]
