"""Gauges about the collector's work: from the database when Prometheus asks, and the circuits of this process."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from limes.db.engine import Engine
from limes.db.queries import collector_state as queries
from limes.db.queries.collector_state import ServiceState, WorkState
from limes.errors import Unavailable
from limes.system import Clock

log = logging.getLogger(__name__)

_SERVICE = ("service", "service_name")
_TASK = ("task", "service")
_SINK = ("sink",)
_PROJECT = ("domain", "domain_id", "project", "project_id", "service")

FAMILIES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "limes_oldest_scraped_at": (
        _SERVICE,
        "Last scrape of the project that has waited longest, in seconds since the epoch",
    ),
    "limes_newest_scraped_at": (_SERVICE, "Time of the most recent scrape of any project, in seconds since the epoch"),
    "limes_unscraped_projects": (_SERVICE, "Projects that were never scraped successfully"),
    "limes_stale_projects": (_SERVICE, "Projects whose figures are older than collector.stale_after"),
    "limes_scrape_errors": (_SERVICE, "Projects whose last scrape failed"),
    "limes_quota_pushes_pending": (_SERVICE, "Projects with quota that has yet to be written to the backend"),
    "limes_quota_push_age_seconds": (_SERVICE, "Age of the oldest quota that is not yet in force"),
    "limes_quota_push_errors": (_SERVICE, "Projects whose last write of quota to the backend failed"),
    "limes_quota_drifted_projects": (
        _SERVICE,
        "Projects whose backend quota somebody else has changed and Limes has not corrected yet",
    ),
    "limes_tasks_due": (_TASK, "Tasks waiting for a collector"),
    "limes_task_lag_seconds": (_TASK, "How long the oldest due task has been waiting; 0 if none is due"),
    "limes_capacity_scraped_at": (("capacitor",), "Time of the last successful scrape, in seconds since the epoch"),
    "limes_capacity_stale": (("capacitor",), "1 if the figures are older than collector.stale_after, or missing"),
    "limes_capacity_plugin_metrics_ok": (("capacitor",), "1 if the last scrape of the capacitor succeeded, else 0"),
    "limes_audit_events_pending": (_SINK, "Audit events waiting for delivery to the sink"),
    "limes_audit_events_age_seconds": (_SINK, "Age of the oldest undelivered audit event; 0 if there is none"),
    "limes_plugin_metrics_ok": (_PROJECT, "1 if the last scrape of the project's service succeeded, else 0"),
}
"""The labels and the help of each gauge."""

CIRCUIT_STATES = {"closed": 0, "half-open": 1, "open": 2}
CIRCUIT_NAME = "limes_backend_circuit_state"
_CIRCUIT_HELP = "0: calls go through; 1: one call tests whether the backend is back; 2: no calls for a while"


class ScrapeGauges(Collector):
    """The gauges. While the database does not answer there are none."""

    def __init__(
        self,
        engine: Engine,
        service_names: Mapping[str, str],
        clock: Clock,
        stale_after: float,
        audit_sinks: Sequence[str] = (),
    ) -> None:
        """`service_names` are the values of the label `service_name` by service type; `stale_after` is in seconds."""
        self._engine = engine
        self._names = service_names
        self._clock = clock
        self._stale_after = stale_after
        self._audit_sinks = audit_sinks

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yields the present figures."""
        now = self._clock.now().timestamp()
        stale_before = now - self._stale_after

        def read() -> tuple[WorkState, list[queries.ProjectScrape]]:
            return queries.read(self._engine, now, stale_before), list(queries.project_scrapes(self._engine))

        try:
            state, projects = self._engine.snapshot(read)
        except Unavailable as error:
            log.error("metrics: %s", error)
            return
        families = {name: GaugeMetricFamily(name, text, labels=labels) for name, (labels, text) in FAMILIES.items()}
        for service in state.services:
            self._service(families, service, now)
        self._tasks(families, state, now)
        for capacitor in state.capacitors:
            values = (capacitor.name,)
            if capacitor.scraped_at is not None:
                families["limes_capacity_scraped_at"].add_metric(values, capacitor.scraped_at)
            stale = capacitor.scraped_at is None or capacitor.scraped_at < stale_before
            families["limes_capacity_stale"].add_metric(values, int(stale))
            families["limes_capacity_plugin_metrics_ok"].add_metric(values, int(capacitor.ok))
        waiting = {row.sink: row for row in state.audit}
        for sink in sorted({*self._audit_sinks, *waiting}):
            backlog = waiting.get(sink)
            families["limes_audit_events_pending"].add_metric((sink,), backlog.events if backlog else 0)
            families["limes_audit_events_age_seconds"].add_metric(
                (sink,), _age(now, backlog.since if backlog else None)
            )
        for project in projects:
            families["limes_plugin_metrics_ok"].add_metric(project[:5], int(project.ok))
        yield from families.values()

    def _service(self, families: Mapping[str, GaugeMetricFamily], state: ServiceState, now: float) -> None:
        values = (state.service, self._names.get(state.service, ""))
        figures = {
            "limes_oldest_scraped_at": state.oldest,
            "limes_newest_scraped_at": state.newest,
            "limes_unscraped_projects": state.unscraped,
            "limes_stale_projects": state.stale,
            "limes_scrape_errors": state.scrape_errors,
            "limes_quota_pushes_pending": state.pending,
            "limes_quota_push_age_seconds": _age(now, state.pending_since),
            "limes_quota_push_errors": state.push_errors,
            "limes_quota_drifted_projects": state.drifted,
        }
        for name, value in figures.items():
            if value is not None:
                families[name].add_metric(values, value)

    def _tasks(self, families: Mapping[str, GaugeMetricFamily], state: WorkState, now: float) -> None:
        due: list[tuple[str, str, int, float | None]] = []
        for service in state.services:
            due.append(("scrape-usage", service.service, service.due_scrapes, service.due_scrape_since))
            due.append(("push-quota", service.service, service.due_pushes, service.due_push_since))
        waiting = [capacitor.next_scrape_at for capacitor in state.capacitors if capacitor.next_scrape_at <= now]
        due.append(("scrape-capacity", "", len(waiting), min(waiting, default=None)))
        for job in state.jobs:
            is_due = job.next_run_at <= now
            due.append((job.name, "", int(is_due), job.next_run_at if is_due else None))
        for service_type in sorted({row.service for row in state.distributions}):
            times = [row.due_at for row in state.distributions if row.service == service_type and row.due_at <= now]
            due.append(("distribute-quota", service_type, len(times), min(times, default=None)))
        for task, service_type, count, since in due:
            families["limes_tasks_due"].add_metric((task, service_type), count)
            families["limes_task_lag_seconds"].add_metric((task, service_type), _age(now, since))

    def describe(self) -> list[GaugeMetricFamily]:
        """Returns the names, for the registry."""
        return [GaugeMetricFamily(name, text, labels=labels) for name, (labels, text) in FAMILIES.items()]


def _age(now: float, since: float | None) -> float:
    return 0.0 if since is None else max(0.0, now - since)


class CircuitGauge(Collector):
    """The circuits to backends, as this process sees them: one gauge for each."""

    def __init__(self, states: Callable[[], Mapping[str, str]]) -> None:
        """`states` returns `closed`, `half-open` or `open` by service type."""
        self._states = states

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yields the present states."""
        family = GaugeMetricFamily(CIRCUIT_NAME, _CIRCUIT_HELP, labels=("backend",))
        for backend, state in sorted(self._states().items()):
            family.add_metric((backend,), CIRCUIT_STATES[state])
        yield family

    def describe(self) -> list[GaugeMetricFamily]:
        """Returns the name, for the registry."""
        return [GaugeMetricFamily(CIRCUIT_NAME, _CIRCUIT_HELP)]
