"""What an entry point of the group `limes.backends` names: a `Plugin`, which says what it offers and how to make it.

Below it are base classes and types for the `params` that operators write.
"""

from collections.abc import Callable, Sequence, Sized
from typing import Annotated, Any, Generic, TypeVar

from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from msgspec import Struct
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator

from limes.backends.base import UNLIMITED, BackendQuota, CapacityBackend, DiscoveryBackend, QuotaBackend, limited
from limes.catalog.catalog import ANY_AZ, ResourceDef
from limes.kernel.errors import BackendError
from limes.kernel.outgoing import DEFAULT_LIMITS, AnswerLimits, GuardedSession, TimedAdapter, keystone_session
from limes.kernel.units import MAX_AMOUNT, Unit

T = TypeVar("T", bound=Sized)
B_co = TypeVar("B_co", bound=QuotaBackend | CapacityBackend | DiscoveryBackend, covariant=True)


SessionFactory = Callable[[], Session]
"""Returns the keystoneauth1 session with the configured credentials, made with the first call."""


class BackendContext(Struct, frozen=True):
    """What surrounds a plugin object: its place in the configuration, and the way to OpenStack."""

    name: str
    """The service type, or the id of the capacitor, or the discovery method."""
    availability_zones: Sequence[str]
    session_factory: SessionFactory | None = None
    """None where no Keystone is configured."""
    time_limit: float = 240.0
    """Seconds that one call of a plugin may take."""
    timeout: float = 60.0
    """Seconds that one request to a backend may take, to the end of its answer."""
    limits: AnswerLimits = DEFAULT_LIMITS
    """Limits for each answer."""
    interface: str = "public"
    """Which addresses of the catalog are used, where the plugin's `params` do not say it."""

    def session(self) -> Session:
        """Returns the configured keystoneauth1 session, shared by all. Raises `BackendError` without Keystone."""
        if self.session_factory is None:
            raise BackendError("a Keystone session is needed, but no Keystone is configured")
        return self.session_factory()

    def own_session(self, auth: Any) -> Session:
        """Returns a keystoneauth1 session with credentials of the plugin's own: a plugin of keystoneauth1."""
        return keystone_session(auth, limits=self.limits)

    def plain_session(self) -> GuardedSession:
        """Returns a session of `requests`, for backends that are no OpenStack services."""
        return GuardedSession(self.limits)

    def adapter(self, service_type: str, **options: Any) -> Adapter:
        """Returns a keystoneauth1 adapter for a service of the catalog.

        `options` are those of `keystoneauth1.adapter.Adapter` (`interface`, `region_name`, `endpoint_override`,
        `default_microversion`, ... and `session` to use another one than the configured). Without an `interface`, it
        is the configured one. Nothing is requested yet.
        """
        options["interface"] = options.get("interface") or self.interface
        session = options.pop("session", None) or self.session()
        options.setdefault("connect_retries", 1)
        return TimedAdapter(session, self.timeout, service_type=service_type, **options)


class Offer(Struct, Generic[B_co], frozen=True):
    """One kind of backend that a plugin offers: the model of its `params`, and what makes it from them. `create` must
    not ask the backend. It may raise `ConfigError` for params that the model cannot judge: each problem in it begins
    with the path below `params`, as in `resources.ram: ...`."""

    params: type[BaseModel]
    create: Callable[[Any, BackendContext], B_co]


class Plugin(Struct, frozen=True):
    """A backend plugin: a line that says what it is for, and up to three things that it offers."""

    description: str
    quota: Offer[QuotaBackend] | None = None
    """For `services[].type`."""
    capacity: Offer[CapacityBackend] | None = None
    """For `capacitors[].type`."""
    discovery: Offer[DiscoveryBackend] | None = None
    """For `discovery.method`."""


# -- params -----------------------------------------------------------------------------------------------------------


class Params(BaseModel):
    """Base class for the `params` of a plugin: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class NoParams(Params):
    """For plugins that take none."""


def _not_empty(value: T) -> T:
    if not value:
        raise ValueError("at least one is needed")
    return value


NOT_EMPTY = AfterValidator(_not_empty)
"""For lists and mappings: `Annotated[list[...], NOT_EMPTY]`. Unlike pydantic's `min_length`, it is silent if an entry
is wrong."""


def _resource_name(value: str) -> str:
    if not value or "/" in value or any(letter.isspace() for letter in value):
        raise ValueError("expected a name without slashes and blanks")
    return value


ResourceName = Annotated[str, AfterValidator(_resource_name)]
"""The name of a resource: it appears in URLs and in `service/resource` patterns."""

Amount = Annotated[int, Field(strict=True, ge=0), AfterValidator(lambda value: min(value, MAX_AMOUNT))]
"""A whole number from 0 in the resource's unit. What is larger than any amount is the largest one."""

AmountPerAZ = Annotated[
    dict[str, Amount], BeforeValidator(lambda value: value if isinstance(value, dict) else {ANY_AZ: value}), NOT_EMPTY
]
"""Amounts by AZ. A mere number is an amount in AZ `any`."""


def _quota(value: Any) -> BackendQuota:
    if value == "unlimited" or value is UNLIMITED:
        return UNLIMITED
    if type(value) is not int or value < 0:
        raise ValueError("expected 'unlimited' or a whole number from 0")
    return limited(value)


QuotaValue = Annotated[BackendQuota, PlainValidator(_quota)]
"""A number, or `unlimited`, which is what a number is that is larger than any amount."""


class ResourceParams(Params):
    """How an operator describes one resource of a service."""

    unit: Unit = Unit.COUNT
    """`B`, `KiB`, `MiB`, `GiB`, `TiB`, `PiB` or `EiB`; without, the resource is counted."""
    category: str = ""
    contained_in: str = ""
    auto_approve_initial_quota: Amount = 0
    quota_at_least_usage: bool = False

    def definition(self, name: str, *, tracks_quota: bool = True, az_aware: bool = False) -> ResourceDef:
        return ResourceDef(
            name,
            self.unit,
            self.category,
            self.contained_in,
            tracks_quota,
            self.auto_approve_initial_quota,
            self.quota_at_least_usage,
            az_aware,
        )
