"""The state of the collectors' work, for `limes status`: what is late, failing, outdated or running."""

from dataclasses import dataclass, field

from limes.db.engine import Engine
from limes.db.queries import collector_state as queries

_AUDIT_PATIENCE = 600.0
"""Seconds that an audit event may wait before it is a problem."""


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """One service over all projects. Ages and lags are in seconds; None where there is none."""

    service: str
    projects: int
    unscraped: int
    stale: int
    oldest_age: float | None
    scrape_errors: int
    due_scrapes: int
    scrape_lag: float
    pending_pushes: int
    push_age: float
    push_errors: int
    drifted: int


@dataclass(frozen=True, slots=True)
class CapacitorStatus:
    name: str
    age: float | None
    stale: bool
    lag: float
    error: str


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job that is done for the whole cluster."""

    name: str
    age: float | None
    lag: float
    error: str


@dataclass(frozen=True, slots=True)
class DistributionStatus:
    """The computation of quota that follows usage, for one resource."""

    service: str
    resource: str
    age: float | None
    lag: float
    error: str


@dataclass(frozen=True, slots=True)
class AuditStatus:
    """Audit events that were not delivered to a sink yet."""

    sink: str
    events: int
    age: float


@dataclass(frozen=True, slots=True)
class StatusReport:
    """Everything. `at` is when it was read, in seconds since the epoch."""

    at: float
    services: list[ServiceStatus]
    capacitors: list[CapacitorStatus]
    jobs: list[JobStatus]
    distributions: list[DistributionStatus]
    audit: list[AuditStatus]
    leases: list[queries.Lease]
    errors: list[queries.ErrorGroup]
    problems: list[str] = field(default_factory=list)
    """What needs attention, one line each."""


def report_status(engine: Engine, stale_after: float, now: float) -> StatusReport:
    """Returns one state of the database. Figures are too old after `stale_after` seconds."""
    report = engine.snapshot(lambda: _read(engine, stale_after, now))
    report.problems.extend(_problems(report))
    return report


def _read(engine: Engine, stale_after: float, now: float) -> StatusReport:
    stale_before = now - stale_after
    state = queries.read(engine, now, stale_before)
    return StatusReport(
        at=now,
        services=[_service(row, now) for row in state.services],
        capacitors=[
            CapacitorStatus(
                row.name,
                _age(row.scraped_at, now),
                row.scraped_at is None or row.scraped_at < stale_before,
                max(0.0, now - row.next_scrape_at),
                row.error,
            )
            for row in state.capacitors
        ],
        jobs=[
            JobStatus(
                row.name, None if row.ran_at is None else now - row.ran_at, max(0.0, now - row.next_run_at), row.error
            )
            for row in state.jobs
        ],
        distributions=[
            DistributionStatus(row.service, row.resource, _age(row.ran_at, now), max(0.0, now - row.due_at), row.error)
            for row in state.distributions
        ],
        audit=[AuditStatus(row.sink, row.events, now - row.since) for row in state.audit],
        leases=queries.leases(engine, now),
        errors=queries.errors(engine),
    )


def _service(row: queries.ServiceState, now: float) -> ServiceStatus:
    return ServiceStatus(
        service=row.service,
        projects=row.projects,
        unscraped=row.unscraped,
        stale=row.stale,
        oldest_age=_age(row.oldest, now),
        scrape_errors=row.scrape_errors,
        due_scrapes=row.due_scrapes,
        scrape_lag=_age(row.due_scrape_since, now) or 0.0,
        pending_pushes=row.pending,
        push_age=_age(row.pending_since, now) or 0.0,
        push_errors=row.push_errors,
        drifted=row.drifted,
    )


def _age(time: float | None, now: float) -> float | None:
    return None if time is None else now - time


def _problems(report: StatusReport) -> list[str]:
    problems = []
    for service in report.services:
        for count, problem in (
            (service.stale, "figures are too old"),
            (service.scrape_errors, "the last scrape failed"),
            (service.push_errors, "the quota could not be written"),
            (service.drifted, "somebody else has changed the backend quota"),
        ):
            if count:
                problems.append(f"service {service.service}: {problem} in {count} of {service.projects} projects")
    for capacitor in report.capacitors:
        if capacitor.error:
            problems.append(capacitor.error)
        elif capacitor.stale:
            problems.append(f"capacitor {capacitor.name}: its figures are missing or too old")
    problems.extend(
        f"audit: {sink.events} events wait for {sink.sink}, the oldest for {sink.age:.0f} s"
        for sink in report.audit
        if sink.age > _AUDIT_PATIENCE
    )
    problems.extend(f"job {job.name}: {job.error}" for job in report.jobs if job.error)
    problems.extend(f"quota of {row.service}/{row.resource}: {row.error}" for row in report.distributions if row.error)
    return problems
