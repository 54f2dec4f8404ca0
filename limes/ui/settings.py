"""The section `ui`: the dashboard, and the providers that people sign in with besides Keystone's own passwords."""

from collections import Counter
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, ValidationInfo, ValidatorFunctionWrapHandler, field_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from limes.kernel.validation.durations import Seconds
from limes.kernel.validation.sections import ConfigPath, Section, is_loopback

SECRET_PREFIX = "LIMES_UI_CLIENT_SECRET_"  # noqa: S105 - a variable's name


def secret_variable(provider_id: str) -> str:
    """Returns the environment variable with a provider's `client_secret`."""
    return SECRET_PREFIX + provider_id.upper().replace("-", "_")


def _https(url: str) -> str:
    """Tokens go to and fro there, so what other machines can read is refused."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    is_local = host is not None and parts.scheme == "http" and is_loopback(f"[{host}]:0")
    if (
        host is None
        or "@" in parts.netloc
        or parts.query
        or parts.fragment
        or not (parts.scheme == "https" or is_local)
    ):
        raise ValueError("expected https://..., or http://... on this machine, without user, query and fragment")
    return url


class SignInProvider(Section):
    """A provider of single sign-on, as a button on the sign-in page."""

    type: Literal["websso", "oidc"]
    """`websso`: Keystone sends the browser to the provider and back. `oidc`: Limes does so itself, with OpenID Connect,
    and has to be a client (`client_id`) of the provider."""
    id: str = Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$")
    """Small letters, digits and dashes. It is part of the address that the provider, or Keystone, sends people back to:
    `{ui.url}/ui/sign-in/{id}`."""
    label: str = Field(min_length=1, max_length=60)
    """What the button says, after "Sign in with"."""
    protocol: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    """The federation protocol in Keystone, such as `openid`."""
    identity_provider: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_.-]{1,64}$", validate_default=True)
    """The identity provider in Keystone. `oidc` needs it. Without, Keystone's WebSSO finds out itself."""
    issuer: str | None = Field(default=None, validate_default=True)
    """For `oidc`: the provider's issuer, as in its discovery document."""
    client_id: str | None = Field(default=None, min_length=1, max_length=255, validate_default=True)
    """For `oidc`: the name that Limes has at the provider."""
    client_secret: str | None = Field(default=None, min_length=1, repr=False)
    """For `oidc`: goes with `client_id`; public clients have none. Environment: `LIMES_UI_CLIENT_SECRET_` and the id in
    capitals, with `_` for `-`."""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    """For `oidc`: what the provider is asked for."""
    keystone_gets: Literal["access_token", "id_token"] = "access_token"
    """For `oidc`: which of the provider's tokens Keystone is given."""
    sign_out: bool = True
    """For `oidc`: signing out leads on to the provider's own sign-out, if it has one."""
    cacert: ConfigPath | None = None
    """For `oidc`: a file with the certificate authorities of the provider. null: the system's."""
    timeout: Seconds = 10.0
    """For `oidc`: how long an answer of the provider may take."""

    @field_validator("identity_provider", "issuer", "client_id")
    @classmethod
    def _needed(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None and info.data.get("type") == "oidc":
            raise ValueError("missing; type oidc needs it")
        if value is not None and info.field_name == "issuer":
            return _https(value)
        return value

    @field_validator("scopes")
    @classmethod
    def _asks_for_an_identity(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if "openid" not in value:
            raise ValueError("openid has to be among them")
        return value


class UiSettings(Section):
    """The dashboard, which the Limes API serves at `/ui`."""

    enabled: bool = True
    """Whether it is there."""
    title: str = Field(default="Limes", min_length=1, max_length=60)
    """What the page calls this cloud."""
    user_domain: str = "Default"
    """The user domain that the sign-in page proposes."""
    url: str = ""
    """The Limes API as browsers reach it, without `/ui`. `sign_in_with` needs it."""
    secret: str | None = Field(default=None, min_length=16, repr=False)
    """The key of the cookies that sign-ins begin with, at least 16 characters; the same for all APIs. Without, the key
    is in `identity.cache.signed_out_folder`, or the same for all workers of one API. Environment: `LIMES_UI_SECRET`."""
    sign_in_with: tuple[SignInProvider, ...] = ()
    """[Single sign-on](single-sign-on.md), in the order of the sign-in page."""
    password_sign_in: bool = Field(default=True, validate_default=True)
    """Whether people can sign in with the password of a Keystone user. Application credentials and tokens remain."""

    @field_validator("url")
    @classmethod
    def _is_safe(cls, value: str) -> str:
        url = _https(value).rstrip("/") if value else ""
        if url.endswith("/ui"):
            raise ValueError("expected an address without /ui")
        return url

    @field_validator("sign_in_with", mode="wrap")
    @classmethod
    def _ids_differ(
        cls, value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> tuple[SignInProvider, ...]:
        """Looks at the list before it is read, so that entries with other problems are counted, too."""
        entries = value if isinstance(value, list | tuple) else ()
        ids = Counter(str(entry["id"]) for entry in entries if isinstance(entry, dict) and "id" in entry)
        texts = [f"id {name!r} is given {count} times" for name, count in ids.items() if count > 1]
        if entries and info.data.get("url") == "":
            texts.append("this needs ui.url, the address that people are sent back to")
        problems = [
            InitErrorDetails(type=PydanticCustomError("sign_in_with", "{text}", {"text": text}), loc=(), input=None)
            for text in texts
        ]
        try:
            providers: tuple[SignInProvider, ...] = read(value)
        except ValidationError as error:
            problems += [_again(one) for one in error.errors()]
        if problems:
            raise ValidationError.from_exception_data("sign_in_with", problems)
        return providers

    @field_validator("password_sign_in")
    @classmethod
    def _somebody_gets_in(cls, value: bool, info: ValidationInfo) -> bool:
        if not value and info.data.get("sign_in_with") == ():
            raise ValueError("false needs an entry in ui.sign_in_with, or else people could not sign in")
        return value


def _again(found: Any) -> InitErrorDetails:
    """A problem in the form in which it can be raised again."""
    kind = PydanticCustomError(found["type"], "{text}", {**found.get("ctx", {}), "text": found["msg"]})
    return InitErrorDetails(type=kind, loc=found["loc"], input=found["input"])
