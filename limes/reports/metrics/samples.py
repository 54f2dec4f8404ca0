"""The collector of all metrics that are read when Prometheus asks, and a file of the cloud's figures for scrapes."""

import logging
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import IO, NamedTuple, ParamSpec

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, UntypedMetricFamily
from prometheus_client.registry import Collector

from limes.kernel.errors import Unavailable

MetricFamily = GaugeMetricFamily | UntypedMetricFamily | CounterMetricFamily
Samples = Iterable[tuple[str, Sequence[str], float]]
"""Name of the family, values of its labels, and value."""
P = ParamSpec("P")


class Family(NamedTuple):
    """What the registry and Prometheus are told of the samples of one name."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    kind: type[MetricFamily] = GaugeMetricFamily


class SampleCollector(Collector):
    """Shows what a function reads. While the database does not answer, the families are missing."""

    def __init__(self, families: Sequence[Family], read: Callable[[], Samples], logger: str = __name__) -> None:
        """`logger` is the one that reports it if `read` raises `Unavailable`."""
        self._families = families
        self._read_samples = read
        self._log = logging.getLogger(logger)

    def collect(self) -> Iterator[MetricFamily]:
        found = {family.name: family for family in self.describe()}
        try:
            for name, labels, value in self._read_samples():
                found[name].add_metric(labels, value)
        except Unavailable as error:
            self._log.error("metrics: %s", error)
            return
        yield from found.values()

    def describe(self) -> list[MetricFamily]:
        return [family.kind(family.name, family.help, labels=family.labels) for family in self._families]


class Counts(SampleCollector):
    """Numbers that this process adds to, from many threads."""

    def __init__(self, *families: Family, known: Iterable[tuple[str, ...]]) -> None:
        """`known` are values of the labels that each family has from the start, with 0."""
        super().__init__(families, self._samples)
        self._lock = threading.Lock()
        self._counts = Counter({(family.name, labels): 0 for labels in known for family in families})

    def add(self, name: str, labels: tuple[str, ...], number: int = 1) -> None:
        with self._lock:
            self._counts[name, labels] += number

    def _samples(self) -> Samples:
        with self._lock:
            counts = sorted(self._counts.items())
        return ((name, labels, count) for (name, labels), count in counts)


def shows(*families: Family) -> Callable[[Callable[P, Samples]], Callable[P, SampleCollector]]:
    """Decorates a function that reads samples of these families: called, it returns their collector."""

    def decorate(read: Callable[P, Samples]) -> Callable[P, SampleCollector]:
        def build(*args: P.args, **kwargs: P.kwargs) -> SampleCollector:
            return SampleCollector(families, lambda: read(*args, **kwargs), read.__module__)

        return build

    return decorate


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
