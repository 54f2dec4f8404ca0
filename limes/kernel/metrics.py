"""What metrics are made of: samples that are read when Prometheus asks, and numbers that this process adds to."""

import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, ParamSpec

from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, UntypedMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from limes.kernel.errors import Unavailable

WORKERS_FILES = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder for metrics of all workers."""
MetricFamily = GaugeMetricFamily | UntypedMetricFamily | CounterMetricFamily

Samples = Iterable[tuple[str, Sequence[str], float]]
"""Name of the family, values of its labels, and value."""

P = ParamSpec("P")


class Family(NamedTuple):
    """A metric: what its samples have in common."""

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


class OutcomeCounter(Counts):
    """How many tasks ended with `task_outcome` success or failure, by some more labels."""

    def __init__(self, name: str, help_text: str, labels: Sequence[str], known: Sequence[Sequence[str]]) -> None:
        """`known` are the values of the labels that are there from the start, with 0."""
        self._name = name
        family = Family(name, help_text, (*labels, "task_outcome"), UntypedMetricFamily)
        super().__init__(family, known=[(*values, outcome) for values in known for outcome in ("success", "failure")])

    def count(self, success: bool, *values: str, number: int = 1) -> None:
        self.add(self._name, (*values, "success" if success else "failure"), number)


def render_metrics() -> bytes:
    """Returns the metrics of this process, or of all workers when `PROMETHEUS_MULTIPROC_DIR` is set."""
    if WORKERS_FILES not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    return generate_latest(registry)
