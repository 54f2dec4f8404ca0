"""Usage and quota of a project.

Our own Placement answers usage by provider in one request for the project, so each scrape has figures of one moment,
and its cost does not depend on the number of other projects. Where AZs are is remembered for a while. From other
Placements comes the sum (`GET /usages`), and what allocations say of where it is.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import structs

from limes import backends
from limes_plugins.openstack import keystone_limits, reports
from limes_plugins.openstack.client import ServiceClient, whole_number
from limes_plugins.placement.params import ServiceParams, check_zones
from limes_plugins.placement.uses import Allocations, UsageGroups, Usages, Use, placement_client, read_usages
from limes_plugins.placement.zones import KnownProviders, Provider, Zones

_NO_EXTENSION = "only Limes's own Placement has the quota extension: use it, or quota.store: keystone_limits"


class PlacementQuotas:
    """The quota extension of our Placement: `/quotas/{project id}`, by resource class.

    A PUT replaces all limits of a project. Those of other resource classes, which may belong to another service, are
    read before and written back. If two services write at the very same moment, one of them may put an older limit of
    the other one back; the next scrape finds that, and it is written again.
    """

    def __init__(self, client: ServiceClient, classes: Mapping[str, str]) -> None:
        self._client = client
        self._classes = classes

    def read(self, project_id: str) -> Mapping[str, backends.BackendQuota]:
        """Returns the limits. A class without one is unlimited."""
        limits = self._limits(project_id)
        return {name: limits.get(class_, backends.UNLIMITED) for name, class_ in self._classes.items()}

    def write(self, project_id: str, quotas: Mapping[str, int]) -> None:
        """One request to read the limits of other classes, one to write all of them."""
        limits = self._limits(project_id) | {self._classes[name]: quota for name, quota in quotas.items()}
        limited = sorted(name for name, limit in limits.items() if limit is not backends.UNLIMITED)
        document = {class_: {"limit": limits[class_]} for class_ in limited}
        self._client.put(f"/quotas/{project_id}", {"quotas": document})

    def _limits(self, project_id: str) -> dict[str, backends.BackendQuota]:
        quotas: Any = self._client.get(f"/quotas/{project_id}", missing=_NO_EXTENSION).get("quotas")
        if not isinstance(quotas, dict):
            raise backends.BackendError("GET /quotas: expected an object 'quotas'")
        limits: dict[str, backends.BackendQuota] = {}
        for class_, entry in quotas.items():
            if not isinstance(entry, dict) or "limit" not in entry:
                raise backends.BackendError(f"GET /quotas: resource class {class_}: expected an object with 'limit'")
            limit = entry["limit"]
            limits[class_] = (
                backends.UNLIMITED if limit is None else whole_number(limit, f"GET /quotas: the limit of {class_}")
            )
        return limits


PerAZ = Mapping[str, backends.AZUsage]
BILLED = ("consumer_type", "usage", "resource_provider.id")
"""The attributes of consumers that a price may depend on. One consumer may use several providers."""


class PlacementService(reports.FixedService):
    def __init__(self, params: ServiceParams, context: backends.BackendContext) -> None:
        check_zones(params, context)
        self._client = client = placement_client(params, context)
        self._classes = {name: resource.class_ for name, resource in params.resources.items()}
        self._units = {name: resource.unit for name, resource in params.resources.items()}
        self._consumer_types, self._subresources = params.consumer_types, params.with_subresources
        zones = Zones(params, context)
        self._elsewhere = backends.UNKNOWN_AZ if zones.known else backends.ANY_AZ
        self._is_split = zones.known or params.with_subresources
        self._providers = KnownProviders(client, zones, params.max_age)
        self._groups = UsageGroups(client, params.max_age)
        self._allocations = (
            Allocations(client, requests=params.requests_per_scrape, max_age=params.max_age)
            if params.read_allocations
            else None
        )
        self._store: PlacementQuotas | keystone_limits.KeystoneLimits | None = None
        if params.quota.store == "placement":
            self._store = PlacementQuotas(client, self._classes)
        elif params.quota.store == "keystone_limits":
            names = {name: f"class:{class_}" for name, class_ in self._classes.items()}
            self._store = keystone_limits.KeystoneLimits(params.quota, names, context)
        definitions = [
            resource.definition(name, tracks_quota=self._store is not None, az_aware=params.knows_zones)
            for name, resource in params.resources.items()
        ]
        billed = BILLED if params.with_subresources else ()
        super().__init__(context, params.area, [structs.replace(one, billed_attributes=billed) for one in definitions])

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """One request for usage and one or two for quota; more where usage is split by the allocations."""
        usage = self._usage(project.id)
        quotas = self._store.read(project.id) if self._store is not None else {}
        return backends.UsageReport(
            {name: backends.ResourceUsage(per_az, quotas.get(name)) for name, per_az in usage.items()}
        )

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        if self._store is not None:
            self._store.write(project.id, quotas)

    def _usage(self, project_id: str) -> Mapping[str, PerAZ]:
        if self._is_split and self._groups.exist():
            return self._split(self._groups.of(project_id, by_consumer=self._subresources), None)
        usages = read_usages(self._client, project_id, by_type=not self._consumer_types.accepts_all)
        if self._is_split and self._allocations is not None:
            return self._split(self._allocations.of(project_id, usages), usages)
        return {
            name: {backends.ANY_AZ: backends.AZUsage(self._total(usages, class_))}
            for name, class_ in self._classes.items()
        }

    def _split(self, uses: Iterable[Use], usages: Usages | None) -> Mapping[str, PerAZ]:
        """Returns where the uses are. `usages` are the sums, if the uses may not be all."""
        counted = [use for use in uses if self._consumer_types.accepts(use.consumer_type)]
        providers = self._providers.of({use.provider for use in counted})
        return {
            name: self._per_az(name, counted, providers, None if usages is None else self._total(usages, class_))
            for name, class_ in self._classes.items()
        }

    def _per_az(
        self, name: str, uses: Iterable[Use], providers: Mapping[str, Provider], total: int | None
    ) -> dict[str, backends.AZUsage]:
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
        parts = used if total is None else reports.within(total, used, self._elsewhere)
        return {
            az: backends.AZUsage(amount, subresources=tuple(sorted(consumers[az], key=lambda entry: str(entry["id"]))))
            for az, amount in parts.items()
        }

    def _total(self, usages: Usages, class_: str) -> int:
        return sum(amounts.get(class_, 0) for type_, amounts in usages.items() if self._consumer_types.accepts(type_))


def _subresource(use: Use, provider: Provider | None, az: str, amount: int, unit: backends.Unit) -> Mapping[str, Any]:
    return {
        "id": use.consumer,
        "consumer_type": use.consumer_type,
        "availability_zone": az,
        "resource_provider": {"id": use.provider, **({} if provider is None else {"name": provider.name})},
        "usage": amount if unit is backends.Unit.COUNT else {"value": amount, "unit": unit.value},
    }
