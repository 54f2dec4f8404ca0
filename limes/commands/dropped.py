"""The words of `limes config check --against-database`."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from limes.actions.compare_catalog import Comparison, DroppedResource, DroppedService


def lines_of(comparison: "Comparison") -> Iterator[str]:
    """What the configuration drops, and what becomes of it."""
    if not comparison.drops_anything:
        yield "It drops nothing that is in the database."
    else:
        yield "It drops what is in the database:"
    for service in comparison.services:
        yield f"service {service.type}: {_of_service(service)}"
        yield from _resources(service)
        yield f"  hidden at once; kept, and back with the service, at least until {_moment(service.deleted_at)}"
    for resource in comparison.resources:
        yield _of_resource(resource)
        yield "  hidden at once; kept, and back with the resource"
    for zone in comparison.availability_zones:
        held = zone.holdings
        yield (
            f"availability zone {zone.name}: used by {_count(held.projects, 'project')},"
            f" capacity of {_count(held.resources, 'resource')}, {_count(held.commitments, 'commitment')}"
        )
        yield '  usage and capacity go to the zone "unknown" with the next scrapes; commitments stay until they end'
    for service in comparison.missing:
        yield f"Missing already: service {service.type}: {_of_service(service)}"
        yield from _resources(service)
        yield f"  kept, and back with the service, at least until {_moment(service.deleted_at)}"


def _of_service(service: "DroppedService") -> str:
    projects = _count(service.projects, "project")
    have = "has" if service.projects == 1 else "have"
    return f"{projects} {have} quota or usage, {_count(service.commitments, 'commitment')}"


def _resources(service: "DroppedService") -> Iterator[str]:
    for resource in service.resources:
        if any(resource.holdings):
            yield f"  {_of_resource(resource)}"


def _of_resource(resource: "DroppedResource") -> str:
    held = resource.holdings
    projects, commitments = _count(held.projects, "project"), _count(held.commitments, "commitment")
    return (
        f"resource {'/'.join(resource.ref)}: quota of domains {held.domains_quota},"
        f" of {projects} {held.projects_quota}, usage {held.usage}, {commitments} of {held.committed}"
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _moment(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")
