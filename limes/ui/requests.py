"""What the page asks `/ui/session` for, as frozen models."""

from typing import Annotated, Any, Literal

import falcon
import orjson
from pydantic import BaseModel, ConfigDict, Field, SecretStr, TypeAdapter, ValidationError, model_validator

from limes.errors import BadRequest

_MAX_BODY = 32 * 1024
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
    """A token that somebody has already."""

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


SignIn = PasswordSignIn | TokenSignIn | CredentialSignIn
Body = SignIn | ScopeChoice

_BODY: TypeAdapter[Body] = TypeAdapter(Annotated[Body, Field(discriminator="method")])


def read_body(req: falcon.Request) -> Body:
    """Returns the body of a POST. Raises `BadRequest` with what is wrong, and never with what was given."""
    if (req.content_type or "").partition(";")[0].strip() != falcon.MEDIA_JSON:
        raise BadRequest("expected a body of type application/json")
    raw = req.bounded_stream.read(_MAX_BODY + 1)
    if len(raw) > _MAX_BODY:
        raise BadRequest(f"the body is too large: the limit is {_MAX_BODY} bytes")
    try:
        return _BODY.validate_python(orjson.loads(raw))
    except orjson.JSONDecodeError:
        raise BadRequest("the body is not JSON") from None
    except ValidationError as error:
        raise BadRequest("; ".join(map(_problem, error.errors(include_input=False)))) from None


def _problem(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"][1:])
    return f"{where}: {error['msg']}" if where else str(error["msg"])
