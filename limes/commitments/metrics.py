"""What metrics say of commitments."""

import threading

from prometheus_client.core import CounterMetricFamily

from limes.app.context import Limes
from limes.commitments import events as queries
from limes.kernel.metrics import Counts, Family, Samples

_CHANGES = "limes_commitment_changes"

_PIECE = 100_000
"""Events of commitments that one statement counts."""


class CommitmentChanges(Counts):
    """A counter over the whole history, which every process shows alike. Invariant: it is about the events up to number
    `_last`. Numbers are given in the order of commits, so what was counted once needs no second look, and a scrape
    reads only what is new."""

    def __init__(self, limes: Limes) -> None:
        help_text = "Changes of commitments since the first one, by kind of event"
        family = Family(_CHANGES, help_text, ("event",), CounterMetricFamily)
        super().__init__(family, known=[(event,) for event in ("created", "confirmed", "expired")])
        self._engine = limes.engine
        self._reading = threading.Lock()
        self._last = 0

    def _samples(self) -> Samples:
        with self._reading:
            last = queries.last_number(self._engine)
            while self._last < last:  # in pieces, as the first look may be at the history of many years
                until = min(last, self._last + _PIECE)
                for event, number in queries.count_between(self._engine, self._last, until).items():
                    self.add(_CHANGES, (event,), number)
                self._last = until
        return super()._samples()


GAUGES = (CommitmentChanges,)
