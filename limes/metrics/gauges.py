"""Gauges about work, and about what waits: from the database when Prometheus asks, and from this process."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from limes.actions.context import Limes
from limes.actions.reports.inconsistencies import Reason, find_ineffective
from limes.db.engine import Engine
from limes.db.queries import collector_state as queries
from limes.db.queries import mails
from limes.db.queries.attention import CapacitorScrape
from limes.db.queries.collector_state import ServiceState, WorkState
from limes.db.queries.quota_request_lists import open_requests
from limes.metrics.samples import Family, Samples, shows
from limes.system import Clock

_SERVICE = ("service", "service_name")
_TASK = ("task", "service")
_CAPACITOR = ("capacitor",)
_SINK = ("sink",)
_PROJECT = ("domain", "domain_id", "project", "project_id", "service")
_REQUESTS = (("project", "waiting"), ("project", "passed_on"), ("domain", "waiting"))
"""Level and state of open requests."""

CIRCUIT_STATES = {"closed": 0, "half-open": 1, "open": 2}
CIRCUIT_NAME = "limes_backend_circuit_state"


@shows(
    Family(
        "limes_oldest_scraped_at",
        "Last scrape of the project that has waited longest, in seconds since the epoch",
        _SERVICE,
    ),
    Family(
        "limes_newest_scraped_at", "Time of the most recent scrape of any project, in seconds since the epoch", _SERVICE
    ),
    Family("limes_unscraped_projects", "Projects that were never scraped successfully", _SERVICE),
    Family("limes_stale_projects", "Projects whose figures are older than collector.stale_after", _SERVICE),
    Family("limes_scrape_errors", "Projects whose last scrape failed", _SERVICE),
    Family("limes_quota_pushes_pending", "Projects with quota that has yet to be written to the backend", _SERVICE),
    Family("limes_quota_push_age_seconds", "Age of the oldest quota that is not yet in force", _SERVICE),
    Family("limes_quota_push_errors", "Projects whose last write of quota to the backend failed", _SERVICE),
    Family(
        "limes_quota_drifted_projects",
        "Projects whose backend quota somebody else has changed and Limes has not corrected yet",
        _SERVICE,
    ),
    Family("limes_tasks_due", "Tasks waiting for a collector", _TASK),
    Family("limes_task_lag_seconds", "How long the oldest due task has been waiting; 0 if none is due", _TASK),
    Family("limes_capacity_scraped_at", "Time of the last successful scrape, in seconds since the epoch", _CAPACITOR),
    Family("limes_capacity_stale", "1 if the figures are older than collector.stale_after, or missing", _CAPACITOR),
    Family("limes_capacity_plugin_metrics_ok", "1 if the last scrape of the capacitor succeeded, else 0", _CAPACITOR),
    Family("limes_audit_events_pending", "Audit events waiting for delivery to the sink", _SINK),
    Family("limes_audit_events_age_seconds", "Age of the oldest undelivered audit event; 0 if there is none", _SINK),
    Family("limes_plugin_metrics_ok", "1 if the last scrape of the project's service succeeded, else 0", _PROJECT),
)
def scrape_gauges(
    engine: Engine, service_names: Mapping[str, str], clock: Clock, stale_after: float, audit_sinks: Sequence[str] = ()
) -> Samples:
    """`service_names` are the values of the label `service_name` by service type; `stale_after` is in seconds."""
    now = clock.now().timestamp()
    stale_before = now - stale_after

    def read() -> tuple[WorkState, list[queries.ProjectScrape]]:
        return queries.read(engine, now, stale_before), list(queries.project_scrapes(engine))

    state, projects = engine.snapshot(read)
    for service in state.services:
        yield from _of_service(service, service_names.get(service.service, ""), now)
    for task, service_type, count, since in _due(state, now):
        yield "limes_tasks_due", (task, service_type), count
        yield "limes_task_lag_seconds", (task, service_type), _age(now, since)
    for capacitor in state.capacitors:
        yield from _of_capacitor(capacitor, stale_before)
    waiting = {row.sink: row for row in state.audit}
    for sink in sorted({*audit_sinks, *waiting}):
        backlog = waiting.get(sink)
        yield "limes_audit_events_pending", (sink,), backlog.events if backlog else 0
        yield "limes_audit_events_age_seconds", (sink,), _age(now, backlog.since if backlog else None)
    for project in projects:
        yield "limes_plugin_metrics_ok", project[:5], int(project.ok)


def _of_service(state: ServiceState, name: str, now: float) -> Samples:
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
    return ((family, (state.service, name), value) for family, value in figures.items() if value is not None)


def _of_capacitor(state: CapacitorScrape, stale_before: float) -> Samples:
    values = (state.name,)
    if state.scraped_at is not None:
        yield "limes_capacity_scraped_at", values, state.scraped_at
    yield "limes_capacity_stale", values, int(state.scraped_at is None or state.scraped_at < stale_before)
    yield "limes_capacity_plugin_metrics_ok", values, int(state.ok)


def _due(state: WorkState, now: float) -> Iterator[tuple[str, str, int, float | None]]:
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
        CIRCUIT_NAME,
        "0: calls go through; 1: one call tests whether the backend is back; 2: no calls for a while",
        ("backend",),
    )
)
def circuit_gauge(states: Callable[[], Mapping[str, str]]) -> Samples:
    """The circuits to backends, as this process sees them. `states` returns `closed`, `half-open` or `open` by service
    type."""
    return ((CIRCUIT_NAME, (backend,), CIRCUIT_STATES[state]) for backend, state in sorted(states().items()))


@shows(
    Family("limes_mails_waiting", "Mails that are made, and that the server has not taken yet", ("sink",)),
    Family(
        "limes_mails_age_seconds",
        "Age of the oldest mail that the server has not taken yet; 0 if there is none",
        ("sink",),
    ),
)
def mail_gauges(engine: Engine, clock: Clock, sinks: Sequence[str]) -> Samples:
    """`sinks` are always there."""
    backlogs = {row.sink: row for row in engine.snapshot(lambda: mails.backlogs(engine))}
    now = clock.now().timestamp()
    for sink in sorted({*sinks, *backlogs}):
        row = backlogs.get(sink)
        yield "limes_mails_waiting", (sink,), row.mails if row else 0
        yield "limes_mails_age_seconds", (sink,), max(0.0, now - row.since) if row else 0


@shows(
    Family(
        "limes_open_quota_requests",
        "Open requests for quota; level is project or domain, state is waiting or passed_on (the domain's request"
        " waits)",
        ("level", "state"),
    ),
    Family(
        "limes_open_quota_requests_age_seconds",
        "Age of the oldest request for quota that waits for a decision and was not passed on; 0 if there is none",
        ("level",),
    ),
)
def request_gauges(engine: Engine, clock: Clock) -> Samples:
    rows = engine.snapshot(lambda: open_requests(engine))
    found = {
        ("project" if row.is_of_project else "domain", "passed_on" if row.is_passed_on else "waiting"): row
        for row in rows
    }
    now = clock.now().timestamp()
    for level, state in _REQUESTS:
        row = found.get((level, state))
        yield "limes_open_quota_requests", (level, state), row.number if row else 0
        if state == "waiting":
            yield "limes_open_quota_requests_age_seconds", (level,), max(0.0, now - row.oldest_at) if row else 0.0


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
