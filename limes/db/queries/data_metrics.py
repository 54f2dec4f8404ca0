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


@stream(tuple[int, int, int])
def project_figures(column: ProjectColumn) -> Node:
    """A column where it has a value, by project and resource."""
    value = getattr(ProjectResource, column)
    return ProjectResource.select(ProjectResource.project, ProjectResource.resource, value).where(value.is_null(False))


@stream(tuple[int, int, str, int])
def project_az_usage() -> Node:
    """By project, resource and AZ."""
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


@stream(tuple[int, str])
def subresources(resources: Collection[int]) -> Node:
    """The projects and subresources of these resources, as JSON lists, where there are any."""
    row = ProjectAZResource
    query = row.select(row.project_id, row.subresources)
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
