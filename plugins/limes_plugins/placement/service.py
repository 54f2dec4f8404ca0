"""Usage and quota of a project.

`GET /usages` sums a project's usage over all providers, and knows no AZs: to split it, all allocations of all of the
project's consumers would have to be read, one request each. One request a project is worth more than that split, so
all usage is in AZ `any`.
"""

from collections.abc import Mapping

from limes.backends import (
    ANY_AZ,
    AZUsage,
    BackendContext,
    BackendError,
    ProjectInfo,
    QuotaBackend,
    ResourceUsage,
    ServiceDef,
    UsageReport,
)
from limes_plugins.openstack.amounts import whole_number
from limes_plugins.openstack.keystone_limits import KeystoneLimits
from limes_plugins.placement.connection import placement_client
from limes_plugins.placement.params import ServiceParams
from limes_plugins.placement.quotas import NoQuotas, PlacementQuotas, QuotaStore


class PlacementService(QuotaBackend):
    """Resources that are resource classes."""

    def __init__(self, params: ServiceParams, context: BackendContext) -> None:
        self._client = placement_client(params, context)
        self._classes = {name: resource.class_ for name, resource in params.resources.items()}
        self._accepts = params.consumer_types.accepts
        self._store = self._make_store(params, context)
        self._service = ServiceDef(
            context.name,
            params.area,
            {
                name: resource.definition(name, tracks_quota=self._store.tracks_quota)
                for name, resource in params.resources.items()
            },
        )

    def _make_store(self, params: ServiceParams, context: BackendContext) -> QuotaStore:
        if params.quota.store == "placement":
            return PlacementQuotas(self._client, self._classes)
        if params.quota.store == "keystone_limits":
            names = {name: f"class:{class_}" for name, class_ in self._classes.items()}
            return KeystoneLimits(params.quota, names, context)
        return NoQuotas()

    def describe(self) -> ServiceDef:
        """The configured resources."""
        return self._service

    def report_usage(self, project: ProjectInfo) -> UsageReport:
        """One request for usage, and one or two for quota."""
        usage = self._usage(project.id)
        quotas = self._store.read(project.id)
        return UsageReport(
            {
                name: ResourceUsage({ANY_AZ: AZUsage(usage.get(class_, 0))}, quotas.get(name))
                for name, class_ in self._classes.items()
            }
        )

    def set_quota(self, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        """Writes all quotas into the configured store."""
        self._store.write(project.id, quotas)

    def _usage(self, project_id: str) -> Mapping[str, int]:
        """Usage by resource class, over the consumer types that count."""
        by_type = self._client.get("/usages", {"project_id": project_id}).get("usages")
        if not isinstance(by_type, dict):
            raise BackendError("GET /usages: expected an object 'usages'")
        total: dict[str, int] = dict.fromkeys(self._classes.values(), 0)
        for consumer_type, amounts in by_type.items():
            if not isinstance(amounts, dict):
                raise BackendError(f"GET /usages: consumer type {consumer_type}: expected an object")
            if self._accepts(consumer_type):
                for class_ in total:
                    what = f"GET /usages: the usage of {class_} by consumer type {consumer_type}"
                    total[class_] += whole_number(amounts.get(class_, 0), what)
        return total
