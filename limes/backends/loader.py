"""Finds plugins by the entry point group `limes.backends`, and makes the configured backends from them.

All problems of all entries are reported at once, each with its path in the configuration file, for example
`services[0].params.resources.ram.unit: ...`.
"""

import contextlib
import functools
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from msgspec import Struct, field
from pydantic import ValidationError

from limes.backends.base import CapacityBackend, DiscoveryBackend, QuotaBackend
from limes.backends.breaker import CircuitBreaker
from limes.backends.plugin import BackendContext, Offer, Plugin, SessionFactory
from limes.kernel.errors import ConfigError
from limes.kernel.outgoing import DEFAULT_LIMITS, AnswerLimits
from limes.kernel.validation.problems import describe_problems, did_you_mean

ENTRY_POINT_GROUP = "limes.backends"

Kind = Literal["quota", "capacity", "discovery"]


class BackendSpec(Struct, frozen=True):
    """One entry of the configuration that names a plugin."""

    path: str
    """Where it is: `services[0]`, `capacitors[1]`, `discovery`."""
    name: str
    """The service type, the capacitor's id, or the discovery method."""
    plugin: str
    params: Mapping[str, Any] = field(default_factory=dict)
    plugin_key: str = "type"
    """The key that holds the plugin's name: `type`, or `method` for discovery."""


class Backends(Struct, frozen=True):
    """All configured backends. Their objects are shared by all threads."""

    quota: Mapping[str, QuotaBackend]
    """By service type."""
    capacity: Mapping[str, CapacityBackend]
    """By capacitor id."""
    discovery: DiscoveryBackend
    breakers: Mapping[str, CircuitBreaker] = field(default_factory=dict)
    """The circuits to the quota backends, by service type; none where they are not guarded."""

    def circuits(self) -> dict[str, str]:
        """`closed`, `half-open` or `open`, by service type."""
        return {service_type: breaker.state.value for service_type, breaker in self.breakers.items()}


@functools.cache
def _installed() -> tuple[EntryPoint, ...]:
    """Searched for once, in the main process before it forks: this reads a file of each installed package."""
    return tuple(entry_points(group=ENTRY_POINT_GROUP))


class Plugins:
    """The installed plugins. Each is loaded when it is first needed."""

    def __init__(self, points: Iterable[EntryPoint] | None = None) -> None:
        """`points` stand for the entry points of what is installed."""
        self._points = {point.name: point for point in (_installed() if points is None else points)}
        self._loaded: dict[str, Plugin] = {}

    @property
    def names(self) -> list[str]:
        return sorted(self._points)

    def get(self, name: str) -> Plugin:
        """Returns the plugin of that name. Raises `ConfigError` if it is unknown or cannot be loaded."""
        if name not in self._points:
            known = ", ".join(self.names) or "none"
            hint = did_you_mean(name, self.names)
            raise ConfigError([f"there is no plugin {name!r} (installed are: {known}){hint}"])
        if name not in self._loaded:
            self._loaded[name] = self._load(self._points[name])
        return self._loaded[name]

    def _load(self, point: EntryPoint) -> Plugin:
        try:
            plugin = point.load()
        except Exception as error:  # an import of a foreign module may raise anything
            reason = f"{type(error).__name__}: {error}"
            raise ConfigError([f"the plugin {point.name!r} ({point.value}) cannot be loaded: {reason}"]) from error
        if not isinstance(plugin, Plugin):
            raise ConfigError([f"the plugin {point.name!r}: {point.value} is not a limes.backends.Plugin"])
        return plugin

    def offering(self, kind: Kind) -> list[str]:
        names = []
        for name in self.names:
            with contextlib.suppress(ConfigError):
                if getattr(self.get(name), kind) is not None:
                    names.append(name)
        return names


def load(
    services: Sequence[BackendSpec],
    capacitors: Sequence[BackendSpec],
    discovery: BackendSpec,
    *,
    availability_zones: Sequence[str],
    session_factory: SessionFactory | None = None,
    time_limit: float = 240.0,
    limits: AnswerLimits = DEFAULT_LIMITS,
    interface: str = "public",
    plugins: Plugins | None = None,
) -> Backends:
    """Makes all configured backends, without asking any of them. Raises `ConfigError` with all problems. `time_limit`
    is in seconds and must be below the collector's lease. `interface` is for plugins whose params name none."""
    plugins = plugins or Plugins()
    problems: list[str] = []

    def make(kind: Kind, spec: BackendSpec) -> Any:
        context = BackendContext(
            spec.name,
            tuple(availability_zones),
            session_factory,
            time_limit,
            timeout=min(limits.timeout, time_limit),
            limits=limits,
            interface=interface,
        )
        try:
            return _make(plugins, kind, spec, context)
        except ConfigError as error:
            problems.extend(error.problems)
            return None

    quota = {spec.name: make("quota", spec) for spec in services}
    capacity = {spec.name: make("capacity", spec) for spec in capacitors}
    discovery_backend = make("discovery", discovery)
    if problems:
        raise ConfigError(problems)
    return Backends(quota, capacity, discovery_backend)


def load_services(
    services: Sequence[BackendSpec], availability_zones: Sequence[str], session_factory: SessionFactory
) -> dict[str, QuotaBackend]:
    """Makes those of the services that have no problems, without asking any of them."""
    plugins = Plugins()
    usable: dict[str, QuotaBackend] = {}
    for spec in services:
        context = BackendContext(spec.name, tuple(availability_zones), session_factory)
        with contextlib.suppress(ConfigError):
            usable[spec.name] = _make(plugins, "quota", spec, context)
    return usable


def _make(plugins: Plugins, kind: Kind, spec: BackendSpec, context: BackendContext) -> Any:
    key = f"{spec.path}.{spec.plugin_key}"
    try:
        plugin = plugins.get(spec.plugin)
    except ConfigError as error:
        raise ConfigError([f"{key}: {problem}" for problem in error.problems]) from error
    offer: Offer[Any] | None = getattr(plugin, kind)
    if offer is None:
        others = ", ".join(plugins.offering(kind)) or "none"
        raise ConfigError([f"{key}: the plugin {spec.plugin!r} offers no {kind} (those that do: {others})"])
    try:
        return offer.create(offer.params.model_validate(dict(spec.params)), context)
    except ValidationError as error:
        raise ConfigError(describe_problems(error, offer.params, f"{spec.path}.params")) from None
    except ConfigError as error:
        raise ConfigError([f"{spec.path}.params.{problem}" for problem in error.problems]) from error
