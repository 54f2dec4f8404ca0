"""The cloud's figures, which all who scrape at the same time share."""

import logging
import threading
import time
from collections.abc import Callable

from limes.kernel.errors import Unavailable
from limes.kernel.metrics import Family, SampleCollector, Samples
from limes.web.packed import PackedText

log = logging.getLogger(__name__)

_AGE = Family(
    "limes_data_metrics_age_seconds",
    "Seconds since the figures of the cloud were last read from the database; since the start, if they never were",
)
_DURATION = Family("limes_data_metrics_read_seconds", "How long the last reading of the figures of the cloud took")


class SharedFigures(SampleCollector):
    """The figures, at most `max_age` seconds old, and gauges about their age. Of several scrapes at the same time one
    reads the database, and the others wait for what it finds. So the database does one reading at a time."""

    def __init__(self, read: Callable[[], PackedText], max_age: float) -> None:
        """`read` gives all figures in Prometheus' text format, and may raise `Unavailable`."""
        super().__init__([_AGE, _DURATION], self._samples)
        self._read = read
        self._max_age = max_age
        self._lock = threading.Lock()
        self._reading: PackedText | None = None
        self._tried_at: float | None = None
        self._read_at = time.monotonic()
        self._duration: float | None = None

    def latest(self) -> PackedText | None:
        """Returns the figures; None while the database does not answer, as half of them or old ones would mislead."""
        asked_at = time.monotonic()
        with self._lock:
            # who has waited while somebody else asked takes what that one got, be it nothing: else all who wait for a
            # database that does not answer would ask it again, one after the other
            oldest = asked_at - self._max_age if self._reading else asked_at
            if self._tried_at is None or self._tried_at < oldest:
                self._tried_at = time.monotonic()
                self._reading = self._try(self._tried_at)
            return self._reading

    def _try(self, now: float) -> PackedText | None:
        try:
            found = self._read()
        except Unavailable as error:
            log.error("data metrics: %s", error)
            return None
        self._read_at = now
        self._duration = time.monotonic() - now
        return found

    def _samples(self) -> Samples:
        yield _AGE.name, (), max(0.0, time.monotonic() - self._read_at)
        if self._duration is not None:
            yield _DURATION.name, (), self._duration
