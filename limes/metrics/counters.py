"""What one collector process counts: outcomes of tasks, deliveries of audit events, drift, lost leases, durations.

Counters that the original has keep its names. prometheus-client's own counters append `_total`, which no dashboard of
the original knows; so these are untyped metrics, which Prometheus treats alike.
"""

import threading
from collections import Counter as Tally
from collections.abc import Iterator, Sequence

from prometheus_client import Counter, Histogram
from prometheus_client.core import Metric, UntypedMetricFamily
from prometheus_client.registry import Collector

from limes.actions.deliver_events import Outcome
from limes.actions.project_tasks import Telemetry
from limes.metrics.samples import Family, SampleCollector, Samples

_DELIVERED = Family(
    "limes_successful_auditevent_publish", "Audit events delivered to a sink", ("sink",), UntypedMetricFamily
)
_FAILED = Family(
    "limes_failed_auditevent_publish",
    "Failed attempts to deliver audit events; each is repeated",
    ("sink",),
    UntypedMetricFamily,
)
_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class OutcomeCounter(SampleCollector):
    """How many tasks ended with `task_outcome` success or failure, by some more labels."""

    def __init__(self, name: str, help_text: str, labels: Sequence[str], known: Sequence[Sequence[str]]) -> None:
        """`known` are the values of the labels that are there from the start, with 0."""
        family = Family(name, help_text, (*labels, "task_outcome"), UntypedMetricFamily)
        super().__init__([family], self._samples)
        self._name = name
        self._lock = threading.Lock()
        self._counts = {(*values, outcome): 0 for values in known for outcome in ("success", "failure")}

    def count(self, success: bool, *values: str) -> None:
        """One more task."""
        key = (*values, "success" if success else "failure")
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + 1

    def _samples(self) -> Samples:
        with self._lock:
            counts = sorted(self._counts.items())
        for key, count in counts:
            yield self._name, key, count


class AuditCounters(SampleCollector):
    """Deliveries of audit events by sink. How many wait is in `limes.metrics.gauges`."""

    def __init__(self, sinks: Sequence[str]) -> None:
        """`sinks` are there from the start, with 0."""
        super().__init__([_DELIVERED, _FAILED], self._samples)
        self._sinks = sinks
        self._lock = threading.Lock()
        self._delivered: Tally[str] = Tally()
        self._failed: Tally[str] = Tally()

    def count(self, sink: str, outcome: Outcome) -> None:
        """Adds the outcome of one round of deliveries. A sink that did not answer counts as one failure."""
        with self._lock:
            self._delivered[sink] += outcome.delivered
            self._failed[sink] += outcome.refused + (1 if outcome.failed else 0)

    def _samples(self) -> Samples:
        with self._lock:
            counts = [(sink, self._delivered[sink], self._failed[sink]) for sink in self._sinks]
        for sink, delivered, failed in counts:
            yield _DELIVERED.name, (sink,), delivered
            yield _FAILED.name, (sink,), failed


class JobMetrics(Telemetry, Collector):
    """What the use cases report, and how long tasks take. All known labels start at 0."""

    def __init__(self, services: Sequence[tuple[str, str]]) -> None:
        """`services` are pairs of service type and plugin."""
        self._names = dict(services)
        by_service = ("service_type", "service_name")
        self._found = Counter(
            "limes_quota_drift_found", "Backend quotas that somebody else had changed", by_service, registry=None
        )
        self._repaired = Counter(
            "limes_quota_drift_repaired", "Backend quotas corrected after such a change", by_service, registry=None
        )
        self._takeovers = Counter(
            "limes_lease_takeovers", "Tasks claimed again after an earlier claim expired", ["task"], registry=None
        )
        self._durations = Histogram(
            "limes_task_duration_seconds",
            "Duration of tasks, from the claim to the recorded result",
            ["task", "service"],
            buckets=_BUCKETS,
            registry=None,
        )
        self.metrics = (self._found, self._repaired, self._takeovers, self._durations)
        for pair in services:
            self._found.labels(*pair)
            self._repaired.labels(*pair)

    def start_at_zero(self, tasks: Sequence[str]) -> None:
        """Lets the counters of these jobs (`Job.name`) begin at 0."""
        for task in tasks:
            self._takeovers.labels(split_task(task)[0])
            self._durations.labels(*split_task(task))

    def drift_found(self, service_type: str) -> None:
        self._found.labels(service_type, self._names.get(service_type, "")).inc()

    def drift_repaired(self, service_type: str) -> None:
        self._repaired.labels(service_type, self._names.get(service_type, "")).inc()

    def lease_taken_over(self, task: str) -> None:
        self._takeovers.labels(task).inc()

    def task_done(self, task: str, seconds: float) -> None:
        """A task of this job has ended, well or badly."""
        self._durations.labels(*split_task(task)).observe(seconds)

    def collect(self) -> Iterator[Metric]:
        for metric in self.metrics:
            yield from metric.collect()

    def describe(self) -> list[Metric]:
        """Returns the names, for the registry."""
        return [family for metric in self.metrics for family in metric.describe()]


def split_task(name: str) -> tuple[str, str]:
    """Returns the kind of a job, and the service type that it is about (empty if it is about none)."""
    task, _, service = name.partition(":")
    return task, service
