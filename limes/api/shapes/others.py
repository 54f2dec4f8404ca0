"""Everything else: versions, discovery, the outcome of simulate-put, and what a cloud admin has to look after."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from limes.api.shapes.common import Amount, Id, Link, Named, PlacedNamed, Time, Unit, Warned

Message = Annotated[str, Field(description="what is wrong")]
Document = dict[str, Any]
"""An OpenAPI document."""


RefusalStatus = Literal[403, 409, 422]


class Version(TypedDict):
    """A version of this API."""

    status: Literal["CURRENT"]
    id: Literal["v1"]
    links: list[Link]


class VersionAnswer(TypedDict):
    """This version."""

    version: Version


class VersionsAnswer(TypedDict):
    """All versions."""

    versions: list[Version]


class KeystoneName(TypedDict):
    """Somebody or something in Keystone; what the token does not say is null or empty."""

    id: str | None
    name: str | None


class DomainMember(KeystoneName):
    """A user or project, and its domain."""

    domain: KeystoneName


class Scope(TypedDict):
    """What a token is for: one of these."""

    project: NotRequired[DomainMember]
    domain: NotRequired[KeystoneName]
    system: NotRequired[str]


class TokenIdentity(TypedDict):
    """Whose a token is, and what for."""

    user: DomainMember
    scope: Scope | None
    roles: list[str]


class IdentityAnswer(TypedDict):
    """Of the token of the request."""

    identity: TokenIdentity


class NewDomainsAnswer(TypedDict):
    """Domains that were not known before."""

    new_domains: list[Id]


class NewProjectsAnswer(TypedDict):
    """Projects that were not known before."""

    new_projects: list[Id]


class UnacceptableResource(TypedDict):
    """A quota that would be refused, why, and what would be accepted."""

    service_type: str
    name: str
    resource_name: str
    status: RefusalStatus
    message: str
    min_acceptable_quota: NotRequired[Amount]
    max_acceptable_quota: NotRequired[Amount]
    unit: NotRequired[Unit]


class SimulationAnswer(Warned):
    """What PUT would answer."""

    success: bool
    unacceptable_resources: NotRequired[list[UnacceptableResource]]


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
