"""An identity as documents show it: to programs at `/v1/identity`, to the dashboard at `/ui/session`."""

from typing import Any

from limes.auth.context import Identity


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
