"""What Keystone says of a token (the body of `GET /v3/auth/tokens`), as an identity."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from limes.auth.context import Identity


def identity_from_body(body: Any) -> Identity:
    """The identity in a token body. Raises `ValueError` when it is not one."""
    try:
        token: Mapping[str, Any] = body["token"]
        user, project = token["user"], token.get("project") or {}
        domain, application = token.get("domain") or {}, token.get("application_credential") or {}
        return Identity(
            user_id=_text(user["id"]),
            user_name=_text(user.get("name", "")),
            user_domain_id=_nested(user, "id"),
            user_domain_name=_nested(user, "name"),
            project_id=project.get("id"),
            project_name=project.get("name"),
            project_domain_id=_nested(project, "id"),
            project_domain_name=_nested(project, "name"),
            domain_id=domain.get("id"),
            domain_name=domain.get("name"),
            system_scope="all" if (token.get("system") or {}).get("all") else None,
            roles=tuple(sorted(_text(role["name"]) for role in token.get("roles") or ())),  # Keystone's order varies
            application_credential_id=application.get("id"),
            application_credential_name=application.get("name"),
            expires_at=_time(token["expires_at"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("not the body of a token") from error


def _nested(owner: Mapping[str, Any], key: str) -> str | None:
    return (owner.get("domain") or {}).get(key)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("expected a string")
    return value


def _time(text: Any) -> datetime:
    """Keystone writes `2026-11-21T13:45:09.000000Z`."""
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)
