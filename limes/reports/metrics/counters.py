"""What is counted: outcomes of tasks, deliveries, mails, changes of commitments, drift, lost leases, durations.

Counters that the original has keep its names. prometheus-client's own counters append `_total`, which no dashboard of
the original knows; so these are untyped metrics, which Prometheus treats alike.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from prometheus_client import Counter, Histogram
from prometheus_client.core import CounterMetricFamily, Metric, UntypedMetricFamily
from prometheus_client.registry import Collector

from limes.app.context import Telemetry
from limes.commitments import events as queries
from limes.db.engine import Engine
from limes.notifications.deliver import Outcome
from limes.notifications.send_mails import Sent
from limes.reports.metrics.samples import Counts, Family, Samples

_DELIVERED, _FAILED = "limes_successful_auditevent_publish", "limes_failed_auditevent_publish"
_MAILS, _MAIL_OUTCOMES = "limes_mails", ("sent", "dropped", "retried", "unreachable")
_CHANGES = "limes_commitment_changes"
_PIECE = 100_000
"""Events of commitments that one statement counts."""
_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class OutcomeCounter(Counts):
    """How many tasks ended with `task_outcome` success or failure, by some more labels."""

    def __init__(self, name: str, help_text: str, labels: Sequence[str], known: Sequence[Sequence[str]]) -> None:
        """`known` are the values of the labels that are there from the start, with 0."""
        self._name = name
        family = Family(name, help_text, (*labels, "task_outcome"), UntypedMetricFamily)
        super().__init__(family, known=[(*values, outcome) for values in known for outcome in ("success", "failure")])

    def count(self, success: bool, *values: str) -> None:
        self.add(self._name, (*values, "success" if success else "failure"))


class AuditCounters(Counts):
    """Deliveries of audit events by sink. How many wait is in `limes.reports.metrics.gauges`."""

    def __init__(self, sinks: Iterable[str]) -> None:
        delivered = Family(_DELIVERED, "Audit events delivered to a sink", ("sink",), UntypedMetricFamily)
        help_text = "Failed attempts to deliver audit events; each is repeated"
        failed = Family(_FAILED, help_text, ("sink",), UntypedMetricFamily)
        super().__init__(delivered, failed, known=[(sink,) for sink in sinks])

    def count(self, sink: str, outcome: Outcome) -> None:
        """Adds the outcome of one round of deliveries. A sink that did not answer counts as one failure."""
        self.add(_DELIVERED, (sink,), outcome.delivered)
        self.add(_FAILED, (sink,), outcome.refused + (1 if outcome.failed else 0))


class MailCounters(Counts):
    def __init__(self, sinks: Iterable[str]) -> None:
        help_text = "Mails by what became of a try; unreachable counts tries to reach the server"
        family = Family(_MAILS, help_text, ("sink", "outcome"), UntypedMetricFamily)
        super().__init__(family, known=[(sink, outcome) for sink in sinks for outcome in _MAIL_OUTCOMES])

    def count(self, sink: str, outcome: Sent) -> None:
        numbers = (outcome.sent, outcome.dropped, outcome.retried, int(outcome.error is not None))
        for name, number in zip(_MAIL_OUTCOMES, numbers, strict=True):
            self.add(_MAILS, (sink, name), number)


class CommitmentChanges(Counts):
    """A counter over the whole history, which every process shows alike. Invariant: it is about the events up to number
    `_last`. Numbers are given in the order of commits, so what was counted once needs no second look, and a scrape
    reads only what is new."""

    def __init__(self, engine: Engine) -> None:
        help_text = "Changes of commitments since the first one, by kind of event"
        family = Family(_CHANGES, help_text, ("event",), CounterMetricFamily)
        super().__init__(family, known=[(event,) for event in ("created", "confirmed", "expired")])
        self._engine = engine
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


class JobMetrics(Telemetry, Collector):
    """What the use cases report, and how long tasks take. All known labels start at 0."""

    def __init__(self, services: Sequence[tuple[str, str]]) -> None:
        """`services` are pairs of service type and plugin."""
        self._names = dict(services)
        by_service = ("service_type", "service_name")
        count = partial(Counter, registry=None)
        self._found = count("limes_quota_drift_found", "Backend quotas that somebody else had changed", by_service)
        self._repaired = count("limes_quota_drift_repaired", "Backend quotas corrected after such a change", by_service)
        self._takeovers = count("limes_lease_takeovers", "Tasks claimed again after an earlier claim expired", ["task"])
        help_text = "Duration of tasks, from the claim to the recorded result"
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
