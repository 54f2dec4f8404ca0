"""Who makes a request: what a validated token says, and nothing of the token itself."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct


class Identity(Struct, frozen=True):
    """A validated token's user and scope, in Keystone's terms. Exactly one scope is set, or none (unscoped)."""

    user_id: str
    user_name: str = ""
    user_domain_id: str | None = None
    user_domain_name: str | None = None
    project_id: str | None = None
    project_name: str | None = None
    project_domain_id: str | None = None
    project_domain_name: str | None = None
    domain_id: str | None = None
    domain_name: str | None = None
    system_scope: str | None = None
    roles: tuple[str, ...] = ()
    application_credential_id: str | None = None
    application_credential_name: str | None = None
    expires_at: datetime | None = None

    def credentials(self) -> dict[str, Any]:
        """Returns the token variables for policy rules, in oslo.policy's form (with the `tenant_*` aliases)."""
        known = {name: getattr(self, name) for name in _CREDENTIALS}
        tenant = {name.replace("project", "tenant"): known[name] for name in known if name.startswith("project")}
        return {**known, **tenant, "roles": list(self.roles)}


_CREDENTIALS = [name for name in Identity.__struct_fields__ if name not in ("roles", "expires_at")]


class Authenticator(Protocol):
    """Turns the headers of a request into an identity.

    Contract: raises `limes.kernel.errors.Unauthorized` when there is no token or it is not valid, and
    `limes.kernel.errors.Unavailable` when that cannot be found out (Keystone is down); never answers an identity then.
    A token never reaches a log or an error. Implementations may be called from many threads at once.
    """

    def authenticate(self, environ: Mapping[str, Any]) -> Identity:
        """Returns the identity behind the WSGI `environ` (its `HTTP_X_AUTH_TOKEN` and, for some, further headers)."""

    def challenge(self) -> str:
        """Returns the value of the `WWW-Authenticate` header that goes with a 401."""


def user_of(identity: Identity) -> dict[str, Any]:
    domain = {"id": identity.user_domain_id, "name": identity.user_domain_name}
    return {"id": identity.user_id, "name": identity.user_name, "domain": domain}


def scope_of(identity: Identity) -> dict[str, Any] | None:
    """Returns what the token is for: `project`, `domain` or `system`. None if it is for nothing in particular."""
    if identity.project_id is not None:
        domain = {"id": identity.project_domain_id, "name": identity.project_domain_name}
        return {"project": {"id": identity.project_id, "name": identity.project_name, "domain": domain}}
    if identity.domain_id is not None:
        return {"domain": {"id": identity.domain_id, "name": identity.domain_name}}
    return {"system": identity.system_scope} if identity.system_scope is not None else None
