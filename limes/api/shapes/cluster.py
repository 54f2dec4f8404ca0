"""The cluster, and what its admins have to look after."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from limes.api.shapes.common import (
    Amount,
    Commitments,
    Named,
    PlacedNamed,
    ResourceHead,
    ScrapeRange,
    ServiceHead,
    Time,
    Unit,
)


class ClusterAZ(TypedDict):
    """Capacity of a resource in one availability zone."""

    name: str
    capacity: Amount
    raw_capacity: NotRequired[Amount]
    usage: NotRequired[Amount]


class ClusterPerAZ(Commitments):
    """The same, for the breakdown; `usage` is what the capacitor says."""

    capacity: Amount
    raw_capacity: NotRequired[Amount]
    usage: NotRequired[Amount]
    domains_quota: NotRequired[Annotated[int, Field(ge=0, description="Where quota grows by itself")]]
    projects_usage: NotRequired[Amount]
    physical_usage: NotRequired[Amount]
    subcapacities: NotRequired[list[Any]]


class ClusterResource(ResourceHead):
    """A resource of the whole cloud."""

    capacity: NotRequired[Amount]
    raw_capacity: NotRequired[Amount]
    per_availability_zone: NotRequired[list[ClusterAZ]]
    per_az: NotRequired[dict[str, ClusterPerAZ]]
    committable: NotRequired[
        Annotated[dict[str, Amount], Field(description="What nobody has claimed yet, by AZ; shown with `per_az`")]
    ]
    domains_quota: NotRequired[Amount]
    usage: Amount
    burst_usage: NotRequired[Amount]
    physical_usage: NotRequired[Amount]
    subcapacities: NotRequired[list[Any]]


class ClusterService(ScrapeRange, ServiceHead):
    """A service of the whole cloud."""

    resources: list[ClusterResource]


class Cluster(ScrapeRange):
    """The whole cloud."""

    id: Literal["current"]
    services: list[ClusterService]


class ClusterAnswer(TypedDict):
    """Capacity, quota and usage of the whole cloud."""

    cluster: Cluster


class NamedResource(TypedDict):
    """Which resource it is about."""

    service: str
    resource: str
    unit: NotRequired[Unit]


class OvercommittedQuota(NamedResource):
    """A domain whose projects have more quota than itself."""

    domain: Named
    domain_quota: Amount
    projects_quota: Amount


class ProjectInconsistency(NamedResource):
    """A quota of a project."""

    project: PlacedNamed
    quota: Amount


class OverspentQuota(ProjectInconsistency):
    """A project that uses more than its quota."""

    usage: Amount


class MismatchedQuota(ProjectInconsistency):
    """A project whose backend enforces another quota."""

    backend_quota: Annotated[int, Field(ge=-1)]


class Inconsistencies(TypedDict):
    """Quotas that contradict themselves, usage, or the backends."""

    domain_quota_overcommitted: list[OvercommittedQuota]
    project_quota_overspent: list[OverspentQuota]
    project_quota_mismatch: list[MismatchedQuota]


class InconsistenciesAnswer(TypedDict):
    """The three lists."""

    inconsistencies: Inconsistencies


class ScrapeError(TypedDict):
    """A scrape that fails, in this project and perhaps in others."""

    project: PlacedNamed
    affected_projects: NotRequired[Annotated[int, Field(ge=2)]]
    service_type: str
    checked_at: Time
    message: str


class ScrapeErrorsAnswer(TypedDict):
    """One for each service and message."""

    scrape_errors: list[ScrapeError]
