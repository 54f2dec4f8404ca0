"""What `/ui/session` answers, made from identities."""

from typing import Any

from limes.auth.context import Identity
from limes.ui.doors import Issued


def user_of(identity: Identity) -> dict[str, Any]:
    """Who it is."""
    domain = {"id": identity.user_domain_id, "name": identity.user_domain_name}
    return {"id": identity.user_id, "name": identity.user_name, "domain": domain}


def scope_of(identity: Identity) -> dict[str, Any] | None:
    """What the token is for: `project`, `domain` or `system`. None if it is for nothing in particular."""
    if identity.project_id is not None:
        domain = {"id": identity.project_domain_id, "name": identity.project_domain_name}
        return {"project": {"id": identity.project_id, "name": identity.project_name, "domain": domain}}
    if identity.domain_id is not None:
        return {"domain": {"id": identity.domain_id, "name": identity.domain_name}}
    return {"system": identity.system_scope} if identity.system_scope is not None else None


def session_of(issued: Issued, identity: Identity) -> dict[str, Any]:
    """Everything that the page knows of who uses it. The token is for its memory only."""
    return {
        "token": issued.token,
        "is_ours": issued.is_ours,
        "expires_at": None if identity.expires_at is None else int(identity.expires_at.timestamp()),
        "user": user_of(identity),
        "scope": scope_of(identity),
        "roles": list(identity.roles),
        "can_switch_scope": identity.application_credential_id is None,
    }
