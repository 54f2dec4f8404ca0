"""What `limes doctor` and `limes config check` say of what the configuration does not have any more."""

from collections.abc import Iterator, Sequence

from limes.app.context import Limes
from limes.collector import sync_catalog as catalogs
from limes.kernel.calendar import render_minute
from limes.kernel.errors import LimesError
from limes.kernel.findings import Finding, counted, ok, warning

_GRACE = "put it back under services; if it is to go, do nothing: it is deleted after that (collector.service_grace)"
_PUT_BACK = "put it back into the configuration; if it is to go, do nothing"


def check_catalog(name: str, limes: Limes) -> Iterator[Finding]:
    """What is not configured any more: removed, or lost by mistake. What holds nothing is not worth a word."""
    name = f"{name}.catalog"
    try:
        comparison = catalogs.compare_catalog(limes)
    except LimesError:
        return  # the other checks say why
    findings = []
    for service in (*comparison.services, *comparison.missing):
        if service.projects or service.commitments:
            text = f"service {service.type} is not configured any more: {_describe_service(service)}"
            findings.append(warning(name, f"{text}; kept until {render_minute(service.deleted_at)}", _GRACE))
    for resource in comparison.resources:
        if any(resource.holdings):
            text = f"not configured any more, and hidden: {_describe_resource(resource)}"
            findings.append(warning(name, text, _PUT_BACK))
    for zone in comparison.availability_zones:
        if any(zone.holdings):
            text = f"not configured any more: {_describe_zone(zone)}; its usage counts for the zone unknown"
            findings.append(warning(name, text, _PUT_BACK))
    yield from findings or [ok(name, "the configuration has all that the database has")]


def render_comparison(comparison: catalogs.Comparison, changed: Sequence[catalogs.ChangedModel]) -> Iterator[str]:
    """Yields what the configuration drops, and the distribution models that it changes."""
    drops = comparison.drops_anything
    yield "It drops what is in the database:" if drops else "It drops nothing that is in the database."
    for service in comparison.services:
        yield from _service(service, "", "hidden at once; kept")
    for resource in comparison.resources:
        yield _describe_resource(resource)
        yield "  hidden at once; kept, and back with the resource"
    for zone in comparison.availability_zones:
        yield _describe_zone(zone)
        yield '  usage and capacity go to the zone "unknown" with the next scrapes; commitments stay until they end'
    for service in comparison.missing:
        yield from _service(service, "Missing already: ", "kept")
    for one in changed:
        resource = catalogs.DroppedResource(one.ref, one.holdings)
        yield f"It changes the model of a resource from {one.before} to {one.after}: {_describe_resource(resource)}"
        if one.after == "autogrow":
            yield "  its quotas stay until the first computation; then they follow usage and commitments"
        else:
            yield "  the quotas of projects stay, and each domain gets their sum as its quota"


def _service(service: catalogs.DroppedService, before: str, fate: str) -> Iterator[str]:
    yield f"{before}service {service.type}: {_describe_service(service)}"
    yield from (f"  {_describe_resource(resource)}" for resource in service.resources if any(resource.holdings))
    yield f"  {fate}, and back with the service, at least until {render_minute(service.deleted_at)}"


def _describe_zone(zone: catalogs.DroppedZone) -> str:
    holdings = zone.holdings
    return (
        f"availability zone {zone.name}: used by {counted(holdings.projects, 'project')},"
        f" capacity of {counted(holdings.resources, 'resource')}, {counted(holdings.commitments, 'commitment')}"
    )


def _describe_service(service: catalogs.DroppedService) -> str:
    have = "has" if service.projects == 1 else "have"
    projects, commitments = counted(service.projects, "project"), counted(service.commitments, "commitment")
    return f"{projects} {have} quota or usage, {commitments}"


def _describe_resource(resource: catalogs.DroppedResource) -> str:
    holdings = resource.holdings
    projects, commitments = counted(holdings.projects, "project"), counted(holdings.commitments, "commitment")
    return (
        f"resource {'/'.join(resource.ref)}: quota of domains {holdings.domains_quota},"
        f" of {projects} {holdings.projects_quota}, usage {holdings.usage}, {commitments} of {holdings.committed}"
    )


CHECKS = (check_catalog,)
