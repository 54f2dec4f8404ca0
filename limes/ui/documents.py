"""What `/ui/session` answers, made from identities."""

from typing import Any

from limes.auth.context import Identity
from limes.auth.identity_document import scope_of, user_of
from limes.ui.doors import Issued


def session_of(issued: Issued, identity: Identity) -> dict[str, Any]:
    """Everything that the page knows of who uses it. The token is for its memory only."""
    return {
        "token": issued.token,
        "is_ours": issued.token in issued.revocable,
        "expires_at": None if identity.expires_at is None else int(identity.expires_at.timestamp()),
        "user": user_of(identity),
        "scope": scope_of(identity),
        "roles": list(identity.roles),
        "can_switch_scope": identity.application_credential_id is None,
    }
