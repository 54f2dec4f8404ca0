"""What an entry point of the group `limes.backends` names: a `Plugin`, which says what it offers and how to make it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from pydantic import BaseModel

from limes.backends.base import CapacityBackend, DiscoveryBackend, QuotaBackend
from limes.errors import BackendError
from limes.outgoing import DEFAULT_LIMITS, AnswerLimits, GuardedSession, TimedAdapter, keystone_session

B_co = TypeVar("B_co", bound=QuotaBackend | CapacityBackend | DiscoveryBackend, covariant=True)


SessionFactory = Callable[[], Session]
"""Makes (or answers the already made) keystoneauth1 session with the configured credentials."""


@dataclass(frozen=True, slots=True)
class BackendContext:
    """What surrounds a plugin object: its place in the configuration, and the way to OpenStack."""

    name: str
    """The service type, or the id of the capacitor, or the discovery method."""
    availability_zones: Sequence[str]
    """The configured ones."""
    session_factory: SessionFactory | None = None
    """None where no Keystone is configured."""
    time_limit: float = 240.0
    """Seconds that one call of a plugin may take."""
    timeout: float = 60.0
    """Seconds that one request to a backend may take, to the end of its answer."""
    limits: AnswerLimits = DEFAULT_LIMITS
    """What is taken of an answer."""

    def session(self) -> Session:
        """The configured keystoneauth1 session, shared by all. Raises `BackendError` where there is no Keystone."""
        if self.session_factory is None:
            raise BackendError("a Keystone session is needed, but no Keystone is configured")
        return self.session_factory()

    def own_session(self, auth: Any) -> Session:
        """A keystoneauth1 session with credentials of the plugin's own: a plugin of keystoneauth1."""
        return keystone_session(auth, limits=self.limits)

    def plain_session(self) -> GuardedSession:
        """A session of `requests`, for backends that are no OpenStack services."""
        return GuardedSession(self.limits)

    def adapter(self, service_type: str, **options: Any) -> Adapter:
        """A keystoneauth1 adapter for a service of the catalog.

        `options` are those of `keystoneauth1.adapter.Adapter` (`interface`, `region_name`, `endpoint_override`,
        `default_microversion`, ... and `session` to use another one than the configured). Nothing is requested yet.
        """
        session = options.pop("session", None) or self.session()
        options.setdefault("connect_retries", 1)
        return TimedAdapter(session, self.timeout, service_type=service_type, **options)


@dataclass(frozen=True, slots=True)
class Offer(Generic[B_co]):
    """One kind of backend that a plugin offers: the model of its `params`, and what makes it from them.

    `create` must not ask the backend. It may raise `ConfigError` for params that the model cannot judge: each problem
    in it begins with the path below `params`, as in `resources.ram: ...`.
    """

    params: type[BaseModel]
    create: Callable[[Any, BackendContext], B_co]


@dataclass(frozen=True, slots=True)
class Plugin:
    """A backend plugin: a line that says what it is for, and up to three things that it offers."""

    description: str
    quota: Offer[QuotaBackend] | None = None
    """For `services[].type`."""
    capacity: Offer[CapacityBackend] | None = None
    """For `capacitors[].type`."""
    discovery: Offer[DiscoveryBackend] | None = None
    """For `discovery.method`."""
