"""From the configuration to what there is to manage: backends, catalog, constraints, low-privilege limits.

Every problem of every part is reported, not just the first one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import Any, TypeVar

from limes.auth.session import CloudSession
from limes.backends import calls
from limes.backends.breaker import BreakerRules, CircuitBreaker
from limes.backends.loader import Backends, BackendSpec, load
from limes.backends.timeouts import GuardedQuotaBackend, TimedCapacityBackend, TimedDiscoveryBackend
from limes.core.catalog import BehaviorRule, Catalog, DistributionRule, Ref, ServiceDef
from limes.core.commitments.duration import DurationError, parse_duration
from limes.core.commitments.rules import CommitmentRules
from limes.core.constraints import ConstraintSet, parse_constraint_set
from limes.core.permissions import LowPrivLimit, LowPrivRules, parse_lowpriv_limit
from limes.core.units import UnitError
from limes.errors import BackendError, ConfigError
from limes.outgoing import keystone_session
from limes.settings import Settings, read_yaml
from limes.settings.cluster import BehaviorSettings

T = TypeVar("T")

_TIME_LIMIT = 0.8
"""Of a lease: a backend that takes longer would have its task taken away."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """What there is to manage."""

    backends: Backends
    catalog: Catalog
    constraints: ConstraintSet
    lowpriv: LowPrivRules
    commitment_rules: CommitmentRules = field(default_factory=CommitmentRules)


def build_cluster(
    settings: Settings, cloud: CloudSession, time_limit: float | None = None, at_once: int | None = None
) -> Cluster:
    """Makes all parts without asking any backend; `time_limit` and `at_once` are those of `open_backends`.

    Raises `ConfigError` with all problems.
    """
    problems: list[str] = []
    behaviors = [
        _behavior(entry, f"resource_behavior[{index}]", problems)
        for index, entry in enumerate(settings.resource_behavior)
    ]
    try:
        backends = open_backends(settings, cloud, time_limit, at_once)
    except ConfigError as error:
        raise ConfigError([*problems, *error.problems]) from error
    catalog = Catalog(
        settings.availability_zones,
        _services(backends, problems),
        burst_multiplier=settings.bursting.max_multiplier,
        behaviors=behaviors,
        distributions=[
            DistributionRule(entry.resource, entry.model, entry.strict_domain_quota_limit)
            for entry in settings.quota_distribution_configs
        ],
    )
    problems += _unknown_scaling_targets(settings, catalog)
    lowpriv = _lowpriv(settings, catalog, problems)
    commitment_rules = _commitment_rules(settings, catalog, problems)
    constraints = ConstraintSet()
    if settings.constraints_path is not None:
        try:
            constraints = parse_constraint_set(read_yaml(settings.constraints_path), catalog)
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return Cluster(backends, catalog, constraints, lowpriv, commitment_rules)


def _services(backends: Backends, problems: list[str]) -> list[ServiceDef]:
    """Returns all services whose plugins can say what they are."""
    services = []
    for service_type, backend in backends.quota.items():
        try:
            services.append(calls.describe(backend, service_type))
        except BackendError as error:
            problems.append(str(error))
    return services


def _behavior(entry: BehaviorSettings, path: str, problems: list[str]) -> BehaviorRule:
    durations = []
    for text in entry.commitment_durations:
        try:
            durations.append(str(parse_duration(text)))
        except DurationError as error:
            problems.append(f"{path}.commitment_durations: {error}")
    date = entry.commitment_min_confirm_date
    earliest = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() if date else None
    service_type, _, name = (entry.scales_with or "").partition("/")
    return BehaviorRule(
        resource=entry.resource,
        scope=entry.scope,
        max_burst_multiplier=entry.max_burst_multiplier,
        overcommit_factor=entry.overcommit_factor,
        scales_with=(service_type, name) if entry.scales_with else None,
        scaling_factor=entry.scaling_factor,
        min_nonzero_project_quota=entry.min_nonzero_project_quota,
        commitment_durations=tuple(durations),
        commitment_is_az_aware=entry.commitment_is_az_aware,
        commitment_min_confirm_date=earliest,
        annotations=entry.annotations,
    )


def _commitment_rules(settings: Settings, catalog: Catalog, problems: list[str]) -> CommitmentRules:
    section = settings.commitments
    conversions = []
    for index, group in enumerate(section.conversions):
        weights = {(path.partition("/")[0], path.partition("/")[2]): weight for path, weight in group.items()}
        problems += [
            f"commitments.conversions[{index}]: there is no resource {'/'.join(ref)}"
            for ref in weights
            if catalog.find(ref) is None
        ]
        conversions.append(weights)
    return CommitmentRules(
        self_delete_grace=section.self_delete_grace,
        renewal_window=section.renewal_window,
        retention=section.retention,
        use_days=section.use_days,
        conversions=tuple(conversions),
    )


def _unknown_scaling_targets(settings: Settings, catalog: Catalog) -> Iterator[str]:
    for index, entry in enumerate(settings.resource_behavior):
        if entry.scales_with:
            service_type, _, name = entry.scales_with.partition("/")
            if catalog.find((service_type, name)) is None:
                yield f"resource_behavior[{index}].scales_with: there is no resource {entry.scales_with}"


def _lowpriv(settings: Settings, catalog: Catalog, problems: list[str]) -> LowPrivRules:
    limits = settings.lowpriv_raise.limits
    return LowPrivRules(
        domains=_limits(limits.domains, "domains", catalog, problems),
        projects=_limits(limits.projects, "projects", catalog, problems),
        except_projects_in_domains=settings.lowpriv_raise.except_projects_in_domains,
        only_projects_in_domains=settings.lowpriv_raise.only_projects_in_domains,
    )


def _limits(
    section: Mapping[str, Mapping[str, str | int]], level: str, catalog: Catalog, problems: list[str]
) -> dict[Ref, LowPrivLimit]:
    limits: dict[Ref, LowPrivLimit] = {}
    for service_type, resources in section.items():
        for name, text in resources.items():
            path = f"lowpriv_raise.limits.{level}.{service_type}.{name}"
            resource = catalog.find((service_type, name))
            if resource is None:
                problems.append(f"{path}: there is no such resource")
                continue
            try:
                limits[service_type, name] = parse_lowpriv_limit(
                    re.sub(r"\s+", " ", str(text)), resource.unit, for_domains=level == "domains"
                )
            except UnitError as error:
                problems.append(f"{path}: {error}")
    return limits


def open_backends(
    settings: Settings, cloud: CloudSession, time_limit: float | None = None, at_once: int | None = None
) -> Backends:
    """Returns all backends; none is asked. `time_limit` (seconds) is for callers that cannot wait as long as a
    collector, and `at_once` for callers that cannot spare more threads than that for one backend.

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
    """Returns what plugins find wrong with their parameters, in a document that cannot be used for other reasons
    already.

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
