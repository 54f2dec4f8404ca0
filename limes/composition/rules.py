"""From the configuration to rules about resources: behaviour, low-privilege limits, conversions of commitments."""

import re
from collections.abc import Iterator, Mapping

from limes.composition.references import Names
from limes.core.catalog import AutogrowRule, BehaviorRule, Catalog, DistributionRule, Ref
from limes.core.commitments.duration import DurationError, parse_duration
from limes.core.quota import LowPrivLimit, LowPrivRules, parse_lowpriv_limit
from limes.core.units import UnitError
from limes.settings import Settings
from limes.settings.cluster import QuotaDistributionSettings


def behavior_rules(settings: Settings, problems: list[str]) -> list[BehaviorRule]:
    """Returns the rules of `resource_behavior`, with durations as they are shown; adds what is wrong with these to
    `problems`."""
    rules = []
    for index, rule in enumerate(settings.resource_behavior):
        durations = []
        for text in rule.commitment_durations:
            try:
                durations.append(str(parse_duration(text)))
            except DurationError as error:
                problems.append(f"resource_behavior[{index}].commitment_durations: {error}")
        rules.append(rule.model_copy(update={"commitment_durations": tuple(durations)}))
    return rules


def distribution_rule(entry: QuotaDistributionSettings) -> DistributionRule:
    """Returns the rule of an entry of `quota_distribution_configs`."""
    given = entry.autogrow
    if given is None:
        return DistributionRule(entry.resource, entry.model, entry.strict_domain_quota_limit)
    autogrow = AutogrowRule(
        growth_multiplier=given.growth_multiplier,
        growth_minimum=given.growth_minimum,
        project_base_quota=given.project_base_quota,
        retention=given.usage_data_retention_period,
        overcommit=given.allow_quota_overcommit,
        overcommit_until=given.allow_quota_overcommit_until_allocated_percent / 100,
        minor_change=given.minor_change_percent / 100,
        minor_change_interval=given.minor_change_interval,
    )
    return DistributionRule(entry.resource, entry.model, entry.strict_domain_quota_limit, autogrow)


def unknown_scaling_targets(settings: Settings, names: Names) -> Iterator[str]:
    """Yields what is wrong with `scales_with`."""
    for index, entry in enumerate(settings.resource_behavior):
        if entry.scales_with and (problem := names.problem(entry.scales_with)):
            yield f"resource_behavior[{index}].scales_with: {problem}"


def unknown_conversions(settings: Settings, names: Names) -> Iterator[str]:
    """Yields what is wrong with `commitments.conversions`."""
    for index, group in enumerate(settings.commitments.conversions):
        for ref in group:
            if problem := names.problem(ref):
                yield f"commitments.conversions[{index}]: {problem}"


def approval_problems(settings: Settings, catalog: Catalog) -> Iterator[str]:
    """Yields what is wrong with `quota_requests.auto_approval`."""
    for index, rule in enumerate(settings.quota_requests.auto_approval):
        for ref in filter(catalog.tracks_quota, catalog.refs()):
            if rule.resource.fullmatch("/".join(ref)):
                try:
                    rule.limit(catalog.unit_of(ref))
                except UnitError as error:
                    yield f"quota_requests.auto_approval[{index}].up_to: for {'/'.join(ref)}: {error}"


def lowpriv_rules(settings: Settings, names: Names, problems: list[str]) -> LowPrivRules:
    """Returns the rules of `lowpriv_raise`; adds what is wrong with them to `problems`."""
    limits = settings.lowpriv_raise.limits
    return LowPrivRules(
        domains=_limits(limits.domains, "domains", names, problems),
        projects=_limits(limits.projects, "projects", names, problems),
        except_projects_in_domains=settings.lowpriv_raise.except_projects_in_domains,
        only_projects_in_domains=settings.lowpriv_raise.only_projects_in_domains,
    )


def _limits(
    section: Mapping[str, Mapping[str, str | int]], level: str, names: Names, problems: list[str]
) -> dict[Ref, LowPrivLimit]:
    limits: dict[Ref, LowPrivLimit] = {}
    for service_type, resources in section.items():
        for name, text in resources.items():
            path = f"lowpriv_raise.limits.{level}.{service_type}.{name}"
            resource = names.find((service_type, name))
            if resource is None:
                problems += [f"{path}: {problem}" for problem in (names.problem((service_type, name)),) if problem]
                continue
            try:
                limits[service_type, name] = parse_lowpriv_limit(
                    re.sub(r"\s+", " ", str(text)), resource.unit, for_domains=level == "domains"
                )
            except UnitError as error:
                problems.append(f"{path}: {error}")
    return limits
