"""What metrics say of work that waits, of alerts, and of quota overrides."""

from collections import Counter
from collections.abc import Callable, Iterator

from limes.app.context import Limes
from limes.catalog.catalog import select
from limes.kernel.metrics import Family, SampleCollector, Samples, shows
from limes.notifications.alerts import SEVERITIES, Kind
from limes.notifications.rules import PREFIX
from limes.reports import attention, collector_state
from limes.reports import collector_state as queries
from limes.reports.inconsistencies import Reason, find_inconsistencies, find_ineffective

_SERVICE = ("service", "service_name")

_TASK = ("task", "service")

_CAPACITOR = ("capacitor",)

_SINK = ("sink",)

_PROJECT = ("domain", "domain_id", "project", "project_id", "service")

_OF_SERVICES = {
    "limes_oldest_scraped_at": (
        "oldest",
        "Last scrape of the project that has waited longest, in seconds since the epoch",
    ),
    "limes_newest_scraped_at": ("newest", "Time of the most recent scrape of any project, in seconds since the epoch"),
    "limes_unscraped_projects": ("unscraped", "Projects that were never scraped successfully"),
    "limes_stale_projects": ("stale", "Projects whose figures are older than collector.stale_after"),
    "limes_scrape_errors": ("scrape_errors", "Projects whose last scrape failed"),
    "limes_quota_pushes_pending": ("pending", "Projects with quota that has yet to be written to the backend"),
    "limes_quota_push_age_seconds": ("pending_since", "Age of the oldest quota that is not yet in force"),
    "limes_quota_push_errors": ("push_errors", "Projects whose last write of quota to the backend failed"),
    "limes_quota_drifted_projects": (
        "drifted",
        "Projects whose backend quota was changed outside Limes and is not corrected yet",
    ),
}
"""The field of `ServiceState`, and the help. Of a field that says since when, the age is shown."""


@shows(
    *(Family(name, text, _SERVICE) for name, (_, text) in _OF_SERVICES.items()),
    Family("limes_tasks_due", "Tasks waiting for a collector", _TASK),
    Family("limes_task_lag_seconds", "How long the oldest due task has been waiting; 0 if none is due", _TASK),
    Family("limes_capacity_scraped_at", "Time of the last successful scrape, in seconds since the epoch", _CAPACITOR),
    Family("limes_capacity_stale", "1 if the figures are older than collector.stale_after, or missing", _CAPACITOR),
    Family("limes_capacity_plugin_metrics_ok", "1 if the last scrape of the capacitor succeeded, else 0", _CAPACITOR),
    Family("limes_audit_events_pending", "Audit events waiting for delivery to the sink", _SINK),
    Family("limes_audit_events_age_seconds", "Age of the oldest undelivered audit event; 0 if there is none", _SINK),
    Family("limes_plugin_metrics_ok", "1 if the last scrape of the project's service succeeded, else 0", _PROJECT),
)
def scrape_gauges(limes: Limes) -> Samples:
    engine, settings, now = limes.engine, limes.settings, limes.now()
    service_names = {service.service_type: service.type for service in settings.services}
    sinks = [*settings.audit.sinks, *(f"{PREFIX}{name}" for name in settings.notifications.sinks)]
    stale_before = now - settings.collector.stale_after
    state, projects = engine.snapshot(
        lambda: (queries.read(engine, now, stale_before), queries.project_scrapes(engine))
    )
    for service in state.services:
        labels = (service.service, service_names.get(service.service, ""))
        for family, (figure, _) in _OF_SERVICES.items():
            value = getattr(service, figure)
            if figure == "pending_since":
                yield family, labels, _age(now, value)
            elif value is not None:
                yield family, labels, value
    for task, service_type, count, since in _due(state, now):
        yield "limes_tasks_due", (task, service_type), count
        yield "limes_task_lag_seconds", (task, service_type), _age(now, since)
    for capacitor in state.capacitors:
        name = (capacitor.name,)
        if capacitor.scraped_at is not None:
            yield "limes_capacity_scraped_at", name, capacitor.scraped_at
        is_stale = capacitor.scraped_at is None or capacitor.scraped_at < stale_before
        yield "limes_capacity_stale", name, int(is_stale)
        yield "limes_capacity_plugin_metrics_ok", name, int(capacitor.ok)
    waiting = {row.sink: (row.events, row.since) for row in state.audit}
    for sink in sorted({*sinks, *waiting}):
        number, since = waiting.get(sink, (0, None))
        yield "limes_audit_events_pending", (sink,), number
        yield "limes_audit_events_age_seconds", (sink,), _age(now, since)
    for project in projects:
        yield "limes_plugin_metrics_ok", project[:5], int(project.ok)


def _due(state: collector_state.WorkState, now: float) -> Iterator[tuple[str, str, int, float | None]]:
    """Yields task, service type, how many are due, and since when."""
    for service in state.services:
        yield "scrape-usage", service.service, service.due_scrapes, service.due_scrape_since
        yield "push-quota", service.service, service.due_pushes, service.due_push_since
    waiting = [capacitor.next_scrape_at for capacitor in state.capacitors if capacitor.next_scrape_at <= now]
    yield "scrape-capacity", "", len(waiting), min(waiting, default=None)
    for job in state.jobs:
        is_due = job.next_run_at <= now
        yield job.name, "", int(is_due), job.next_run_at if is_due else None
    for service_type in sorted({row.service for row in state.distributions}):
        times = [row.due_at for row in state.distributions if row.service == service_type and row.due_at <= now]
        yield "distribute-quota", service_type, len(times), min(times, default=None)


def _age(now: float, since: float | None) -> float:
    return 0.0 if since is None else max(0.0, now - since)


@shows(
    Family(
        "limes_quota_overrides_valid",
        "1 if the file of quota_overrides_path can be used, or none is configured; 0 if an earlier state of it is in"
        " force",
    )
)
def override_validity(is_valid: Callable[[], bool]) -> Samples:
    yield "limes_quota_overrides_valid", (), int(is_valid())


@shows(
    Family(
        "limes_ineffective_quota_overrides",
        "Quota overrides without effect; reason is no-project, not-autogrow or below-need",
        ("reason",),
    )
)
def ineffective_overrides(limes: Limes) -> Samples:
    found = Counter(each.reason for each in find_ineffective(limes, limes.overrides()))
    for reason in Reason:
        yield "limes_ineffective_quota_overrides", (reason,), found[reason]


_MAX_AGE = 60.0
"""The figures are counted over all projects, so not with each scrape of Prometheus."""

_FAMILIES = (
    Family(
        "limes_alerts",
        "What GET /v1/alerts lists, by kind and severity; service is empty for capacitors",
        ("kind", "severity", "service"),
    ),
    Family(
        "limes_inconsistencies",
        "What GET /v1/inconsistencies lists; kind is domain_quota_overcommitted, project_quota_overspent or"
        " project_quota_mismatch",
        ("kind",),
    ),
)

_NO_SERVICE = frozenset({Kind.CAPACITY_UNREACHABLE})


class AlertGauges(SampleCollector):
    """The gauges, at most a minute old."""

    def __init__(self, limes: Limes) -> None:
        super().__init__(_FAMILIES, self._samples, __name__)
        self._limes = limes
        self._known: tuple[float, attention.Counts, dict[str, int]] | None = None
        """When they were counted, by the monotonic clock."""

    def _samples(self) -> Samples:
        now = self._limes.clock.monotonic()
        if self._known is None or now - self._known[0] >= _MAX_AGE:
            everything = select(self._limes.catalog)
            found = find_inconsistencies(self._limes, everything)
            inconsistencies = {
                "domain_quota_overcommitted": len(found.overcommitted),
                "project_quota_overspent": len(found.overspent),
                "project_quota_mismatch": len(found.mismatched),
            }
            self._known = (now, attention.count_alerts(self._limes, everything), inconsistencies)
        _, alerts, inconsistencies = self._known
        for kind, severities in SEVERITIES.items():
            for severity in severities:
                for service in [""] if kind in _NO_SERVICE else self._limes.catalog.services:
                    count = alerts[kind, severity, service]
                    yield "limes_alerts", (kind.value, severity.value, service), count
        for name, count in inconsistencies.items():
            yield "limes_inconsistencies", (name,), count


GAUGES = (scrape_gauges, AlertGauges)
