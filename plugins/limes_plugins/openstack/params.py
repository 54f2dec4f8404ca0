"""Where a service is: the `params` that say it, its endpoint, the token to send, and the microversion to ask for."""

import re
import threading
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from keystoneauth1 import discover, exceptions, noauth, token_endpoint
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from pydantic import AfterValidator, Field, SecretStr, model_validator

from limes import backends

Text = Annotated[str, Field(min_length=1)]


def _expression(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return value


Expression = Annotated[str, AfterValidator(_expression)]
"""A regular expression that is looked for anywhere in a name."""


def once_each(what: str) -> AfterValidator:
    """Refuses names, or things that have one, that are given twice; `what` they are is in the error."""

    def check(entries: tuple[Any, ...]) -> tuple[Any, ...]:
        names = [getattr(entry, "name", entry) for entry in entries]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"the {what} {twice[0]!r} is given more than once")
        return entries

    return AfterValidator(check)


class AuthParams(backends.Params):
    type: Literal["session", "token", "none"] = "session"
    """`session`: the configured Keystone credentials. `token`: a fixed token, for labs without Keystone. `none`: no
    token at all."""
    token: SecretStr | None = None

    @model_validator(mode="after")
    def _token_goes_with_its_type(self) -> "AuthParams":
        if (self.type == "token") != (self.token is not None):
            raise ValueError("a token must be given if, and only if, the type is 'token'")
        return self


class ConnectionParams(backends.Params):
    auth: AuthParams = AuthParams()
    endpoint: Text | None = None
    """The service's URL, where it is not that of the Keystone catalog."""
    interface: Text | None = None
    """Without, that of `identity.keystone`."""
    region_name: Text | None = None

    @model_validator(mode="after")
    def _somewhere(self) -> "ConnectionParams":
        if self.auth.type != "session" and self.endpoint is None:
            raise ValueError("without a Keystone session the endpoint must be given")
        return self


class KeystoneLimitParams(backends.Params):
    """Where the backend quota lives, if Keystone's unified limits are one of the places."""

    store: str
    service_type: Text | None = None
    """The service in Keystone's catalog to which the limits belong; without, the configured `service_type`."""
    service_name: Text | None = None
    """Needed where the catalog has several services of that type."""
    region_id: Text | None = None
    """The region of the limits; without, limits without region are used."""
    limit_names: dict[backends.ResourceName, Text] = Field(default_factory=dict)
    """Names of the limits by resource; without, as Nova names them: `class:VCPU` and so on."""
    default_limit: Annotated[int, Field(ge=-1, le=2**31 - 1)] = 0
    """The default of registered limits that are missing and have to be made. -1 means unlimited."""

    @model_validator(mode="after")
    def _only_what_the_store_knows(self) -> "KeystoneLimitParams":
        if self.store != "keystone_limits" and self.model_fields_set - {"store"}:
            raise ValueError("the other keys go with the store 'keystone_limits' only")
        return self


class ServiceEndpoint:
    """One service, as configured or as Keystone's catalog has it. Safe to use from many threads."""

    def __init__(
        self,
        context: backends.BackendContext,
        params: ConnectionParams,
        *,
        name: str,
        service_type: str,
        major: int | None = None,
        microversion: str | None = None,
        at_least: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`name` is what the service is called in messages, `service_type` its type in Keystone's catalog.

        `major` is the version of the API to look for below the catalog's endpoint; a configured endpoint has to have it
        in its path already. `headers` are sent with each request.
        With a `microversion` each request asks for it; where `at_least` is given too, for the newest one up to
        `microversion` that the service knows, which must not be older than `at_least`. Nothing is asked yet.
        """
        self.name, self._service_type, self._major = name, service_type, major
        self._wanted, self._at_least = microversion, at_least
        self._headers = {"Accept": "application/json", **(headers or {})}
        self._context, self._params = context, params
        self._lock = threading.RLock()  # who agrees on a microversion needs the session for it
        self._negotiated: str | None = None
        self._own_session: Session | None = None

    def adapter(self) -> Adapter:
        """Returns the adapter for requests. Raises `BackendError` and keystoneauth's exceptions."""
        return self._adapter(self._microversion())

    def endpoint(self) -> str:
        """Returns the URL that paths are appended to, as configured or in the catalog. Raises `BackendMissing`."""
        configured = self._configured_url()
        if configured is None:
            raise self._not_in_catalog()
        return configured

    # -- what is wrong -----------------------------------------------------------------------------------------------

    def too_old(self, problem: str) -> backends.BackendOutdated:
        return backends.BackendOutdated(f"this {self.name} {problem} (its release is too old for the plugin)")

    def no_endpoint(self) -> backends.BackendError:
        url = self._configured_url()
        if url is None:
            return self._not_in_catalog()
        return backends.BackendOutage(
            f"{self.name} does not say at {url} that it has version {self._major} of its API {self._is_it_there()}"
        )

    def no_versions(self) -> backends.BackendOutage:
        return backends.BackendOutage(
            f"{self.name} has no version document at {self._configured_url()} {self._is_it_there()}"
        )

    def _is_it_there(self) -> str:
        return f"(is this the endpoint of {self.name}, and does it answer?)"

    def _not_in_catalog(self) -> backends.BackendMissing:
        region = f", region {self._params.region_name}" if self._params.region_name else ""
        return backends.BackendMissing(
            f"there is no service of type {self._service_type!r} in Keystone's catalog"
            f" (interface {self._interface()}{region}): register its endpoint, or set another one in the params"
        )

    # -- what is there -----------------------------------------------------------------------------------------------

    def _interface(self) -> str:
        return self._params.interface or self._context.interface

    def _configured_url(self) -> str | None:
        if self._params.endpoint is not None:
            return self._params.endpoint
        session = self._session() or self._context.session()
        try:
            endpoint = session.get_endpoint(
                service_type=self._service_type,
                interface=self._interface(),
                region_name=self._params.region_name,
                skip_discovery=True,
            )
        except exceptions.CatalogException:
            return None
        return str(endpoint) if endpoint else None

    def _microversion(self) -> str | None:
        if self._at_least is None or self._wanted is None:
            return self._wanted
        with self._lock:
            if self._negotiated is None:
                self._negotiated = self._negotiate(self._at_least, _number(self._wanted))
            return self._negotiated

    def _negotiate(self, at_least: str, wanted: tuple[int, int]) -> str:
        data = self._adapter(None).get_endpoint_data()
        if data is None:
            raise self.no_endpoint()
        newest = data.max_microversion
        if newest is None or tuple(newest) < _number(at_least):
            known = "knows no microversions" if newest is None else f"goes up to {newest[0]}.{newest[1]}"
            raise self.too_old(f"{known}, but at least {at_least} is needed")
        major, minor = min(wanted, (newest[0], newest[1]))
        return f"{major}.{minor}"

    def _adapter(self, microversion: str | None) -> Adapter:
        versions: dict[str, Any] = {}
        if self._major is not None:
            versions = {"min_version": (self._major, 0), "max_version": (self._major, discover.LATEST)}
        return self._context.adapter(
            self._service_type,
            session=self._session(),
            interface=self._interface(),
            region_name=self._params.region_name,
            endpoint_override=self._params.endpoint,
            default_microversion=microversion,
            **versions,
        )

    def _session(self) -> Session | None:
        """Returns a session of our own for fixed tokens; None means the configured one."""
        auth = self._params.auth
        if auth.type == "session":
            return None
        with self._lock:
            if self._own_session is None:
                token = auth.token.get_secret_value() if auth.token else None
                endpoint = self._params.endpoint
                plugin = token_endpoint.Token(endpoint, token) if token else noauth.NoAuth(endpoint)
                self._own_session = self._context.own_session(plugin)
            return self._own_session


def _number(microversion: str) -> tuple[int, int]:
    major, minor = microversion.split(".")
    return int(major), int(minor)
