"""Capacity from inventories.

Requests for one report: one for the list of providers; one for each configured trait, one for the aggregates of each AZ
and one for the configured aggregates; one for Nova's host aggregates, if they say where providers are; one for the
inventories of each provider that matches, and with `subcapacities` two more for each that has any of the resources.
(`GET /allocation_candidates` is no way: it leaves out what is full, and cuts its answer.)
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct

from limes.backends import AZCapacity, BackendContext, BackendError, CapacityBackend, CapacityReport, Ref
from limes_plugins.openstack.client import ServiceClient, whole_number
from limes_plugins.placement.params import CapacityParams, check_zones
from limes_plugins.placement.uses import placement_client
from limes_plugins.placement.zones import Provider, ProviderQueries, Zones

log = logging.getLogger(__name__)


class _Stock(Struct, frozen=True):
    """What one provider has."""

    provider: Provider
    capacity: Mapping[str, int]
    """By resource class, for reported ones that it has."""
    used: Mapping[str, int] | None
    traits: tuple[str, ...]


class PlacementCapacity(CapacityBackend):
    def __init__(self, params: CapacityParams, context: BackendContext) -> None:
        check_zones(params, context)
        self._params = params
        self._zones = Zones(params, context)
        self._client = placement_client(params, context)

    def report_capacity(self) -> CapacityReport:
        deadline = self._client.deadline()
        providers = matching_providers(self._client, self._params, self._zones, deadline)
        stocks = [stock for stock in self._client.map(self._stock, providers, deadline) if stock.capacity]
        resources: dict[str, Mapping[str, AZCapacity]] = {}
        for resource, class_ in self._params.resources.items():
            by_az: dict[str, list[_Stock]] = defaultdict(list)
            for stock in stocks:
                if class_ in stock.capacity:
                    by_az[stock.provider.az].append(stock)
            resources[resource] = {az: self._sum(class_, az_stocks) for az, az_stocks in sorted(by_az.items())}
        return CapacityReport({self._params.service: resources})

    def resources(self) -> Collection[Ref]:
        return [(self._params.service, name) for name in self._params.resources]

    def _sum(self, class_: str, stocks: list[_Stock]) -> AZCapacity:
        usages = [stock.used.get(class_, 0) for stock in stocks if stock.used is not None]
        return AZCapacity(
            sum(stock.capacity[class_] for stock in stocks),
            sum(usages) if self._params.subcapacities else None,
            tuple(_subcapacity(stock, class_) for stock in stocks) if self._params.subcapacities else (),
        )

    def _stock(self, provider: Provider) -> _Stock:
        inventories = self._client.find(f"/resource_providers/{provider.uuid}/inventories")
        capacity = {
            class_: _capacity(inventory, f"provider {provider.name}, {class_}")
            for class_, inventory in (inventories or {}).get("inventories", {}).items()
            if class_ in self._params.resources.values()
        }
        if not capacity or not self._params.subcapacities:
            return _Stock(provider, capacity, None, ())
        usages = self._client.find(f"/resource_providers/{provider.uuid}/usages")
        traits = self._client.find(f"/resource_providers/{provider.uuid}/traits")
        if usages is None or traits is None:  # it was deleted just now
            return _Stock(provider, {}, None, ())
        used = {
            class_: whole_number(amount, f"provider {provider.name}: the usage of {class_}")
            for class_, amount in usages["usages"].items()
        }
        return _Stock(provider, capacity, used, tuple(sorted(traits["traits"])))


def _capacity(inventory: Mapping[str, Any], where: str) -> int:
    """Returns what Placement itself would give out: `(total - reserved) * allocation_ratio`, rounded down."""
    try:
        return max(0, int((inventory["total"] - inventory["reserved"]) * inventory["allocation_ratio"]))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BackendError(f"{where}: this is no inventory: {dict(inventory)!r}") from error


def _subcapacity(stock: _Stock, class_: str) -> Mapping[str, Any]:
    return {
        "name": stock.provider.name,
        "uuid": stock.provider.uuid,
        "az": stock.provider.az,
        "traits": list(stock.traits),
        "capacity": stock.capacity[class_],
        "used": (stock.used or {}).get(class_, 0),
    }


def matching_providers(client: ServiceClient, params: CapacityParams, zones: Zones, deadline: float) -> list[Provider]:
    """Returns the providers that count, by name. Raises `BackendError`."""
    queries = ProviderQueries(client, deadline)
    providers = zones.providers(queries).values()
    required = [queries.with_traits([trait]) for trait in sorted(set(params.traits.required))]
    forbidden = queries.with_traits(set(params.traits.forbidden))
    members = queries.in_aggregates(set(params.aggregates))
    return [
        provider
        for provider in sorted(providers, key=lambda provider: provider.name)
        if all(_is_in_tree(provider, uuids) for uuids in required)
        and not _is_in_tree(provider, forbidden)
        and (not params.aggregates or _is_in_tree(provider, members))
    ]


def _is_in_tree(provider: Provider, uuids: Collection[str]) -> bool:
    return provider.uuid in uuids or provider.root_uuid in uuids
