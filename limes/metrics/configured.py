"""Metrics of what the configuration says about resources, under the names of the original."""

from collections.abc import Iterator, Mapping
from math import inf

from limes.core.catalog import Catalog, Ref
from limes.core.constraints import QuotaOverrides
from limes.metrics.text import Samples, labels

_RESOURCE = ("resource", "service")

FAMILIES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "limes_autogrow_growth_multiplier": (
        _RESOURCE,
        "How many times the usage a quota is that follows it (growth_multiplier)",
    ),
    "limes_autogrow_quota_overcommit_threshold_percent": (
        _RESOURCE,
        "Quota that follows usage may exceed the capacity until this percentage of it is needed; +Inf if it always may",
    ),
    "limes_available_commitment_duration": (
        ("duration", *_RESOURCE),
        "1 for each duration that commitments to the resource may have",
    ),
    "limes_project_override_quota_from_config": (
        ("domain", "domain_id", "project", "project_id", *_RESOURCE),
        "What the file of quota overrides pins a project's quota to",
    ),
}


def of_resource(ref: Ref) -> str:
    """Returns the labels of a resource."""
    return labels({"resource": ref[1], "service": ref[0]})


def samples(catalog: Catalog) -> Iterator[tuple[str, Samples]]:
    """Yields the families that need no database."""
    growing = [(of_resource(ref), rule) for ref in catalog.refs() if (rule := catalog.autogrow(ref))]
    yield "limes_autogrow_growth_multiplier", ((inside, rule.growth_multiplier) for inside, rule in growing)
    yield (
        "limes_autogrow_quota_overcommit_threshold_percent",
        # rounded, as 0.29 * 100 is not 29
        ((inside, inf if rule.overcommit else round(rule.overcommit_until * 100, 9)) for inside, rule in growing),
    )
    yield (
        "limes_available_commitment_duration",
        (
            (f"{labels({'duration': duration})},{of_resource(ref)}", 1)
            for ref in catalog.refs()
            for duration in dict.fromkeys(catalog.behavior(ref).commitment_durations)
        ),
    )


def overridden(overrides: QuotaOverrides, projects: Mapping[tuple[str, str], str]) -> Samples:
    """Yields the overrides of projects that exist. `projects` are labels by the names of domain and project."""
    for override in overrides.items():
        project = projects.get((override.domain, override.project))
        if project is not None:
            yield f"{project},{of_resource(override.ref)}", override.quota
