"""Validates tokens with Keystone v3: a small client with a cache, because every request passes here.

The rules are those of keystonemiddleware, which the tests compare with on every kind of token.
"""

import logging
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import requests
from keystoneauth1 import exceptions as ksa_errors

from limes.auth import context, session, tokens
from limes.kernel.errors import BackendError, Unauthorized, Unavailable
from limes.kernel.system import Clock

log = logging.getLogger(__name__)

# what can be a token at all; longer ones fit into no server's header
_TOKEN = re.compile(r"[\x21-\x7e]{1,8000}")


def token_in(environ: Mapping[str, Any], header: str = "HTTP_X_AUTH_TOKEN") -> str | None:
    """Returns the token in a WSGI environ, or None. Raises `Unauthorized` for what cannot be a token."""
    token = str(environ.get(header) or "").strip()
    if not token:
        return None
    if not _TOKEN.fullmatch(token):
        raise Unauthorized("the token is not valid")
    return token


def v3_url(auth_url: str) -> str:
    base = auth_url.rstrip("/")
    return base if base.endswith("/v3") else f"{base}/v3"


class KeystoneAuthenticator:
    """An `Authenticator` that asks Keystone. Tokens with access rules (application credentials that are limited to some
    requests) are refused: Keystone gives them only to those who say that they enforce the rules, and we do not."""

    def __init__(
        self,
        cloud: session.CloudSession,
        cache: tokens.TokenCache,
        clock: Clock,
        *,
        service_token_roles: tuple[str, ...] = ("service",),
        www_authenticate_uri: str | None = None,
    ) -> None:
        assert cloud.auth_url is not None
        self._session = cloud.session
        self._url = f"{v3_url(cloud.auth_url)}/auth/tokens?nocatalog"
        self._cache = cache
        self._clock = clock
        self._service_roles = frozenset(service_token_roles)
        self._challenge = f'Keystone uri="{www_authenticate_uri or cloud.auth_url}"'

    def challenge(self) -> str:
        return self._challenge

    def authenticate(self, environ: Mapping[str, Any]) -> context.Identity:
        """See `Authenticator`. A service token that comes along must be good; then the user's may have expired."""
        token = token_in(environ)
        if token is None:
            raise Unauthorized("a token is needed: header X-Auth-Token")
        service_token = token_in(environ, "HTTP_X_SERVICE_TOKEN")
        if service_token is None:
            return self._identity(token)
        if self._service_roles.isdisjoint(self._identity(service_token).roles):
            raise Unauthorized("the service token is not one of a service")
        return self._identity(token, allow_expired=True)

    def _identity(self, token: str, allow_expired: bool = False) -> context.Identity:
        key = tokens.cache_key(token, "expired" if allow_expired else "")
        identity = self._cache.get(key, lambda: self._ask(token, allow_expired))
        if identity is None:
            raise Unauthorized("the token is not valid")
        has_ended = identity.expires_at is not None and identity.expires_at <= self._clock.now()
        if has_ended and not allow_expired:
            raise Unauthorized("the token is not valid")
        return identity

    def _ask(self, token: str, allow_expired: bool) -> tokens.Verdict:
        url = f"{self._url}&allow_expired=1" if allow_expired else self._url
        try:
            # log=False: keystoneauth would write headers and bodies at DEBUG
            answer = self._session.get(
                url, headers={"X-Subject-Token": token}, authenticated=True, raise_exc=False, log=False
            )
        except (ksa_errors.ClientException, requests.RequestException, BackendError) as error:
            raise self._unavailable(f"cannot be asked: {session.describe(error)}") from None
        if answer.status_code == 404:
            return None
        if answer.status_code in (401, 403):
            raise self._unavailable(f"does not let us validate tokens (HTTP {answer.status_code}); check our own login")
        if answer.status_code != 200:
            raise self._unavailable(f"answers HTTP {answer.status_code}")
        try:
            return identity_from_body(answer.json())
        except ValueError:
            raise self._unavailable("gives an answer that is not a token's body") from None

    def _unavailable(self, problem: str) -> Unavailable:
        log.error("tokens cannot be validated: Keystone at %s %s", self._url.partition("/auth/")[0], problem)
        return Unavailable("Keystone cannot be asked about the token; try again later")


def identity_from_body(body: Any) -> context.Identity:
    """Returns the identity in a token body. Raises `ValueError` when it is not one."""
    try:
        token: Mapping[str, Any] = body["token"]
        user, project = token["user"], token.get("project") or {}
        domain, application = token.get("domain") or {}, token.get("application_credential") or {}
        expires_at = datetime.fromisoformat(token["expires_at"])
        return context.Identity(
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
            expires_at=expires_at if expires_at.tzinfo else expires_at.replace(tzinfo=UTC),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("not the body of a token") from error


def _nested(owner: Mapping[str, Any], key: str) -> str | None:
    return (owner.get("domain") or {}).get(key)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("expected a string")
    return value
