"""Which subresources are followed, and what works on them."""

from collections.abc import Iterator

from limes.actions.lifetimes import CleanUpLifetimes
from limes.core.catalog import Catalog
from limes.core.lifetimes import Followed, LifetimeRule, followed_resources
from limes.db.engine import Engine
from limes.settings import Settings
from limes.system import Clock

_UNDECLARED = "liquid"
"""The plugin whose backends do not say whether they report subresources."""


def followed(settings: Settings, catalog: Catalog) -> Followed:
    """Returns the resources whose subresources are followed."""
    rules = [LifetimeRule(entry.resource, entry.attributes) for entry in settings.subresource_lifetimes.resources]
    return followed_resources(catalog, rules)


def build_clean_up(settings: Settings, engine: Engine, catalog: Catalog, clock: Clock) -> CleanUpLifetimes:
    """Returns the job's work. It also ends what was followed by an earlier configuration."""
    return CleanUpLifetimes(engine, followed(settings, catalog), clock, settings.subresource_lifetimes.retention)


def lifetime_warnings(settings: Settings, catalog: Catalog) -> Iterator[str]:
    """Yields what is followed in vain: resources whose plugins are not told to report subresources."""
    plugins = {service.service_type: service.type for service in settings.services}
    for ref in followed(settings, catalog):
        resource = catalog.find(ref)
        if plugins.get(ref[0]) != _UNDECLARED and resource is not None and not resource.billed_attributes:
            yield (
                f"subresource_lifetimes: {'/'.join(ref)} is followed, but its plugin names no attributes to bill"
                f" (are subresources switched on in the params of service {ref[0]!r}?)"
            )
