"""Our own login at Keystone, and sessions for what we ask of other services: backends, discovery, token validation."""

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import requests
import yaml
from keystoneauth1 import exceptions as ksa_errors
from keystoneauth1.adapter import Adapter
from keystoneauth1.discover import EndpointData
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token
from msgspec import Struct, field

from limes.auth.settings import IdentitySettings, KeystoneSettings
from limes.auth.tokens import Gate
from limes.kernel.errors import BackendError, StartupError
from limes.kernel.outgoing import DEFAULT_LIMITS, AnswerLimits, TimedAdapter, keystone_session
from limes.kernel.redaction import know, line_of, redact, secrets_of

if TYPE_CHECKING:
    from openstack.config.cloud_region import CloudRegion

_USER_AGENT = "limes"
_EXPLICIT = (
    "auth_url",
    "username",
    "user_domain_name",
    "user_domain_id",
    "password",
    "project_name",
    "project_domain_name",
    "project_domain_id",
    "domain_name",
    "system_scope",
    "application_credential_id",
    "application_credential_secret",
)


class CloudSession(Struct, frozen=True):
    """An authenticated session, and which region and addresses of the cloud it is for. Safe for threads."""

    session: Session
    auth_url: str | None
    """Keystone's address; None without Keystone."""
    region_name: str | None = None
    interface: str = "public"
    endpoints: Mapping[str, str] = field(default_factory=dict)
    """Addresses by service type that override the catalog's."""
    limits: AnswerLimits = DEFAULT_LIMITS
    login: Mapping[str, Any] = field(default_factory=dict)
    """The parameters of the login by keystoneauth's names, and `auth_type`. Holds secrets."""
    gate: Gate = field(default_factory=Gate)
    """For all threads of this process that wait for Keystone on behalf of a client."""
    __repr__ = object.__repr__  # without the login

    def adapter(
        self, service_type: str, endpoint: str | None = None, *, timeout: float | None = None, **options: Any
    ) -> Adapter:
        """For requests to one service. `endpoint` overrides the configured ones, which override the catalog's.
        `timeout` is in seconds, for each request; without, it is the session's. `options` are keystoneauth1's."""
        return TimedAdapter(
            self.session,
            timeout,
            service_type=service_type,
            interface=self.interface,
            region_name=self.region_name,
            endpoint_override=endpoint or self.endpoints.get(service_type),
            **options,
        )

    def check(self) -> None:
        """Logs in now. Raises `StartupError` with one line that says where and why not."""
        try:
            self.session.get_token()
        except (ksa_errors.ClientException, BackendError) as error:
            raise StartupError(
                f"cannot log in at Keystone ({self.auth_url}): {reason_of(error)}. What to do: {advise(error)}"
            ) from None


class _SampleLogin(Token):
    """A fixed token, with the configured endpoints in the place of Keystone's catalog."""

    def __init__(self, token: str | None, endpoints: Mapping[str, str]) -> None:
        super().__init__(None, token)
        self._endpoints = endpoints

    def get_endpoint(self, session: Session, service_type: str = "", **kwargs: Any) -> str | None:
        return self._endpoints.get(service_type)

    def get_endpoint_data(
        self, session: Session, *, service_type: str = "", endpoint_override: str | None = None, **kwargs: Any
    ) -> EndpointData | None:
        """Returns what the service at the configured address says of itself, or None."""
        url = endpoint_override or self._endpoints.get(service_type)
        return super().get_endpoint_data(session, service_type=service_type, endpoint_override=url, **kwargs)


def open_session(
    settings: IdentitySettings, limits: AnswerLimits = DEFAULT_LIMITS, threads: int | None = None
) -> CloudSession:
    """Returns a session as the settings say; nothing is sent yet. Raises `StartupError` when they don't suffice.
    `threads` is the number of threads that answer requests, where there are any: some of them never wait for Keystone.
    With sample identities the session carries the sample's `own_token`, and knows only the configured endpoints."""
    if settings.method != "keystone":
        own_token = settings.sample.own_token if settings.method == "sample" else "admin"
        session = keystone_session(
            _SampleLogin(own_token, settings.endpoints),
            limits=limits,
            timeout=settings.keystone.timeout,
            user_agent=_USER_AGENT,
        )
        return CloudSession(session, None, endpoints=settings.endpoints, limits=limits)
    region = _cloud_region(settings.keystone, limits)
    session = region.get_session()
    session.timeout = settings.keystone.timeout
    session.additional_user_agent.append((_USER_AGENT, ""))
    know(secrets_of(region.config["auth"]))
    login = {**region.config["auth"], "auth_type": region.config["auth_type"]}
    return CloudSession(
        session,
        auth_url=login["auth_url"],
        region_name=region.region_name or None,
        interface=settings.keystone.interface,
        endpoints=settings.endpoints,
        limits=limits,
        login=login,
        gate=Gate(threads and max(1, min(settings.validations_at_once or threads // 2, threads - 1))),
    )


def _cloud_region(settings: KeystoneSettings, limits: AnswerLimits) -> "CloudRegion":
    from openstack.config import OpenStackConfig  # imports all of openstacksdk, which takes a third of a start
    from openstack.exceptions import ConfigException

    explicit = {key: value for key in _EXPLICIT if (value := getattr(settings, key)) is not None}
    options: dict[str, Any] = {"auth": explicit, "interface": settings.interface, "api_timeout": settings.timeout}
    if settings.auth_url:
        options["auth_type"] = "v3applicationcredential" if settings.application_credential_id else "v3password"
    for key, value in (("region_name", settings.region_name), ("cacert", settings.cacert and str(settings.cacert))):
        if value:
            options[key] = value
    if settings.insecure:
        options["verify"] = False
    only_explicit = settings.auth_url is not None
    try:
        config = OpenStackConfig(
            load_yaml_config=not only_explicit,
            load_envvars=not only_explicit,
            session_constructor=partial(keystone_session, limits=limits),  # type: ignore[arg-type]  # it is only called
        )
        region = config.get_one(cloud=settings.cloud, **options)
    except (ConfigException, ksa_errors.ClientException, yaml.YAMLError) as error:
        raise StartupError(f"identity.keystone: {_login_problem(settings)}: {describe(error)}") from None
    except TypeError:  # what keystoneauth1 makes of a missing password; below is what it makes of it at other times
        raise StartupError(f"identity.keystone: {_login_problem(settings)}: there is no password") from None
    login = region.config["auth"]
    for key in ("auth_url", "password") if "password" in region.config["auth_type"] else ("auth_url",):
        if not login.get(key):
            raise StartupError(f"identity.keystone: {_login_problem(settings)}: there is no {key}")
    return region


def _login_problem(settings: KeystoneSettings) -> str:
    if settings.auth_url:
        return "cannot log in with the values given"
    if settings.cloud:
        return f"cannot use the entry {settings.cloud!r} of clouds.yaml"
    return "neither cloud nor auth_url is set, and the environment's OS_* variables don't suffice"


def reason_of(error: Exception) -> str:
    """Returns why there is no answer: the cause that libraries bury in three layers of their own terms."""
    text = describe(error)
    known = re.search("Failed to resolve|Connection refused|timed out|No route to host|certificate verify failed", text)
    return known[0].lower() if known else text


def advise(error: Exception) -> str:
    """Returns what to do where Keystone gives no token."""
    if isinstance(error, ksa_errors.Unauthorized):
        return "correct user, password (LIMES_IDENTITY_PASSWORD), domains and project in identity.keystone"
    if isinstance(error, ksa_errors.SSLError | requests.exceptions.SSLError):
        return "name the file with the authority's certificates in identity.keystone.cacert"
    return "correct identity.keystone.auth_url, or start Keystone; look at DNS and at firewalls between"


def describe(error: Exception) -> str:
    """Returns one line on what went wrong with a request, without anything secret in it."""
    if isinstance(error, ksa_errors.HttpError):
        return redact(f"HTTP {error.http_status} ({error.message})" if error.http_status else str(error.message))
    return line_of(error)
