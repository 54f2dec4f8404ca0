"""How the collector's work goes, as its gauges and `limes status` show it, only for configured services; and the
figures behind the data metrics; the ones about projects are streamed.

To be called in one transaction, so that all see the same state.
"""

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

import peewee
from peewee import JOIN, Case, fn

from limes.audit.models import OutboxEvent
from limes.autogrow.queries import JOB_PREFIX, computed_resources
from limes.backends.calls import PROJECT_PLACEHOLDER
from limes.catalog.models import AZResource, Job, Service
from limes.commitments.models import Commitment
from limes.db.compiled import any_of, json_list
from limes.db.engine import Engine
from limes.db.query import Node, mapping, rows, stream
from limes.projects.models import Domain, DomainResource, Project, ProjectAZResource, ProjectResource, ProjectService
from limes.projects.scope import PLACE, PlacedRow
from limes.reports.attention_queries import CapacitorScrape, capacitor_scrapes, count_if


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
    """Projects whose backend quota was changed outside Limes."""


class JobState(NamedTuple):
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
    services, capacitors, jobs = _services(engine, now, stale_before), capacitor_scrapes(engine), _jobs(engine)
    outcomes = {job.name: (job.ran_at, job.error) for job in jobs}
    distributions = []
    for row in computed_resources(engine):
        ran_at, error = outcomes.get(f"{JOB_PREFIX}{row.service_type}/{row.name}", (None, ""))
        distributions.append(DistributionState(row.service_type, row.name, ran_at, row.due_at, error))
    others = [job for job in jobs if not job.name.startswith(JOB_PREFIX)]
    return WorkState(services, capacitors, others, distributions, _audit(engine))


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


@mapping(int, PlacedRow)
def projects() -> Node:
    return Project.select(Project.id, *PLACE).join(Domain)


@stream(tuple[int, str, str, str, str, str])
def project_figures() -> Node:
    """By project, JSON lists over its resources: their ids, quota, backend quota, usage and physical usage."""
    row = ProjectResource
    columns: Sequence[peewee.Field] = (row.resource, row.quota, row.backend_quota, row.usage, row.physical_usage)
    return row.select(row.project, *map(json_list, columns)).group_by(row.project).order_by(row.project)


@stream(tuple[int, str, str, str])
def project_az_usage() -> Node:
    """By project, JSON lists over its resources in AZs: their ids, AZs and usage."""
    row = ProjectAZResource
    columns: Sequence[peewee.Field] = (row.resource_id, row.az, row.usage)
    return row.select(row.project_id, *map(json_list, columns)).group_by(row.project_id).order_by(row.project_id)


@stream(tuple[int, int, str, str, int, float])
def project_commitments() -> Node:
    """What projects have committed to that is neither over nor replaced, and when the first of it ends: by project,
    resource, AZ and status."""
    row = Commitment
    key = (row.project, row.resource, row.az, row.status)
    query = row.select(*key, fn.SUM(row.amount), fn.MIN(row.expires_at))
    return query.where(any_of(row.status, ("planned", "pending", "confirmed"))).group_by(*key).order_by(*key)


class DomainFigure(NamedTuple):
    domain_uuid: str
    domain_name: str
    resource_id: int
    quota: int


@rows(DomainFigure)
def domain_quotas() -> Node:
    query = DomainResource.select(Domain.uuid, Domain.name, DomainResource.resource, DomainResource.quota)
    return query.join(Domain)


@rows(DomainFigure, skip_empty="resources")
def domain_quota_sums(resources: Collection[int]) -> Node:
    quota = fn.SUM(ProjectResource.quota)
    return (
        ProjectResource.select(Domain.uuid, Domain.name, ProjectResource.resource, quota)
        .join(Project)
        .join(Domain)
        .where(any_of(ProjectResource.resource, resources), ProjectResource.quota.is_null(False))
        .group_by(Domain.uuid, Domain.name, ProjectResource.resource)
    )


@stream(tuple[int, str])
def subresources(resources: Collection[int]) -> Node:
    """The subresources of these resources, as JSON lists, where there are any, in the order of their projects."""
    row = ProjectAZResource
    query = row.select(row.project_id, row.subresources).order_by(row.project_id, row.resource_id, row.az)
    return query.where(any_of(row.resource_id, resources), row.subresources != "")


@stream(tuple[str, str])
def subcapacities() -> Node:
    """All AZs with subcapacities, as JSON lists."""
    row = AZResource
    return row.select(row.az, row.subcapacities).where(row.subcapacities != "[]")


class CapacityFigure(NamedTuple):
    """The capacity of a resource in one AZ, before overcommit."""

    resource_id: int
    az: str
    raw_capacity: int
    usage: int | None


@rows(CapacityFigure)
def capacities() -> Node:
    row = AZResource
    return row.select(row.resource, row.az, row.raw_capacity, row.usage).order_by(row.resource, row.az)
