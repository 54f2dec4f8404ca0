"""A file of the cloud's figures, which all who scrape at the same time share."""

import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from typing import IO

from limes.kernel.errors import Unavailable
from limes.kernel.metrics import Family, SampleCollector, Samples

log = logging.getLogger(__name__)

_PART = 256 * 1024
_AGE = Family(
    "limes_data_metrics_age_seconds",
    "Seconds since the figures of the cloud were last read from the database; since the start, if they never were",
)
_DURATION = Family("limes_data_metrics_read_seconds", "How long the last reading of the figures of the cloud took")


class Reading:
    """What one reading gave, on disk. The file has no name, and is gone when the last one who reads it closes it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.size = file.seek(0, os.SEEK_END)

    def parts(self) -> Generator[bytes, None, None]:
        """Yields the bytes, to any number of readers at the same time."""
        position = 0
        while part := os.pread(self._file.fileno(), _PART, position):
            position += len(part)
            yield part


class SharedFigures(SampleCollector):
    """The figures, at most `max_age` seconds old, and gauges about their age. Of several scrapes at the same time one
    reads the database, and the others wait for what it finds. So the database does one reading at a time, and the disk
    holds two at most: the last one, and the one that is being made."""

    def __init__(self, write: Callable[[IO[bytes]], None], max_age: float) -> None:
        """`write` writes all figures in Prometheus' text format, and may raise `Unavailable`."""
        super().__init__([_AGE, _DURATION], self._samples)
        self._write = write
        self._max_age = max_age
        self._lock = threading.Lock()
        self._reading: Reading | None = None
        self._tried_at: float | None = None
        self._read_at = time.monotonic()
        self._duration: float | None = None

    def latest(self) -> Reading | None:
        """Returns the figures; None while the database does not answer, as half of them or old ones would mislead."""
        asked_at = time.monotonic()
        with self._lock:
            # who has waited while somebody else asked takes what that one got, be it nothing: else all who wait for a
            # database that does not answer would ask it again, one after the other
            oldest = asked_at - self._max_age if self._reading else asked_at
            if self._tried_at is None or self._tried_at < oldest:
                self._tried_at = time.monotonic()
                self._reading = self._read(self._tried_at)
            return self._reading

    def _read(self, now: float) -> Reading | None:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed when nobody reads it any more
        try:
            self._write(file)
        except Unavailable as error:
            log.error("data metrics: %s", error)
            return None
        self._read_at = now
        self._duration = time.monotonic() - now
        return Reading(file)

    def _samples(self) -> Samples:
        yield _AGE.name, (), max(0.0, time.monotonic() - self._read_at)
        if self._duration is not None:
            yield _DURATION.name, (), self._duration
