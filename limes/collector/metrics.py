"""What metrics say of the work of this process.

Counters that the original has keep its names. prometheus-client's own counters append `_total`, which no dashboard of
the original knows; so these are untyped metrics, which Prometheus treats alike.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from prometheus_client import Counter, Histogram
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from limes.app.context import Telemetry
from limes.kernel.metrics import Family, Samples, shows

_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class JobMetrics(Telemetry, Collector):
    """What the use cases report, and how long tasks take. All known labels start at 0."""

    def __init__(self, services: Sequence[tuple[str, str]]) -> None:
        """`services` are pairs of service type and plugin."""
        self._names = dict(services)
        by_service = ("service_type", "service_name")
        count = partial(Counter, registry=None)
        self._found = count("limes_quota_drift_found", "Backend quotas that were changed outside Limes", by_service)
        self._repaired = count("limes_quota_drift_repaired", "Backend quotas corrected after such a change", by_service)
        self._takeovers = count("limes_lease_takeovers", "Tasks claimed again after an earlier claim expired", ["task"])
        help_text = "Duration of tasks, from the claim to the recorded result; of scrapes, from the claim to the report"
        labels = ["task", "service"]
        self._durations = Histogram("limes_task_duration_seconds", help_text, labels, buckets=_BUCKETS, registry=None)
        self.metrics = (self._found, self._repaired, self._takeovers, self._durations)
        for pair in services:
            self._found.labels(*pair)
            self._repaired.labels(*pair)

    def start_at_zero(self, tasks: Sequence[str]) -> None:
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
        self._durations.labels(*split_task(task)).observe(seconds)

    def collect(self) -> Iterator[Metric]:
        for metric in self.metrics:
            yield from metric.collect()

    def describe(self) -> list[Metric]:
        return [family for metric in self.metrics for family in metric.describe()]


def split_task(name: str) -> tuple[str, str]:
    """Returns the kind of a job, and the service type that it is about (empty if it is about none)."""
    task, _, service = name.partition(":")
    return task, service


CIRCUIT_STATES = {"closed": 0, "half-open": 1, "open": 2}

CIRCUIT_NAME = "limes_backend_circuit_state"


@shows(
    Family(
        CIRCUIT_NAME,
        "0: calls go through; 1: one call tests whether the backend is back; 2: no calls for a while",
        ("backend",),
    )
)
def circuit_gauge(states: Callable[[], Mapping[str, str]]) -> Samples:
    """The circuits to backends, as this process sees them. `states` returns `closed`, `half-open` or `open` by service
    type."""
    return ((CIRCUIT_NAME, (backend,), CIRCUIT_STATES[state]) for backend, state in sorted(states().items()))
