"""Signing people in: what the page asks `/ui/session` for, the protocol, and the method for sample identities."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Protocol

import falcon
import orjson
from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, SecretStr, TypeAdapter, ValidationError, model_validator

from limes.auth.context import Identity, scope_of, user_of
from limes.auth.settings import SampleSettings
from limes.auth.without_keystone import SampleIdentities
from limes.kernel.errors import BadRequest, Forbidden

MAX_BODY = 32 * 1024
"""Bytes. A token has at most 8000."""

Text = Annotated[str, Field(min_length=1, max_length=255)]
Secret = Annotated[SecretStr, Field(min_length=1, max_length=8000)]


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Scope(_Body):
    """What a token is to be for: exactly one of the three."""

    project: Text | None = None
    """The id of a project."""
    domain: Text | None = None
    """The id of a domain."""
    system: Literal["all"] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> "Scope":
        if sum(target is not None for target in (self.project, self.domain, self.system)) != 1:
            raise ValueError("expected exactly one of project, domain and system")
        return self


class PasswordSignIn(_Body):
    """A user of Keystone, with a one-time passcode where Keystone wants one."""

    method: Literal["password"]
    user: Text
    user_domain: Text
    """Its name."""
    password: Secret
    passcode: Secret | None = None


class TokenSignIn(_Body):
    """A token that the user already has."""

    method: Literal["token"]
    token: Secret


class CredentialSignIn(_Body):
    """An application credential of Keystone."""

    method: Literal["application_credential"]
    id: Text
    secret: Secret


class ScopeChoice(_Body):
    """The token in `X-Auth-Token` is to become one for this scope."""

    method: Literal["scope"]
    scope: Scope


class ProviderAnswer(_Body):
    """What a provider of single sign-on has sent the browser back with."""

    method: Literal["provider"]
    provider: Text
    """Its id."""
    token: Secret | None = None
    """Keystone's, of WebSSO."""
    code: Secret | None = None
    """OpenID Connect's, as all below."""
    state: Text | None = None
    iss: Text | None = None
    error: Annotated[str, Field(pattern=r"^[a-z0-9_.-]{1,60}$")] | None = None


SignIn = PasswordSignIn | TokenSignIn | CredentialSignIn
Body = SignIn | ScopeChoice | ProviderAnswer

_BODY: TypeAdapter[Body] = TypeAdapter(Annotated[Body, Field(discriminator="method")])


def read_body(req: falcon.Request) -> Body:
    """Returns the body of a POST. Raises `BadRequest` with what is wrong, and never with what was given."""
    if (req.content_type or "").partition(";")[0].strip() != falcon.MEDIA_JSON:
        raise BadRequest("expected a body of type application/json")
    raw = req.bounded_stream.read(MAX_BODY + 1)
    if len(raw) > MAX_BODY:
        raise BadRequest(f"the body is too large: the limit is {MAX_BODY} bytes")
    try:
        return _BODY.validate_python(orjson.loads(raw))
    except orjson.JSONDecodeError:
        raise BadRequest("the body is not JSON") from None
    except ValidationError as error:
        found = [(".".join(map(str, each["loc"][1:])), each["msg"]) for each in error.errors(include_input=False)]
        problems = [f"{where}: {message}" if where else message for where, message in found]
        raise BadRequest("; ".join(problems)) from None


class Issued(Struct, frozen=True):
    """A token, and the root that it was derived from. Tokens for other scopes come from the root, because Keystone may
    refuse to derive them from scoped tokens (`allow_rescope_scoped_token`)."""

    token: str
    root: str
    """The first token of this session. The same as `token` until a scope is chosen."""
    root_is_ours: bool = True
    """Whether the root was made for the dashboard, and not brought along."""
    provider: str = ""
    """The id of the provider of single sign-on, if one has signed the user in."""

    @property
    def revocable(self) -> tuple[str, ...]:
        """The tokens that were made for the dashboard: they are revoked on sign-out. With a root goes what was
        derived from it, but not in every release of Keystone."""
        if self.root_is_ours:
            return tuple(dict.fromkeys((self.token, self.root)))
        return () if self.token == self.root else (self.token,)


class SignInMethod(Protocol):
    """Gets tokens for people. Contract: raises `Unauthorized` for credentials that are not right, `Forbidden` for a
    scope that is not theirs, `Unavailable` when that cannot be found out. Secrets reach neither logs nor errors. For
    many threads at once."""

    def offer(self) -> dict[str, Any]:
        """Returns what the page needs to know to ask for credentials: `method`, and more by method."""

    def sign_in(self, request: SignIn) -> Issued:
        """Returns a token for credentials, which may be unscoped."""

    def scopes(self, token: str) -> Sequence[dict[str, Any]]:
        """Returns what the token's user could have a token for, each in the form of `limes.auth.context.scope_of`."""

    def rescope(self, root: str, scope: Scope) -> str:
        """Returns a token of the root's user for another scope."""

    def revoke(self, token: str) -> None:
        """Makes a token useless. It is no error if it is that already."""


def session_of(issued: Issued, identity: Identity) -> dict[str, Any]:
    """Returns everything that the page knows about its user. The token is for its memory only."""
    return {
        "token": issued.token,
        "is_ours": issued.token in issued.revocable,
        "expires_at": None if identity.expires_at is None else int(identity.expires_at.timestamp()),
        "user": user_of(identity),
        "scope": scope_of(identity),
        "roles": list(identity.roles),
        "can_switch_scope": identity.application_credential_id is None,
    }


class SampleSignInMethod:
    def __init__(self, settings: SampleSettings) -> None:
        identities = SampleIdentities(settings)
        self._identities = {
            token.token: identities.authenticate({"HTTP_X_AUTH_TOKEN": token.token}) for token in settings.tokens
        }

    def offer(self) -> dict[str, Any]:
        return {
            "method": "sample",
            "identities": [
                {"token": token, "user": user_of(identity), "scope": scope_of(identity), "roles": list(identity.roles)}
                for token, identity in self._identities.items()
            ],
        }

    def sign_in(self, request: SignIn) -> Issued:
        if not isinstance(request, TokenSignIn):
            raise BadRequest("there are sample identities only: sign in with one of their tokens")
        token = request.token.get_secret_value()
        return Issued(token, token, root_is_ours=False)

    def scopes(self, token: str) -> Sequence[dict[str, Any]]:
        return [scope for identity in self._of_user(token).values() if (scope := scope_of(identity)) is not None]

    def rescope(self, root: str, scope: Scope) -> str:
        for other, identity in self._of_user(root).items():
            found = (identity.project_id, identity.domain_id, identity.system_scope)
            if found == (scope.project, scope.domain, scope.system):
                return other
        raise Forbidden("this user has no sample token for that scope")

    def revoke(self, token: str) -> None:
        """Sample tokens last for ever."""

    def _of_user(self, token: str) -> dict[str, Identity]:
        user = self._identities[token].user_id if token in self._identities else None
        return {other: identity for other, identity in self._identities.items() if identity.user_id == user}
