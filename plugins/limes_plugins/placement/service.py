"""Usage and quota of a project."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from limes import backends
from limes_plugins.openstack.answers import whole_number
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.keystone_limits import KeystoneLimits
from limes_plugins.placement.params import ServiceParams, check_zones
from limes_plugins.placement.usage import BILLED, Usage
from limes_plugins.placement.uses import placement_client

_NO_EXTENSION = "only Limes's own Placement has the quota extension: use it, or quota.store: keystone_limits"


class QuotaStore(Protocol):
    """Keeps the backend quota of projects, by resource name. Safe to use from many threads."""

    tracks_quota: bool

    def read(self, project_id: str) -> Mapping[str, backends.BackendQuota]:
        """Returns what is in force for every resource. Raises `BackendError`."""
        ...

    def write(self, project_id: str, quotas: Mapping[str, int]) -> None:
        """Puts the quota of every resource in force; idempotent. Raises `BackendError`."""
        ...


class NoQuotas:
    """For resources that track no quota."""

    tracks_quota = False

    def read(self, project_id: str) -> Mapping[str, backends.BackendQuota]:
        """None."""
        return {}

    def write(self, project_id: str, quotas: Mapping[str, int]) -> None:
        """There is nothing to write."""


class PlacementQuotas:
    """The quota extension of our Placement: `/quotas/{project id}`, by resource class.

    A PUT replaces all limits of a project. Those of other resource classes, which may belong to another service, are
    read before and written back. If two services write at the very same moment, one of them may put an older limit of
    the other one back; the next scrape finds that, and it is written again.
    """

    tracks_quota = True

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


class PlacementService(backends.QuotaBackend):
    """Resources that are resource classes."""

    def __init__(self, params: ServiceParams, context: backends.BackendContext) -> None:
        check_zones(params, context)
        self._client = placement_client(params, context)
        self._classes = {name: resource.class_ for name, resource in params.resources.items()}
        self._store = self._make_store(params, context)
        self._service = backends.ServiceDef(
            context.name,
            params.area,
            {
                name: replace(
                    resource.definition(name, tracks_quota=self._store.tracks_quota, az_aware=params.knows_zones),
                    billed_attributes=BILLED if params.with_subresources else (),
                )
                for name, resource in params.resources.items()
            },
        )
        self._usage = Usage(self._client, params, context, self._service)

    def _make_store(self, params: ServiceParams, context: backends.BackendContext) -> QuotaStore:
        if params.quota.store == "placement":
            return PlacementQuotas(self._client, self._classes)
        if params.quota.store == "keystone_limits":
            names = {name: f"class:{class_}" for name, class_ in self._classes.items()}
            return KeystoneLimits(params.quota, names, context)
        return NoQuotas()

    def describe(self) -> backends.ServiceDef:
        """Returns the configured resources."""
        return self._service

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """One request for usage and one or two for quota; more where usage is split by the allocations."""
        usage = self._usage.of(project.id)
        quotas = self._store.read(project.id)
        return backends.UsageReport(
            {name: backends.ResourceUsage(per_az, quotas.get(name)) for name, per_az in usage.items()}
        )

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        """Writes all quotas into the configured store."""
        self._store.write(project.id, quotas)
