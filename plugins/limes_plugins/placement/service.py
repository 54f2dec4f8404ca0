"""Usage and quota of a project."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from limes import backends
from limes_plugins.openstack.answers import whole_number
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.keystone_limits import KeystoneLimits
from limes_plugins.openstack.reports import FixedService
from limes_plugins.placement.params import ServiceParams, check_zones
from limes_plugins.placement.usage import BILLED, Usage
from limes_plugins.placement.uses import placement_client

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
        limits = {
            class_: limit for class_, limit in self._limits(project_id).items() if limit is not backends.UNLIMITED
        }
        limits.update({self._classes[name]: quota for name, quota in quotas.items()})
        document = {class_: {"limit": limit} for class_, limit in sorted(limits.items())}
        self._client.put(f"/quotas/{project_id}", {"quotas": document})

    def _limits(self, project_id: str) -> dict[str, backends.BackendQuota]:
        quotas: Any = self._client.get(f"/quotas/{project_id}", missing=_NO_EXTENSION).get("quotas")
        if not isinstance(quotas, dict):
            raise backends.BackendError("GET /quotas: expected an object 'quotas'")
        return {class_: self._limit(class_, entry) for class_, entry in quotas.items()}

    def _limit(self, class_: str, entry: Any) -> backends.BackendQuota:
        if not isinstance(entry, dict) or "limit" not in entry:
            raise backends.BackendError(f"GET /quotas: resource class {class_}: expected an object with 'limit'")
        if entry["limit"] is None:
            return backends.UNLIMITED
        return whole_number(entry["limit"], f"GET /quotas: the limit of {class_}")


class PlacementService(FixedService):
    """Resources that are resource classes."""

    def __init__(self, params: ServiceParams, context: backends.BackendContext) -> None:
        check_zones(params, context)
        client = placement_client(params, context)
        classes = {name: resource.class_ for name, resource in params.resources.items()}
        self._store: PlacementQuotas | KeystoneLimits | None = None
        if params.quota.store == "placement":
            self._store = PlacementQuotas(client, classes)
        elif params.quota.store == "keystone_limits":
            names = {name: f"class:{class_}" for name, class_ in classes.items()}
            self._store = KeystoneLimits(params.quota, names, context)
        definitions = [
            resource.definition(name, tracks_quota=self._store is not None, az_aware=params.knows_zones)
            for name, resource in params.resources.items()
        ]
        billed = BILLED if params.with_subresources else ()
        super().__init__(context, params.area, [replace(one, billed_attributes=billed) for one in definitions])
        self._usage = Usage(client, params, context)

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """One request for usage and one or two for quota; more where usage is split by the allocations."""
        usage = self._usage.of(project.id)
        quotas = self._store.read(project.id) if self._store is not None else {}
        return backends.UsageReport(
            {name: backends.ResourceUsage(per_az, quotas.get(name)) for name, per_az in usage.items()}
        )

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        """Writes all quotas into the configured store."""
        if self._store is not None:
            self._store.write(project.id, quotas)
