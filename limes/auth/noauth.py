"""No authentication: the request says who it is, and is believed. For tests and conformance runs on one machine.

The token is `USER[:PROJECT]`, split at the first colon; the project is USER's name where there is none. The roles are
those of the header `X-Roles` (comma separated) if there is one; else `admin` for the user `admin`; else none. The
project is that of the header `X-Project-Id` if there is one. A request with the header `OpenStack-System-Scope` is
scoped to the system and to no project.
"""

from collections.abc import Mapping
from typing import Any

from limes.auth.context import Identity
from limes.errors import ConfigError, Unauthorized
from limes.settings.base import is_loopback


class NoAuthAuthenticator:
    """Believes what the request says."""

    def __init__(self, listen: str, *, allow_remote: bool = False) -> None:
        """`listen` is the `HOST:PORT` of the server. Raises `ConfigError` if others than this machine can reach it,
        unless `allow_remote` says that this is meant."""
        if not allow_remote and not is_loopback(listen):
            raise ConfigError(
                [f"placement.listen: noauth believes everybody, so it may only listen on 127.0.0.1, not on {listen}"]
            )

    def authenticate(self, environ: Mapping[str, Any]) -> Identity:
        """The identity that the headers claim. Raises `Unauthorized` without a token."""
        token = environ.get("HTTP_X_AUTH_TOKEN")
        if not token:
            raise Unauthorized("a token is required in the X-Auth-Token header")
        user, _, project = token.partition(":")
        roles = environ.get("HTTP_X_ROLES")
        if roles is not None:
            names = tuple(role.strip() for role in roles.split(",") if role.strip())
        else:
            names = ("admin",) if user == "admin" else ()
        system_scope = environ.get("HTTP_OPENSTACK_SYSTEM_SCOPE")
        return Identity(
            user_id=user,
            project_id=None if system_scope else environ.get("HTTP_X_PROJECT_ID") or project or user,
            system_scope=system_scope or None,
            roles=names,
        )

    def challenge(self) -> str:
        """A realm that no client library has a plugin for."""
        return "noauth"
