"""This API itself, and the token of a request."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from limes.api.shapes.common import Link

Document = dict[str, Any]
"""An OpenAPI document."""


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
