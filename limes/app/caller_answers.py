"""This API itself, whose token a request has, and what that may do.

Clients ask for rights instead of trying requests that are refused. Each is a policy rule, or some of them. Without a
domain or project, the answer is about every domain or project: the rules are asked about a target without its id, as
those of the whole cloud are.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_type_hints

from msgspec import Struct, convert
from pydantic import Field

from limes.api.answers import Link
from limes.auth.context import Identity, scope_of, user_of
from limes.catalog.catalog import Ref
from limes.kernel.validation.shape import Shape

Document = dict[str, Any]
"""An OpenAPI document."""


class Version(Shape):
    """A version of this API."""

    status: Literal["CURRENT"]
    id: Literal["v1"]
    links: list[Link]


class VersionAnswer(Shape):
    """This version."""

    version: Version


class VersionsAnswer(Shape):
    """All versions."""

    versions: list[Version]


class KeystoneName(Shape):
    """A user, project or domain in Keystone; what the token does not say is null or empty."""

    id: str | None
    name: str | None


class DomainMember(KeystoneName):
    """A user or project, and its domain."""

    domain: KeystoneName


class Scope(Shape):
    """What a token is for: one of these."""

    project: DomainMember | None = None
    domain: KeystoneName | None = None
    system: str | None = None


class TokenIdentity(Shape):
    """Whose a token is, and what for."""

    user: DomainMember
    scope: Scope | None
    roles: list[str]


class IdentityAnswer(Shape):
    """Of the token of the request."""

    identity: TokenIdentity


def render_identity(identity: Identity) -> IdentityAnswer:
    document = {"user": user_of(identity), "scope": scope_of(identity), "roles": identity.roles}
    return convert({"identity": document}, IdentityAnswer)


class Needs(NamedTuple):
    """The policy rule that a right is."""

    rule: str


Raising = Annotated[bool, Field(description="of at least one resource; `explain` says it of each")]
SettingQuota = Annotated[bool, Field(description="any of the following four")]
LimitingGrowth = Annotated[bool, Field(description="of quota that grows by itself, where there is such")]
_MORE_QUOTA = Field(description="for more quota")


class CloudRights(Shape):
    """What can be done with the cloud as a whole."""

    show: Annotated[bool, Needs("cluster:show")]
    show_inconsistencies: Annotated[bool, Needs("cluster:show")]
    show_errors: Annotated[bool, Needs("cluster:show_errors")]
    show_history: Annotated[bool, Needs("cluster:show_history")]
    show_alerts: Annotated[bool, Needs("cluster:show_alerts")]
    list_domains: Annotated[bool, Needs("domain:list")]
    list_projects: Annotated[bool, Needs("cluster:list_projects")]
    list_commitments: Annotated[
        bool, Needs("cluster:list_commitments"), Field(description="follow the changes of all commitments")
    ]
    list_requests: Annotated[bool, Needs("cluster:list_requests"), Field(description="see who asks for more quota")]
    show_public_commitments: Annotated[bool, Needs("cluster:show_public_commitments")]
    discover_domains: Annotated[bool, Needs("domain:discover")]


class DomainRights(Shape):
    """What can be done with the domain, or with every domain."""

    show: Annotated[bool, Needs("domain:show")]
    show_history: Annotated[bool, Needs("domain:show_history")]
    show_alerts: Annotated[bool, Needs("domain:show_alerts")]
    list_projects: Annotated[bool, Needs("project:list")]
    discover_projects: Annotated[bool, Needs("project:discover")]
    show_requests: Annotated[bool, Needs("domain:show_requests"), _MORE_QUOTA]
    request_quota: Annotated[bool, Needs("domain:request_quota")]
    decide_requests: Annotated[bool, Needs("domain:decide_requests"), _MORE_QUOTA]
    raise_quota: Raising
    raise_lowpriv_quota: Raising
    lower_quota: Raising
    lower_lowpriv_quota: Raising
    set_quota: SettingQuota
    limit_growth: LimitingGrowth


class ProjectRights(Shape):
    """What can be done with the project, or with every project of the domain or of the cloud."""

    show: Annotated[bool, Needs("project:show")]
    show_history: Annotated[bool, Needs("project:show_history")]
    show_alerts: Annotated[bool, Needs("project:show_alerts")]
    sync: Annotated[bool, Needs("project:sync")]
    show_requests: Annotated[bool, Needs("project:show_requests"), _MORE_QUOTA]
    request_quota: Annotated[bool, Needs("project:request_quota")]
    propose_quota: Annotated[bool, Needs("project:propose_quota"), Field(description="to an admin of the project")]
    decide_requests: Annotated[bool, Needs("project:decide_requests"), _MORE_QUOTA]
    set_labels: Annotated[bool, Needs("project:set_labels")]
    set_webhook: Annotated[bool, Needs("project:set_webhook"), Field(description="where operators allow any")]
    set_bursting: Annotated[bool, Needs("project:edit")]
    buy_commitments: Annotated[bool, Needs("project:edit")]
    plan_commitments: Annotated[bool, Needs("project:edit")]
    change_commitments: Annotated[
        bool, Needs("project:edit"), Field(description="renew, merge, convert, change the duration")
    ]
    move_commitments: Annotated[
        bool, Needs("project:edit"), Field(description="mark for transfer, and take what others have marked")
    ]
    delete_commitments: Annotated[bool, Needs("project:uncommit"), Field(description="unconfirmed commitments")]
    raise_quota: Raising
    raise_lowpriv_quota: Raising
    lower_quota: Raising
    lower_lowpriv_quota: Raising
    set_quota: SettingQuota
    limit_growth: LimitingGrowth
    grant_growing: Annotated[bool, Field(description="quota that grows by itself: what a project gets at least")]
    take_back_commitments: Annotated[bool, Field(description="commitments that were made a short while ago")]


class Rights(Shape):
    """By level."""

    cloud: CloudRights
    domain: DomainRights
    project: ProjectRights


class RightsAnswer(Shape):
    """Of the token of the request."""

    rights: Rights


Below = TypeVar("Below", DomainRights, ProjectRights)
Asks = Callable[[str, Mapping[str, str]], bool]
"""Returns whether the caller passes a rule on a target."""


class Resources(Struct, frozen=True):
    """Those whose quota can be set."""

    refs: Sequence[Ref]
    with_lowpriv_limit: Sequence[Ref]
    """Where the configuration has a limit: without one, the low-privilege rules allow nothing."""
    has_growing: bool = False
    """Whether there are others, whose quota grows by itself."""


@cache
def _rules(kind: type[Shape]) -> dict[str, str]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: need.rule for name, hint in hints.items() for need in get_args(hint) if isinstance(need, Needs)}


def cloud_rights(asks: Asks) -> CloudRights:
    return CloudRights(**{name: asks(rule, {}) for name, rule in _rules(CloudRights).items()})


def rights_below(
    kind: type[Below], level: str, asks: Asks, target: Mapping[str, str], resources: Resources, **others: bool
) -> Below:
    """Returns the rights to a domain or project."""
    rights = {name: asks(rule, target) for name, rule in _rules(kind).items()}

    def may(verb: str) -> bool:
        """Returns whether that can be done to the quota of at least one resource."""
        refs = resources.with_lowpriv_limit if verb.endswith("_lowpriv") else resources.refs
        return any(
            asks(f"{level}:{verb}", {**target, "service_type": service_type, "resource_name": resource_name})
            for service_type, resource_name in refs
        )

    may_enter = rights["show"]  # what PUT asks for first
    quota = {f"{verb}_quota": may_enter and may(verb) for verb in ("raise", "raise_lowpriv", "lower", "lower_lowpriv")}
    growth = resources.has_growing and asks(f"{level}:edit", target)
    return convert({**rights, **quota, "set_quota": any(quota.values()), "limit_growth": growth, **others}, kind)
