"""From the configuration to what there is to manage: our login, backends, catalog, constraints, overrides, limits.
Every problem of every part is reported, not just the first one."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import structs

from limes.app.context import Cluster
from limes.app.settings import Settings, read_yaml, rules
from limes.auth.session import CloudSession, open_session
from limes.backends import base, breaker, calls
from limes.backends.loader import Backends, BackendSpec, load, load_services
from limes.catalog.catalog import Catalog, ServiceDef
from limes.kernel.errors import BackendError, ConfigError
from limes.kernel.outgoing import keystone_session
from limes.kernel.validation.sections import reachable
from limes.quota.constraints import ConstraintSet, parse_constraint_set

_TIME_LIMIT = 0.8
"""Of a lease: a backend that takes longer would have its task taken away."""


def build_cluster(
    settings: Settings, cloud: CloudSession | None = None, time_limit: float | None = None, at_once: int | None = None
) -> Cluster:
    """Makes all parts without asking any backend; `time_limit` and `at_once` are those of `open_backends`. Raises
    `ConfigError` with all problems."""
    try:
        backends = open_backends(settings, cloud or open_cloud(settings), time_limit, at_once)
    except ConfigError as error:
        raise ConfigError([*error.problems, *problems_of_references(settings)]) from error
    problems: list[str] = []
    assemble = _read_rules(settings, _describe(backends.quota, problems), backends.quota, problems)
    if problems:
        raise ConfigError(problems)
    return assemble(backends)


def problems_of_references(settings: Settings, unclear: Collection[str] = ()) -> list[str]:
    """Returns what is wrong with references where not all services can be made, and why not is reported already. The
    types `unclear` are configured, but not even in the settings any more."""
    backends = load_services(_services(settings), settings.availability_zones, keystone_session)
    configured = {*unclear, *(entry.service_type for entry in settings.services)}
    problems: list[str] = []
    _read_rules(settings, _describe(backends, []), configured, problems)
    return problems


def _services(settings: Settings) -> list[BackendSpec]:
    return [
        BackendSpec(f"services[{index}]", entry.service_type, entry.type, entry.params)
        for index, entry in enumerate(settings.services)
    ]


def _read_rules(
    settings: Settings, services: Sequence[ServiceDef], configured: Collection[str], problems: list[str]
) -> "partial[Cluster]":
    """Returns what makes the cluster of its backends, and adds what is wrong to `problems`. Services that are
    `configured`, but not given, have problems already."""
    catalog = Catalog(
        settings.availability_zones,
        services,
        burst_multiplier=settings.bursting.max_multiplier,
        behaviors=rules.behavior_rules(settings, problems),
        distributions=[rules.distribution_rule(entry) for entry in settings.quota_distribution_configs],
    )
    names = rules.Names(catalog, set(configured) - set(catalog.services))
    problems += names.problems(
        (f"resource_behavior[{index}].scales_with", entry.scales_with)
        for index, entry in enumerate(settings.resource_behavior)
        if entry.scales_with
    )
    lowpriv = rules.lowpriv_rules(settings, names, problems)
    problems += rules.approval_problems(settings, catalog)
    sets = rules.quota_sets(settings, names, problems)
    problems += names.problems(
        (f"commitments.conversions[{index}]", ref)
        for index, group in enumerate(settings.commitments.conversions)
        for ref in group
    )
    constraints, overrides = ConstraintSet(), rules.OverridesFile(None, catalog)
    if not names.unclear:
        try:
            if settings.constraints_path is not None:
                constraints = parse_constraint_set(read_yaml(settings.constraints_path), catalog)
        except ConfigError as error:
            problems += error.problems
        try:
            overrides = rules.OverridesFile(settings.quota_overrides_path, catalog)
        except ConfigError as error:
            problems += error.problems
    return partial(
        Cluster,
        catalog=catalog,
        constraints=constraints,
        lowpriv=lowpriv,
        overrides=overrides.current,
        overrides_are_valid=overrides.is_valid,
        auto_approval=settings.quota_requests.auto_approval,
        quota_sets=sets,
    )


def _describe(backends: Mapping[str, base.QuotaBackend], problems: list[str]) -> list[ServiceDef]:
    services = []
    for service_type, backend in backends.items():
        try:
            services.append(calls.describe(backend, service_type))
        except BackendError as error:
            problems.append(str(error))
    return services


def open_cloud(settings: Settings, threads: int | None = None) -> CloudSession:
    """Returns our own login. Nothing is asked yet. `threads` are those that answer requests in this process."""
    identity = settings.identity
    if identity.method == "sample":  # there is no catalog, but we know our own Placement
        endpoints = {"placement": f"http://{reachable(settings.placement.listen)}", **identity.endpoints}
        identity = identity.model_copy(update={"endpoints": endpoints})
    return open_session(identity, settings.answers, threads)


def open_backends(
    settings: Settings, cloud: CloudSession, time_limit: float | None = None, at_once: int | None = None
) -> Backends:
    """Returns all backends; none is asked. `time_limit` (seconds) is for callers that cannot wait as long as a
    collector, and `at_once` for callers that cannot spare more threads than that for one backend. Raises `ConfigError`
    with every problem."""
    discovery = settings.discovery
    longest = settings.collector.lease * _TIME_LIMIT
    time_limit = min(longest, time_limit or longest)
    backends = load(
        _services(settings),
        [
            BackendSpec(f"capacitors[{index}]", entry.id, entry.type, entry.params)
            for index, entry in enumerate(settings.capacitors)
        ],
        BackendSpec("discovery", discovery.method, discovery.method, discovery.params, plugin_key="method"),
        availability_zones=settings.availability_zones,
        session_factory=lambda: cloud.session,
        time_limit=time_limit,
        limits=cloud.limits,
        interface=cloud.interface,
    )
    section = settings.circuit_breaker
    circuit = breaker.BreakerRules(section.failures, section.pause, section.pause_max, at_once)
    breakers = {name: breaker.CircuitBreaker(f"service {name}", circuit) for name in backends.quota}
    return structs.replace(
        backends,
        quota={
            name: breaker.GuardedQuotaBackend(inner, breakers[name], time_limit)
            for name, inner in backends.quota.items()
        },
        capacity={name: breaker.TimedCapacityBackend(inner, time_limit) for name, inner in backends.capacity.items()},
        discovery=breaker.TimedDiscoveryBackend(backends.discovery, time_limit, cloud.gate.admit),
        breakers=breakers,
    )


def backend_problems(document: Any) -> list[str]:
    """Returns what plugins find wrong with their parameters, in a document that cannot be used for other reasons
    already: so that an operator sees all at once. Entries that are not even of the right shape are left out."""
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
