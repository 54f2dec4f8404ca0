"""Usage and quota of a project."""

from collections.abc import Mapping

from limes.backends import (
    BackendContext,
    ProjectInfo,
    QuotaBackend,
    ResourceUsage,
    ServiceDef,
    UsageReport,
)
from limes_plugins.openstack.keystone_limits import KeystoneLimits
from limes_plugins.placement.connection import placement_client
from limes_plugins.placement.params import ServiceParams
from limes_plugins.placement.quotas import NoQuotas, PlacementQuotas, QuotaStore
from limes_plugins.placement.usage import Usage
from limes_plugins.placement.zone_params import check_zones


class PlacementService(QuotaBackend):
    """Resources that are resource classes."""

    def __init__(self, params: ServiceParams, context: BackendContext) -> None:
        check_zones(params, context)
        self._client = placement_client(params, context)
        self._classes = {name: resource.class_ for name, resource in params.resources.items()}
        self._store = self._make_store(params, context)
        self._service = ServiceDef(
            context.name,
            params.area,
            {
                name: resource.definition(name, tracks_quota=self._store.tracks_quota, az_aware=params.knows_zones)
                for name, resource in params.resources.items()
            },
        )
        self._usage = Usage(self._client, params, context, self._service)

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
        """One request for usage and one or two for quota; more where usage is split by the allocations."""
        usage = self._usage.of(project.id)
        quotas = self._store.read(project.id)
        return UsageReport({name: ResourceUsage(per_az, quotas.get(name)) for name, per_az in usage.items()})

    def set_quota(self, project: ProjectInfo, quotas: Mapping[str, int]) -> None:
        """Writes all quotas into the configured store."""
        self._store.write(project.id, quotas)
