"""The figures behind the data metrics. Those about projects are streamed.

To be called in one transaction, so that all see the same state.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from peewee import fn

from limes.db.compiled import any_of, compiled
from limes.db.engine import Engine
from limes.db.models import (
    AZResource,
    Commitment,
    Domain,
    DomainResource,
    Project,
    ProjectAZResource,
    ProjectResource,
)


class ProjectName(NamedTuple):
    """A project and its domain."""

    id: int
    uuid: str
    name: str
    domain_uuid: str
    domain_name: str


class DomainName(NamedTuple):
    """A domain."""

    id: int
    uuid: str
    name: str


def domains(engine: Engine) -> list[DomainName]:
    """Returns all domains."""
    return engine.all(Domain.select(Domain.id, Domain.uuid, Domain.name), DomainName)


class Figure(NamedTuple):
    """A value of one project and resource."""

    project_id: int
    resource_id: int
    value: int


class AZFigure(NamedTuple):
    """A value of one project and resource in one AZ."""

    project_id: int
    resource_id: int
    az: str
    value: int


class CommittedFigure(NamedTuple):
    """What a project has committed to, by status of the commitments."""

    project_id: int
    resource_id: int
    az: str
    status: str
    amount: int
    expires_at: float
    """The earliest end."""


PROJECT_COLUMNS = ("quota", "backend_quota", "usage", "physical_usage")
"""What `project_figures` knows."""


def projects(engine: Engine) -> list[ProjectName]:
    """Returns all projects."""
    query = Project.select(Project.id, Project.uuid, Project.name, Domain.uuid, Domain.name)
    return engine.all(query.join(Domain), ProjectName)


def project_figures(engine: Engine, column: str) -> Iterator[Figure]:
    """Yields a column among `PROJECT_COLUMNS`, where it has a value."""
    assert column in PROJECT_COLUMNS
    value = getattr(ProjectResource, column)
    query = ProjectResource.select(ProjectResource.project, ProjectResource.resource, value)
    return engine.stream(query.where(value.is_null(False)), Figure)


def project_az_usage(engine: Engine) -> Iterator[AZFigure]:
    """Yields usage by AZ."""
    row = ProjectAZResource
    return engine.stream(row.select(row.project_id, row.resource_id, row.az, row.usage), AZFigure)


_COMMITTED = compiled(
    lambda p: (
        Commitment.select(
            *(Commitment.project, Commitment.resource, Commitment.az, Commitment.status),
            *(fn.SUM(Commitment.amount), fn.MIN(Commitment.expires_at)),
        )
        .where(any_of(Commitment.status, ("planned", "pending", "confirmed")))
        .group_by(Commitment.project, Commitment.resource, Commitment.az, Commitment.status)
        .order_by(Commitment.project, Commitment.resource, Commitment.az, Commitment.status)
    )
)


def committed(engine: Engine) -> list[CommittedFigure]:
    """Returns commitments that are neither over nor replaced, summed up."""
    return engine.all(_COMMITTED, CommittedFigure)


class DomainFigure(NamedTuple):
    """A quota of a domain."""

    domain_uuid: str
    domain_name: str
    resource_id: int
    quota: int


def domain_quotas(engine: Engine) -> list[DomainFigure]:
    """Returns all quotas of domains."""
    query = DomainResource.select(Domain.uuid, Domain.name, DomainResource.resource, DomainResource.quota)
    return engine.all(query.join(Domain), DomainFigure)


def domain_quota_sums(engine: Engine, resources: Collection[int]) -> list[DomainFigure]:
    """Returns the sums of project quotas of these resources in each domain."""
    quota = fn.SUM(ProjectResource.quota)
    query = (
        ProjectResource.select(Domain.uuid, Domain.name, ProjectResource.resource, quota)
        .join(Project)
        .join(Domain)
        .where(any_of(ProjectResource.resource, resources), ProjectResource.quota.is_null(False))
        .group_by(Domain.uuid, Domain.name, ProjectResource.resource)
    )
    return engine.all(query, DomainFigure)


class Listed(NamedTuple):
    """What a project's usage of a resource in one AZ consists of."""

    project_id: int
    subresources: str


def subresources(engine: Engine, resources: Collection[int]) -> Iterator[Listed]:
    """Yields the subresources of these resources, as JSON lists, where there are any."""
    row = ProjectAZResource
    query = row.select(row.project_id, row.subresources)
    return engine.stream(query.where(any_of(row.resource_id, resources), row.subresources != ""), Listed)


class ListedCapacity(NamedTuple):
    """What the capacity of a resource in one AZ consists of."""

    az: str
    subcapacities: str


def subcapacities(engine: Engine) -> Iterator[ListedCapacity]:
    """Yields all subcapacities, as JSON lists, where there are any."""
    row = AZResource
    return engine.stream(row.select(row.az, row.subcapacities).where(row.subcapacities != "[]"), ListedCapacity)


class CapacityFigure(NamedTuple):
    """The capacity of a resource in one AZ, before overcommit."""

    resource_id: int
    az: str
    raw_capacity: int
    usage: int | None


def capacities(engine: Engine) -> list[CapacityFigure]:
    """Returns the capacity of all resources."""
    row = AZResource
    query = row.select(row.resource, row.az, row.raw_capacity, row.usage).order_by(row.resource, row.az)
    return engine.all(query, CapacityFigure)
