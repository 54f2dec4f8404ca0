"""Usage of a project by resource and AZ.

Our own Placement answers it by provider in one request for the project, so each scrape has figures of one moment, and
its cost does not depend on the number of other projects. Where AZs are is remembered for a while. From other Placements
comes the sum (`GET /usages`), and what allocations say of where it is.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from limes.backends import ANY_AZ, UNKNOWN_AZ, AZUsage, BackendContext, Unit
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.reports import within
from limes_plugins.placement.allocations import Allocations
from limes_plugins.placement.params import ServiceParams
from limes_plugins.placement.uses import UsageGroups, Usages, Use, read_usages
from limes_plugins.placement.zones import KnownProviders, Provider, Zones

PerAZ = Mapping[str, AZUsage]
BILLED = ("consumer_type", "usage", "resource_provider.id")
"""The attributes of consumers that a price may depend on. One consumer may use several providers."""


class Usage:
    """Asks Placement. Safe to use from many threads."""

    def __init__(self, client: ServiceClient, params: ServiceParams, context: BackendContext) -> None:
        self._client = client
        self._classes = {name: resource.class_ for name, resource in params.resources.items()}
        self._units = {name: resource.unit for name, resource in params.resources.items()}
        self._accepts = params.consumer_types.accepts
        self._accepts_all = params.consumer_types.accepts_all
        self._subresources = params.with_subresources
        zones = Zones(params, context)
        self._elsewhere = UNKNOWN_AZ if zones.known else ANY_AZ
        self._is_split = zones.known or params.with_subresources
        self._providers = KnownProviders(client, zones, params.max_age)
        self._groups = UsageGroups(client, params.max_age)
        self._allocations = (
            Allocations(client, requests=params.requests_per_scrape, max_age=params.max_age)
            if params.read_allocations
            else None
        )

    def of(self, project_id: str) -> Mapping[str, PerAZ]:
        """By resource name. Raises `BackendError`."""
        if self._is_split and self._groups.exist():
            return self._split(self._groups.of(project_id, by_consumer=self._subresources), None)
        usages = read_usages(self._client, project_id, by_type=not self._accepts_all)
        if self._is_split and self._allocations is not None:
            return self._split(self._allocations.of(project_id, usages), usages)
        return {name: {ANY_AZ: AZUsage(self._total(usages, class_))} for name, class_ in self._classes.items()}

    def _split(self, uses: Iterable[Use], usages: Usages | None) -> Mapping[str, PerAZ]:
        """Returns where the uses are. `usages` are the sums, if the uses may not be all."""
        counted = [use for use in uses if self._accepts(use.consumer_type)]
        providers = self._providers.of({use.provider for use in counted})
        return {
            name: self._per_az(name, counted, providers, None if usages is None else self._total(usages, class_))
            for name, class_ in self._classes.items()
        }

    def _per_az(
        self, name: str, uses: Iterable[Use], providers: Mapping[str, Provider], total: int | None
    ) -> dict[str, AZUsage]:
        used: dict[str, int] = defaultdict(int)
        consumers: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for use in uses:
            amount = use.amounts.get(self._classes[name], 0)
            if not amount:
                continue
            provider = providers.get(use.provider)
            az = self._elsewhere if provider is None else provider.az
            used[az] += amount
            if self._subresources:
                consumers[az].append(_subresource(use, provider, az, amount, self._units[name]))
        parts = used if total is None else within(total, used, self._elsewhere)
        return {
            az: AZUsage(amount, subresources=tuple(sorted(consumers[az], key=lambda entry: str(entry["id"]))))
            for az, amount in parts.items()
        }

    def _total(self, usages: Usages, class_: str) -> int:
        return sum(amounts.get(class_, 0) for type_, amounts in usages.items() if self._accepts(type_))


def _subresource(use: Use, provider: Provider | None, az: str, amount: int, unit: Unit) -> Mapping[str, Any]:
    return {
        "id": use.consumer,
        "consumer_type": use.consumer_type,
        "availability_zone": az,
        "resource_provider": {"id": use.provider, **({} if provider is None else {"name": provider.name})},
        "usage": amount if unit is Unit.COUNT else {"value": amount, "unit": unit.value},
    }
