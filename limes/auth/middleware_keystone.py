"""keystonemiddleware as an `Authenticator`: the OpenStack project's own validator, for those who prefer it.

It costs about 0.3 ms a request more than ours, and brings its own cache (in the process, for each thread's use).
"""

import logging
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import Any
from wsgiref.util import setup_testing_defaults

from keystoneauth1 import exceptions as ksa_errors
from keystonemiddleware import auth_token

from limes.auth import context, keystone, tokens
from limes.auth.session import CloudSession, describe
from limes.kernel.errors import BackendError, Unauthorized, Unavailable
from limes.kernel.outgoing import keystone_session

log = logging.getLogger(__name__)


class MiddlewareAuthenticator:
    """Runs each request's headers through keystonemiddleware, and reads what it found out."""

    def __init__(
        self,
        cloud: CloudSession,
        *,
        ttl: float = 300.0,
        timeout: float = 10.0,
        service_token_roles: tuple[str, ...] = ("service",),
        www_authenticate_uri: str | None = None,
        size: int = 10_000,
    ) -> None:
        """`ttl` and `timeout` are in seconds. The cloud's gate is for all but the `size` tokens that the middleware
        has let in last: it has these in its cache."""
        self._gate = cloud.gate
        self._let_in = tokens.RecentKeys(size, ttl)
        assert cloud.auth_url is not None
        uri = www_authenticate_uri or cloud.auth_url
        verify = cloud.session.verify
        options = {
            **cloud.login,
            "www_authenticate_uri": uri,
            "interface": cloud.interface,
            "region_name": cloud.region_name,
            "service_token_roles": ",".join(service_token_roles),
            "service_token_roles_required": "true",
            "include_service_catalog": "false",
            "token_cache_time": str(int(ttl) or -1),
            "http_connect_timeout": str(int(timeout) or 1),
            "insecure": str(verify is False).lower(),
            "cafile": verify if isinstance(verify, str) else None,
        }
        given = {key: value for key, value in options.items() if value is not None}
        self._app = _Middleware(given, cloud, timeout)
        self._challenge = f'Keystone uri="{uri}"'

    def challenge(self) -> str:
        return self._challenge

    def authenticate(self, environ: Mapping[str, Any]) -> context.Identity:
        for header in ("HTTP_X_AUTH_TOKEN", "HTTP_X_SERVICE_TOKEN"):
            keystone.token_in(environ, header)
        own = dict(environ)  # the middleware changes it
        setup_testing_defaults(own)
        key = tokens.cache_key(f"{own.get('HTTP_X_AUTH_TOKEN')} {own.get('HTTP_X_SERVICE_TOKEN')}")
        with self._gate.admit() if key not in self._let_in else nullcontext():
            status = self._run(own)
        if status == 200:
            self._let_in.add(key)
        if status == 401:
            raise Unauthorized("the token is not valid" if own.get("HTTP_X_AUTH_TOKEN") else "a token is needed")
        if status != 200:
            raise Unavailable("Keystone cannot be asked about the token; try again later")
        try:
            return keystone.identity_from_body(own["keystone.token_info"])
        except ValueError:
            raise Unavailable("Keystone cannot be asked about the token; try again later") from None

    def _run(self, environ: dict[str, Any]) -> int:
        statuses: list[int] = []

        def start_response(status: str, headers: Any, exc_info: Any = None) -> None:
            statuses.append(int(status.partition(" ")[0]))

        try:
            for _ in self._app(environ, start_response):
                pass
        except (ksa_errors.ClientException, BackendError) as error:
            log.error("tokens cannot be validated: %s", describe(error))
            return 503
        return statuses[0]


class _Middleware(auth_token.AuthProtocol):  # type: ignore[misc]  # keystonemiddleware has no types
    """The middleware, but that its own requests are guarded as all of ours are."""

    def __init__(self, options: dict[str, str], cloud: CloudSession, timeout: float) -> None:
        self._cloud = cloud
        self._timeout = timeout
        super().__init__(_accept, options)

    def _create_session(self, **options: Any) -> Any:
        session = self._cloud.session
        return keystone_session(
            limits=self._cloud.limits, verify=session.verify, cert=session.cert, timeout=self._timeout
        )


def _accept(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """The application behind the middleware, which calls it only for valid tokens."""
    start_response("200 OK", [])
    return []
