"""How the collector's work goes, as its gauges and `limes status` show it. Only for configured services."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import peewee
from peewee import JOIN, Case, fn

from limes.core.scrape_problem import PROJECT_PLACEHOLDER
from limes.db.engine import Engine
from limes.db.models import Domain, Job, OutboxEvent, Project, ProjectService, Service
from limes.db.queries.attention import CapacitorScrape, capacitor_scrapes, count_if
from limes.db.queries.autogrow import JOB_PREFIX, computed_resources
from limes.db.query import Node, rows


class ServiceState(NamedTuple):
    """One service over all projects. Times are seconds since the epoch; None where there is none."""

    service: str
    projects: int
    oldest: float | None
    newest: float | None
    unscraped: int
    """Projects that were never scraped successfully."""
    stale: int
    """Projects whose figures are older than the given time."""
    scrape_errors: int
    due_scrapes: int
    due_scrape_since: float | None
    """When the oldest due scrape became due. One that was asked for is due at once and has no time."""
    running_scrapes: int
    pending: int
    """Projects whose quota has to be written."""
    pending_since: float | None
    push_errors: int
    due_pushes: int
    due_push_since: float | None
    drifted: int
    """Projects whose backend quota somebody else has changed."""


class JobState(NamedTuple):
    """A job that is done for the whole cluster."""

    name: str
    ran_at: float | None
    next_run_at: float
    error: str


class DistributionState(NamedTuple):
    """The computation of quota that follows usage, for one resource."""

    service: str
    resource: str
    ran_at: float | None
    due_at: float
    error: str


class AuditBacklog(NamedTuple):
    """Audit events that one sink was not given yet, and when the first of them happened."""

    sink: str
    events: int
    since: float


class WorkState(NamedTuple):
    services: list[ServiceState]
    capacitors: list[CapacitorScrape]
    jobs: list[JobState]
    distributions: list[DistributionState]
    audit: list[AuditBacklog]
    """Sinks for which nothing waits are missing."""


class ProjectScrape(NamedTuple):
    """The last scrape of one service of one project."""

    domain: str
    domain_id: str
    project: str
    project_id: str
    service: str
    ok: bool
    """SQLite says 0 or 1."""


@rows(ServiceState)
def _services(now: float, stale_before: float) -> Node:
    row = ProjectService
    is_claimed = row.scrape_claimed_until.is_null(False) & (row.scrape_claimed_until > now)
    is_scrape_due, is_push_due = row.next_scrape_at <= now, row.next_push_at <= now
    return (
        Service.select(
            *(Service.type, fn.COUNT(row.id), fn.MIN(row.scraped_at), fn.MAX(row.scraped_at)),
            count_if(row.id.is_null(False) & row.scraped_at.is_null()),
            count_if(row.scraped_at < stale_before),
            count_if(row.scrape_error != ""),
            count_if(is_scrape_due | (row.is_stale & ~is_claimed)),
            fn.MIN(Case(None, [(is_scrape_due, row.next_scrape_at)])),
            count_if(is_claimed),
            *(fn.COUNT(row.quota_desynced_at), fn.MIN(row.quota_desynced_at)),
            count_if(row.push_error != ""),
            count_if(is_push_due),
            fn.MIN(Case(None, [(is_push_due, row.next_push_at)])),
            fn.COUNT(row.drifted_at),
        )
        .join(row, JOIN.LEFT_OUTER)
        .where(Service.vanished_at.is_null())
        .group_by(Service.type)
        .order_by(Service.type)
    )


@rows(JobState)
def _jobs() -> Node:
    return Job.select(Job.name, Job.ran_at, Job.next_run_at, Job.error).order_by(Job.name)


@rows(AuditBacklog)
def _audit() -> Node:
    event = OutboxEvent
    query = event.select(event.sink, fn.COUNT(event.number), fn.MIN(event.at)).where(event.delivered_at.is_null())
    return query.group_by(event.sink).order_by(event.sink)


def read(engine: Engine, now: float, stale_before: float) -> WorkState:
    """Reads everything in five queries, whatever the number of projects. To be called in a snapshot."""
    jobs = _jobs(engine)
    return WorkState(
        _services(engine, now, stale_before),
        capacitor_scrapes(engine),
        [job for job in jobs if not job.name.startswith(JOB_PREFIX)],
        list(_distributions(engine, jobs)),
        _audit(engine),
    )


def _distributions(engine: Engine, jobs: Iterable[JobState]) -> Iterator[DistributionState]:
    outcomes = {job.name: job for job in jobs}
    for row in computed_resources(engine):
        last = outcomes.get(f"{JOB_PREFIX}{row.service_type}/{row.name}")
        ran_at, error = (last.ran_at, last.error) if last else (None, "")
        yield DistributionState(row.service_type, row.name, ran_at, row.due_at, error)


@rows(ProjectScrape)
def project_scrapes() -> Node:
    """How the last scrape of every project's every service went, where there was one."""
    row = ProjectService
    is_ok = row.scraped_at.is_null(False) & (row.scrape_error == "")
    return (
        row.select(*(Domain.name, Domain.uuid, Project.name, Project.uuid, Service.type), is_ok)
        .join(Service)
        .join_from(row, Project)
        .join(Domain)
        .where(row.checked_at.is_null(False), Service.vanished_at.is_null())
        .order_by(Domain.uuid, Project.uuid, Service.type)
    )


Task = Literal["scrape-usage", "push-quota"]


class Lease(NamedTuple):
    """Projects that collectors work on, by task and service, and when the first of the claims ends."""

    task: str
    service: str
    projects: int
    until: float


class ErrorGroup(NamedTuple):
    """An error of scraping or of writing quota, and in how many projects of a service it is the last one."""

    task: str
    service: str
    message: str
    projects: int


@rows(Lease)
def _leases(now: float, task: Task) -> Node:
    row = ProjectService
    until = row.scrape_claimed_until if task == "scrape-usage" else row.push_claimed_until
    return (
        row.select(peewee.Value(task), Service.type, fn.COUNT(row.id), fn.MIN(until))
        .join(Service)
        .where(until > now, Service.vanished_at.is_null())
        .group_by(Service.type)
        .order_by(Service.type)
    )


def leases(engine: Engine, now: float) -> list[Lease]:
    """Returns claims that have not ended, by service."""
    return _leases(engine, now, "scrape-usage") + _leases(engine, now, "push-quota")


@rows(ErrorGroup)
def _errors(task: Task) -> Node:
    row = ProjectService
    error = row.scrape_error if task == "scrape-usage" else row.push_error
    texts = (
        row.select(Service.type, fn.REPLACE(error, Project.uuid, PROJECT_PLACEHOLDER).alias("message"))
        .join(Service)
        .join_from(row, Project)
        .where(error != "", Service.vanished_at.is_null())
    )
    columns = (texts.c.type, texts.c.message)
    return peewee.Select([texts], [peewee.Value(task), *columns, fn.COUNT(texts.c.message)]).group_by(*columns)


def errors(engine: Engine) -> list[ErrorGroup]:
    """Returns the last error of each project's services, grouped; the most frequent ones first."""
    groups = _errors(engine, "scrape-usage") + _errors(engine, "push-quota")
    in_one_line = (group._replace(message=" ".join(group.message.split())) for group in groups)
    return sorted(in_one_line, key=lambda group: (-group.projects, group))
