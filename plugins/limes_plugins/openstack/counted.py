"""Services whose usage is one number for each resource and project, in no AZ."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from limes.backends import ANY_AZ, AZUsage, BackendQuota, ResourceDef, ResourceUsage, UsageReport


@dataclass(frozen=True, slots=True)
class Counted:
    """One resource, and what the service calls it."""

    definition: ResourceDef
    key: str
    """The service's name for it, in its quotas."""


def by_name(resources: Iterable[Counted]) -> dict[str, Counted]:
    """The resources by their names in Limes."""
    return {resource.definition.name: resource for resource in resources}


def report(
    resources: Mapping[str, Counted], usage: Mapping[str, int], quotas: Mapping[str, BackendQuota]
) -> UsageReport:
    """A report from usage and quota by the service's names, which have to be complete."""
    return UsageReport(
        {
            name: ResourceUsage({ANY_AZ: AZUsage(usage[resource.key])}, quotas[resource.key])
            for name, resource in resources.items()
        }
    )
