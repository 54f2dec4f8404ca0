"""The state of the collectors' work, for `limes status`: what is late, failing, outdated or running."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from msgspec import Struct, field

from limes.db.engine import Engine
from limes.db.transactions import snapshot
from limes.reports import collector_state as queries

_AUDIT_PATIENCE = 600.0
"""Seconds that an audit event may wait before it is a problem."""


class ServiceStatus(NamedTuple):
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


class CapacitorStatus(NamedTuple):
    name: str
    age: float | None
    stale: bool
    lag: float
    error: str


class JobStatus(NamedTuple):
    name: str
    age: float | None
    lag: float
    error: str


class DistributionStatus(NamedTuple):
    """The computation of quota that follows usage, for one resource."""

    service: str
    resource: str
    age: float | None
    lag: float
    error: str


class AuditStatus(NamedTuple):
    """Audit events that were not delivered to a sink yet."""

    sink: str
    events: int
    age: float


class StatusReport(Struct, frozen=True):
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


@snapshot
def report_status(engine: Engine, stale_after: float, now: float) -> StatusReport:
    """Returns one state of the database. Figures are too old after `stale_after` seconds."""
    stale_before = now - stale_after
    state = queries.read(engine, now, stale_before)

    def age(time: float | None) -> float | None:
        return None if time is None else now - time

    def lag(due_at: float) -> float:
        return max(0.0, now - due_at)

    report = StatusReport(
        at=now,
        services=[_service(row, age) for row in state.services],
        capacitors=[
            CapacitorStatus(
                row.name,
                age(row.scraped_at),
                row.scraped_at is None or row.scraped_at < stale_before,
                lag(row.next_scrape_at),
                row.error,
            )
            for row in state.capacitors
        ],
        jobs=[JobStatus(row.name, age(row.ran_at), lag(row.next_run_at), row.error) for row in state.jobs],
        distributions=[
            DistributionStatus(row.service, row.resource, age(row.ran_at), lag(row.due_at), row.error)
            for row in state.distributions
        ],
        audit=[AuditStatus(row.sink, row.events, now - row.since) for row in state.audit],
        leases=queries.leases(engine, now),
        errors=queries.errors(engine),
    )
    report.problems.extend(_problems(report))
    return report


def _service(row: queries.ServiceState, age: Callable[[float | None], float | None]) -> ServiceStatus:
    return ServiceStatus(
        service=row.service,
        projects=row.projects,
        unscraped=row.unscraped,
        stale=row.stale,
        oldest_age=age(row.oldest),
        scrape_errors=row.scrape_errors,
        due_scrapes=row.due_scrapes,
        scrape_lag=age(row.due_scrape_since) or 0.0,
        pending_pushes=row.pending,
        push_age=age(row.pending_since) or 0.0,
        push_errors=row.push_errors,
        drifted=row.drifted,
    )


def _problems(report: StatusReport) -> Iterator[str]:
    for service in report.services:
        for count, problem in (
            (service.stale, "figures are too old"),
            (service.scrape_errors, "the last scrape failed"),
            (service.push_errors, "the quota could not be written"),
            (service.drifted, "the backend quota was changed outside Limes"),
        ):
            if count:
                yield f"service {service.service}: {problem} in {count} of {service.projects} projects"
    for capacitor in report.capacitors:
        if capacitor.error:
            yield capacitor.error
        elif capacitor.stale:
            yield f"capacitor {capacitor.name}: its figures are missing or too old"
    for sink in report.audit:
        if sink.age > _AUDIT_PATIENCE:
            yield f"audit: {sink.events} events wait for {sink.sink}, the oldest for {sink.age:.0f} s"
    yield from (f"job {job.name}: {job.error}" for job in report.jobs if job.error)
    yield from (f"quota of {row.service}/{row.resource}: {row.error}" for row in report.distributions if row.error)
