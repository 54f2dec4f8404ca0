"""From the configuration to backends: the entries that name plugins."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from limes.auth.session import CloudSession
from limes.backends.breaker import BreakerRules, CircuitBreaker
from limes.backends.loader import Backends, BackendSpec, load
from limes.backends.timeouts import GuardedQuotaBackend, TimedCapacityBackend, TimedDiscoveryBackend
from limes.errors import ConfigError
from limes.outgoing import keystone_session
from limes.settings import Settings

_TIME_LIMIT = 0.8
"""Of a lease: a backend that takes longer would have its task taken away."""


def open_backends(
    settings: Settings, cloud: CloudSession, time_limit: float | None = None, at_once: int | None = None
) -> Backends:
    """All backends; none is asked. `time_limit` (seconds) is for whoever cannot wait as long as a collector, and
    `at_once` for whoever cannot spare more threads than that for one backend.

    Raises `ConfigError` with every problem.
    """
    discovery = settings.discovery
    longest = settings.collector.lease * _TIME_LIMIT
    time_limit = min(longest, time_limit or longest)
    backends = load(
        [
            BackendSpec(f"services[{index}]", entry.service_type, entry.type, entry.params)
            for index, entry in enumerate(settings.services)
        ],
        [
            BackendSpec(f"capacitors[{index}]", entry.id, entry.type, entry.params)
            for index, entry in enumerate(settings.capacitors)
        ],
        BackendSpec("discovery", discovery.method, discovery.method, discovery.params, plugin_key="method"),
        availability_zones=settings.availability_zones,
        session_factory=lambda: cloud.session,
        time_limit=time_limit,
        limits=cloud.limits,
    )
    return _guarded(backends, settings, time_limit, at_once)


def _guarded(backends: Backends, settings: Settings, time_limit: float, at_once: int | None) -> Backends:
    section = settings.circuit_breaker
    rules = BreakerRules(section.failures, section.pause, section.pause_max, at_once)
    breakers = {name: CircuitBreaker(f"service {name}", rules) for name in backends.quota}
    quota = {name: GuardedQuotaBackend(inner, breakers[name], time_limit) for name, inner in backends.quota.items()}
    capacity = {name: TimedCapacityBackend(inner, time_limit) for name, inner in backends.capacity.items()}
    discovery = TimedDiscoveryBackend(backends.discovery, time_limit)
    return replace(backends, quota=quota, capacity=capacity, discovery=discovery, breakers=breakers)


def backend_problems(document: Any) -> list[str]:
    """What plugins find wrong with their parameters, in a document that cannot be used for other reasons already.

    So that an operator sees all problems at once. Entries that are not even of the right shape are left out.
    """
    if not isinstance(document, dict):
        return []
    zones = document.get("availability_zones")
    discovery = document.get("discovery") or {"method": "list"}
    specs = list(_specs([discovery], "discovery", "method", "method"))
    if not specs:
        return []
    try:
        load(
            list(_specs(document.get("services"), "services", "service_type", "type")),
            list(_specs(document.get("capacitors"), "capacitors", "id", "type")),
            specs[0],
            availability_zones=[zone for zone in zones if isinstance(zone, str)] if isinstance(zones, list) else [],
            session_factory=keystone_session,
        )
    except ConfigError as error:
        return error.problems
    return []


def _specs(entries: Any, path: str, name_key: str, plugin_key: str) -> Iterator[BackendSpec]:
    if not isinstance(entries, list):
        return
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            continue
        name, plugin, params = entry.get(name_key), entry.get(plugin_key), entry.get("params") or {}
        if isinstance(name, str) and isinstance(plugin, str) and isinstance(params, dict):
            where = path if path == "discovery" else f"{path}[{index}]"
            yield BackendSpec(where, name, plugin, params, plugin_key=plugin_key)
