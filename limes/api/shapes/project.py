"""Domains and projects."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from limes.api.shapes.common import (
    Amount,
    Commitments,
    Id,
    Link,
    Named,
    ResourceHints,
    ScrapeRange,
    ServiceHead,
    Staleness,
    TemporaryQuota,
    Time,
)

BackendQuota = Annotated[int, Field(ge=-1, description="-1 means unlimited")]


QuotaByAZ = Annotated[int, Field(ge=0, description="Where quota grows by itself")]


class DomainPerAZ(Commitments):
    """Usage of a domain's resource in one availability zone, and the quota of its projects there."""

    quota: NotRequired[QuotaByAZ]
    usage: Amount


class DomainResource(ResourceHints):
    """A resource of a domain."""

    quota: NotRequired[Amount]
    projects_quota: NotRequired[Amount]
    temporary_quota: NotRequired[TemporaryQuota]
    usage: Amount
    burst_usage: NotRequired[Amount]
    physical_usage: NotRequired[Amount]
    backend_quota: NotRequired[Amount]
    infinite_backend_quota: NotRequired[Literal[True]]
    per_az: NotRequired[dict[str, DomainPerAZ]]


class DomainService(ScrapeRange, ServiceHead):
    """A service of a domain."""

    resources: list[DomainResource]


class Domain(Named):
    """Quota and usage of a domain."""

    services: list[DomainService]


class DomainAnswer(TypedDict):
    """One domain."""

    domain: Domain


class DomainsAnswer(TypedDict):
    """All domains, or a page of them with the link to the next."""

    domains: list[Domain]
    domains_links: NotRequired[list[Link]]


class Bursting(TypedDict):
    """Whether the project may exceed its quota for a while."""

    enabled: bool
    multiplier: float


class ProjectPerAZ(Commitments):
    """Quota and usage of a project's resource in one availability zone."""

    quota: NotRequired[QuotaByAZ]
    usage: Amount
    physical_usage: NotRequired[Amount]
    subresources: NotRequired[list[Any]]


class ProjectResource(ResourceHints):
    """A resource of a project."""

    quota: NotRequired[Amount]
    usable_quota: NotRequired[Amount]
    temporary_quota: NotRequired[TemporaryQuota]
    max_quota: NotRequired[Annotated[int, Field(ge=0, description="How far quota may grow by itself")]]
    min_quota: NotRequired[
        Annotated[int, Field(ge=0, description="What was granted of quota that grows by itself, even if less is used")]
    ]
    forbid_autogrowth: NotRequired[
        Annotated[Literal[True], Field(description="Quota is what usage and commitments need")]
    ]
    usage: Amount
    burst_usage: NotRequired[Amount]
    physical_usage: NotRequired[Amount]
    backend_quota: NotRequired[BackendQuota]
    subresources: NotRequired[list[Any]]
    per_az: NotRequired[dict[str, ProjectPerAZ]]


class ScrapeProblem(TypedDict):
    """Why the figures of a service are old or missing."""

    since: Time
    message: Annotated[str, Field(description="for people")]


class ProjectService(Staleness, ServiceHead):
    """A service of a project."""

    resources: list[ProjectResource]
    scraped_at: NotRequired[Time]
    scrape_problem: NotRequired[ScrapeProblem]


class Project(Named):
    """Quota and usage of a project."""

    parent_id: str
    bursting: NotRequired[Bursting]
    services: list[ProjectService]


class PlacedProject(Project):
    """Quota and usage of a project, and its domain."""

    domain: Named


class ProjectAnswer(TypedDict):
    """One project."""

    project: Project


class ProjectsAnswer(TypedDict):
    """The projects of a domain, or a page of them with the link to the next."""

    projects: list[Project]
    projects_links: NotRequired[list[Link]]


class AllProjectsAnswer(TypedDict):
    """The projects of all domains, or a page of them with the link to the next."""

    projects: list[PlacedProject]
    projects_links: NotRequired[list[Link]]


class NewDomainsAnswer(TypedDict):
    """Domains that were not known before."""

    new_domains: list[Id]


class NewProjectsAnswer(TypedDict):
    """Projects that were not known before."""

    new_projects: list[Id]
