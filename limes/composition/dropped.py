"""What a configuration drops from the database, in words: what there is of it, and what becomes of it."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from limes.actions.sync_catalog import ChangedModel, Comparison, DroppedResource, DroppedService, DroppedZone


def lines_of(comparison: Comparison) -> Iterator[str]:
    """Yields what the configuration drops, and what becomes of it."""
    if not comparison.drops_anything:
        yield "It drops nothing that is in the database."
    else:
        yield "It drops what is in the database:"
    for service in comparison.services:
        yield f"service {service.type}: {describe_service(service)}"
        yield from _resources(service)
        yield f"  hidden at once; kept, and back with the service, at least until {say_moment(service.deleted_at)}"
    for resource in comparison.resources:
        yield describe_resource(resource)
        yield "  hidden at once; kept, and back with the resource"
    for zone in comparison.availability_zones:
        yield describe_zone(zone)
        yield '  usage and capacity go to the zone "unknown" with the next scrapes; commitments stay until they end'
    for service in comparison.missing:
        yield f"Missing already: service {service.type}: {describe_service(service)}"
        yield from _resources(service)
        yield f"  kept, and back with the service, at least until {say_moment(service.deleted_at)}"


def lines_of_models(changed: Sequence[ChangedModel]) -> Iterator[str]:
    """Yields the resources whose distribution model the configuration changes, and what becomes of their quotas."""
    for one in changed:
        resource = DroppedResource(one.ref, one.holdings)
        yield f"It changes the model of a resource from {one.before} to {one.after}: {describe_resource(resource)}"
        if one.after == "autogrow":
            yield "  its quotas stay until the first computation; then they follow usage and commitments"
        else:
            yield "  the quotas of projects stay, and each domain gets their sum as its quota"


def describe_zone(zone: DroppedZone) -> str:
    """Returns what is in an availability zone."""
    holdings = zone.holdings
    return (
        f"availability zone {zone.name}: used by {_count(holdings.projects, 'project')},"
        f" capacity of {_count(holdings.resources, 'resource')}, {_count(holdings.commitments, 'commitment')}"
    )


def describe_service(service: DroppedService) -> str:
    projects = _count(service.projects, "project")
    have = "has" if service.projects == 1 else "have"
    return f"{projects} {have} quota or usage, {_count(service.commitments, 'commitment')}"


def _resources(service: DroppedService) -> Iterator[str]:
    for resource in service.resources:
        if any(resource.holdings):
            yield f"  {describe_resource(resource)}"


def describe_resource(resource: DroppedResource) -> str:
    holdings = resource.holdings
    projects, commitments = _count(holdings.projects, "project"), _count(holdings.commitments, "commitment")
    return (
        f"resource {'/'.join(resource.ref)}: quota of domains {holdings.domains_quota},"
        f" of {projects} {holdings.projects_quota}, usage {holdings.usage}, {commitments} of {holdings.committed}"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def say_moment(time: float) -> str:
    """Returns a time in UTC, to the minute."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")
