"""From the configuration to what there is to manage: backends, catalog, constraints, low-privilege limits.

Every problem of every part is reported, not just the first one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import TypeVar

from limes.auth.session import CloudSession
from limes.backends import calls
from limes.backends.loader import Backends
from limes.composition.backends import open_backends
from limes.core.catalog import BehaviorRule, Catalog, DistributionRule, Ref, ServiceDef
from limes.core.commitment_rules import CommitmentRules
from limes.core.constraint_set import ConstraintSet, parse_constraint_set
from limes.core.durations import DurationError, parse_duration
from limes.core.permissions import LowPrivLimit, LowPrivRules, parse_lowpriv_limit
from limes.core.units import UnitError
from limes.errors import BackendError, ConfigError
from limes.settings import Settings, read_yaml
from limes.settings.cluster import BehaviorSettings

T = TypeVar("T")


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
    """All services whose plugins can say what they are."""
    found = []
    for service_type, backend in backends.quota.items():
        try:
            found.append(calls.describe(backend, service_type))
        except BackendError as error:
            problems.append(str(error))
    return found


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
