"""What is in the database and not in the configuration any more: a service that was removed, or lost by mistake."""

from collections.abc import Iterator

from limes.actions.compare_catalog import Comparison, compare_catalog
from limes.actions.context import open_limes
from limes.composition.cluster import build_cluster
from limes.composition.dropped import describe_resource, describe_service, describe_zone, say_moment
from limes.composition.identity import open_cloud
from limes.db.engine import Engine
from limes.doctor.finding import Context, Finding, ok, warning
from limes.errors import LimesError

_GRACE = "put it back under services; if it is to go, do nothing: it is deleted after that (collector.service_grace)"
_PUT_BACK = "put it back into the configuration; if it is to go, do nothing"


def check_catalog(name: str, context: Context, engine: Engine) -> Iterator[Finding]:
    """Compares both. What holds nothing is not worth a word. `name` begins the findings' names."""
    settings = context.settings
    try:
        cluster = build_cluster(settings, open_cloud(settings))
        comparison = compare_catalog(open_limes(cluster, engine, settings, clock=context.clock))
    except LimesError:
        return  # the other checks say why
    findings = list(_missing(f"{name}.catalog", comparison))
    yield from findings or [ok(f"{name}.catalog", "the configuration has all that the database has")]


def _missing(name: str, comparison: Comparison) -> Iterator[Finding]:
    for service in (*comparison.services, *comparison.missing):
        if service.projects or service.commitments:
            until = say_moment(service.deleted_at)
            text = f"service {service.type} is not configured any more: {describe_service(service)}; kept until {until}"
            yield warning(name, text, _GRACE)
    for resource in comparison.resources:
        if any(resource.holdings):
            yield warning(name, f"not configured any more, and hidden: {describe_resource(resource)}", _PUT_BACK)
    for zone in comparison.availability_zones:
        if any(zone.holdings):
            text = f"not configured any more: {describe_zone(zone)}; its usage counts for the zone unknown"
            yield warning(name, text, _PUT_BACK)
