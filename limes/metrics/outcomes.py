"""Counters by outcome, under the names of the original.

prometheus-client's own counters append `_total` to their names, for which no dashboard of the original looks. These are
untyped metrics, which Prometheus treats alike.
"""

import threading
from collections.abc import Iterator, Sequence

from prometheus_client.core import UntypedMetricFamily
from prometheus_client.registry import Collector


class OutcomeCounter(Collector):
    """How many tasks ended with `task_outcome` success or failure, by some more labels."""

    def __init__(self, name: str, help_text: str, labels: Sequence[str], known: Sequence[Sequence[str]]) -> None:
        """`known` are the values of the labels that are there from the start, with 0."""
        self._name = name
        self._help = help_text
        self._labels = tuple(labels)
        self._lock = threading.Lock()
        self._counts = {(*values, outcome): 0 for values in known for outcome in ("success", "failure")}

    def count(self, success: bool, *values: str) -> None:
        """One more task."""
        key = (*values, "success" if success else "failure")
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + 1

    def collect(self) -> Iterator[UntypedMetricFamily]:
        """The present counts."""
        family = UntypedMetricFamily(self._name, self._help, labels=(*self._labels, "task_outcome"))
        with self._lock:
            counts = dict(self._counts)
        for key, count in sorted(counts.items()):
            family.add_metric(key, count)
        yield family

    def describe(self) -> list[UntypedMetricFamily]:
        """The name, for the registry."""
        return [UntypedMetricFamily(self._name, self._help)]
