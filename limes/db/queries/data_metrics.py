"""The figures behind the data metrics. Those about projects are streamed.

To be called in one transaction, so that all see the same state.
"""

from collections.abc import Collection
from typing import Literal, NamedTuple

from peewee import fn

from limes.db.compiled import any_of
from limes.db.models import AZResource, Commitment, Domain, DomainResource, Project, ProjectAZResource, ProjectResource
from limes.db.queries.attention import PLACE, PlacedRow
from limes.db.query import Node, mapping, rows, stream


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


ProjectColumn = Literal["quota", "backend_quota", "usage", "physical_usage"]
"""What `project_figures` knows."""


@mapping(int, PlacedRow)
def projects() -> Node:
    return Project.select(Project.id, *PLACE).join(Domain)


@stream(Figure)
def project_figures(column: ProjectColumn) -> Node:
    """A column, where it has a value."""
    value = getattr(ProjectResource, column)
    return ProjectResource.select(ProjectResource.project, ProjectResource.resource, value).where(value.is_null(False))


@stream(AZFigure)
def project_az_usage() -> Node:
    row = ProjectAZResource
    return row.select(row.project_id, row.resource_id, row.az, row.usage)


@rows(CommittedFigure)
def committed() -> Node:
    """Commitments that are neither over nor replaced, summed up."""
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
    """The sums of project quotas of these resources in each domain."""
    quota = fn.SUM(ProjectResource.quota)
    return (
        ProjectResource.select(Domain.uuid, Domain.name, ProjectResource.resource, quota)
        .join(Project)
        .join(Domain)
        .where(any_of(ProjectResource.resource, resources), ProjectResource.quota.is_null(False))
        .group_by(Domain.uuid, Domain.name, ProjectResource.resource)
    )


class Listed(NamedTuple):
    """What a project's usage of a resource in one AZ consists of."""

    project_id: int
    subresources: str


@stream(Listed)
def subresources(resources: Collection[int]) -> Node:
    """The subresources of these resources, as JSON lists, where there are any."""
    row = ProjectAZResource
    query = row.select(row.project_id, row.subresources)
    return query.where(any_of(row.resource_id, resources), row.subresources != "")


class ListedCapacity(NamedTuple):
    """What the capacity of a resource in one AZ consists of."""

    az: str
    subcapacities: str


@stream(ListedCapacity)
def subcapacities() -> Node:
    """All subcapacities, as JSON lists, where there are any."""
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
