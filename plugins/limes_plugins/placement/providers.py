"""Which providers count for capacity. A root's traits and aggregates count for all of its descendants."""

from collections.abc import Collection

from limes_plugins.openstack.client import ServiceClient
from limes_plugins.placement.params import CapacityParams
from limes_plugins.placement.zones import Look, Provider, Zones


def matching_providers(client: ServiceClient, params: CapacityParams, zones: Zones, deadline: float) -> list[Provider]:
    """The providers that count, by name. Raises `BackendError`."""
    look = Look(client, deadline)
    providers = zones.providers(look).values()
    required = [look.with_traits([trait]) for trait in sorted(set(params.traits.required))]
    forbidden = look.with_traits(set(params.traits.forbidden))
    members = look.in_aggregates(set(params.aggregates))
    return [
        provider
        for provider in sorted(providers, key=lambda provider: provider.name)
        if all(_in(provider, uuids) for uuids in required)
        and not _in(provider, forbidden)
        and (not params.aggregates or _in(provider, members))
    ]


def _in(provider: Provider, uuids: Collection[str]) -> bool:
    return provider.uuid in uuids or provider.root_uuid in uuids
