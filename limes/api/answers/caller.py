"""This API itself, whose token a request has, and which mails its user gets."""

from typing import Annotated, Any, Literal

from msgspec import convert
from pydantic import Field

from limes.actions.mail_recipients import MailChoices
from limes.api.answers.common import Link
from limes.auth.context import Identity, scope_of, user_of
from limes.validation.shape import Shape

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
    """Somebody or something in Keystone; what the token does not say is null or empty."""

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


class MailKind(Shape):
    """Whether mails of a kind are sent."""

    kind: str
    sent: bool


class MailSettings(Shape):
    """The mails that the user of the token gets."""

    address: Annotated[str | None, Field(description="null: none is known, so nothing is sent")]
    sent: Annotated[bool, Field(description="false: no mails at all, whatever `kinds` says")]
    kinds: list[MailKind]


class MailSettingsAnswer(Shape):
    """The document with them."""

    mail_settings: MailSettings


def render_mail_settings(choices: MailChoices) -> MailSettingsAnswer:
    kinds = [MailKind(kind=kind, sent=is_sent) for kind, is_sent in choices.kinds.items()]
    return MailSettingsAnswer(mail_settings=MailSettings(address=choices.address, sent=choices.is_sent, kinds=kinds))
