"""How often commitments were made, confirmed, ended and so on."""

import threading
from collections import Counter as Tally

from prometheus_client.core import CounterMetricFamily

from limes.db.engine import Engine
from limes.db.queries import commitment_events as queries
from limes.metrics.samples import Family, SampleCollector, Samples

_CHANGES = Family(
    "limes_commitment_changes",
    "Changes of commitments since the first one, by kind of event",
    ("event",),
    CounterMetricFamily,
)
_ALWAYS = ("created", "confirmed", "expired")
"""Those that are there from the start, with 0."""
_PIECE = 100_000
"""Events that one statement counts."""


class CommitmentChanges(SampleCollector):
    """A counter over the whole history, which every process shows alike.

    Invariant: `_counts` is about the events up to number `_last`. Numbers are given in the order of commits, so what
    was counted once needs no second look, and a scrape reads only what is new.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__([_CHANGES], self._samples, __name__)
        self._engine = engine
        self._lock = threading.Lock()
        self._counts: Tally[str] = Tally({event: 0 for event in _ALWAYS})
        self._last = 0

    def _samples(self) -> Samples:
        with self._lock:
            self._count_new()
            counts = sorted(self._counts.items())
        for event, count in counts:
            yield _CHANGES.name, (event,), count

    def _count_new(self) -> None:
        """In pieces, as the first look may be at the history of many years."""
        last = queries.last_number(self._engine)
        while self._last < last:
            until = min(last, self._last + _PIECE)
            for event, number in queries.count_between(self._engine, self._last, until).items():
                self._counts[event] += number
            self._last = until
