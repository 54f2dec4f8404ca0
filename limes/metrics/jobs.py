"""Counters and histograms of one collector process."""

from collections.abc import Iterator, Sequence

from prometheus_client import Counter, Histogram
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from limes.actions.telemetry import Telemetry

_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class JobMetrics(Telemetry, Collector):
    """What the use cases tell and how long tasks take. Everything that can be named beforehand starts with 0."""

    def __init__(self, services: Sequence[tuple[str, str]]) -> None:
        """`services` are pairs of service type and plugin."""
        self._names = dict(services)
        by_service = ("service_type", "service_name")
        self._found = Counter(
            "limes_quota_drift_found", "Backend quotas that were changed past Limes", by_service, registry=None
        )
        self._repaired = Counter(
            "limes_quota_drift_repaired", "Backend quotas that were put right after drift", by_service, registry=None
        )
        self._takeovers = Counter(
            "limes_lease_takeovers", "Tasks claimed after their former claim had ended", ["task"], registry=None
        )
        self._durations = Histogram(
            "limes_task_duration_seconds",
            "How long tasks take, from the claim to the record",
            ["task", "service"],
            buckets=_BUCKETS,
            registry=None,
        )
        self.metrics = (self._found, self._repaired, self._takeovers, self._durations)
        for pair in services:
            self._found.labels(*pair)
            self._repaired.labels(*pair)

    def start_at_zero(self, tasks: Sequence[str]) -> None:
        """Makes what there is to count about these jobs (`Job.name`)."""
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
        """All of them."""
        for metric in self.metrics:
            yield from metric.collect()

    def describe(self) -> list[Metric]:
        """The names, for the registry."""
        return [family for metric in self.metrics for family in metric.describe()]


def split_task(name: str) -> tuple[str, str]:
    """The kind of a job, and the service type that it is about (empty if it is about none)."""
    task, _, service = name.partition(":")
    return task, service
