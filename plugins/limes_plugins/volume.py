"""The plugin `volumev2`, as capacitor also `cinder`: Cinder's volumes and snapshots. docs/plugins/volumev2.md.

Usage is counted from the lists of volumes and snapshots, because Cinder's own counts know no AZs. A scrape takes one
request for quota, and now and then the lists of all projects.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Struct, field
from pydantic import Field, model_validator

from limes import backends
from limes_plugins.openstack import client, reports
from limes_plugins.openstack.params import ConnectionParams, Text, once_each

_KEYS = {"capacity": "gigabytes", "snapshots": "snapshots", "volumes": "volumes"}
"""Cinder's names of the quotas of each volume type."""
_BILLED = ("size",)
"""The attributes of volumes and snapshots that a price may depend on. Their type is that of the resource."""


class VolumeParams(ConnectionParams):
    """Of a service. A configured `endpoint` ends in `/v3`, or `/v3/` and the id of the user's project."""

    area: Text = "storage"
    volume_types: Annotated[tuple[Text, ...], backends.NOT_EMPTY, once_each("volume type")]
    """By Cinder's names. The resources of the first one have no suffix, and get what is of no known type."""
    with_volume_subresources: bool = False
    with_snapshot_subresources: bool = False
    max_age: backends.SecondsOrZero = Field(default=120, le=3600)
    """For how long the lists may be used once they are read; 0 reads the project's own ones each time."""
    page_size: int = Field(default=1000, ge=1)


class PoolTypeParams(backends.Params):
    """Which pools are for volumes of a type."""

    volume_backend_name: Text
    """As the pools report it."""
    default: bool = False
    """Whether the resource is just `capacity`, because the type is the first one of the service."""


class CinderCapacityParams(ConnectionParams):
    service: Text = "volumev2"
    """The service type whose capacity this is."""
    volume_types: Annotated[dict[Text, PoolTypeParams], backends.NOT_EMPTY]
    with_subcapacities: bool = False

    @model_validator(mode="after")
    def _at_most_one_default(self) -> "CinderCapacityParams":
        if sum(volume_type.default for volume_type in self.volume_types.values()) > 1:
            raise ValueError("volume_types: more than one is the default")
        return self


_VOLUME_OWNER = "os-vol-tenant-attr:tenant_id"
_SNAPSHOT_OWNER = "os-extended-snapshot-attributes:project_id"


class Stored(Struct, frozen=True):
    """A volume or a snapshot."""

    id: str
    name: str
    status: str
    size: int
    """In GiB."""
    volume_type: str
    az: str
    volume_id: str = ""
    """Of a snapshot."""


class Listed(Struct, frozen=True):
    volumes: list[Stored] = field(default_factory=list)
    snapshots: list[Stored] = field(default_factory=list)


class VolumeService(reports.FixedService):
    """Three resources for each volume type."""

    def __init__(self, params: VolumeParams, context: backends.BackendContext) -> None:
        self._params = params
        self._client = client.ServiceClient(context, params, name="Cinder", service_type="block-storage")
        self._all = reports.Snapshot(lambda: self._read({}), params.max_age)
        self._shown = {"volumes": params.with_volume_subresources, "snapshots": params.with_snapshot_subresources}
        definitions = [
            backends.ResourceDef(
                self._name(kind, type_),
                backends.Unit.GIB if kind == "capacity" else backends.Unit.COUNT,
                category=type_,
                az_aware=True,
                billed_attributes=_BILLED if self._shown.get(kind) else (),
            )
            for type_ in params.volume_types
            for kind in _KEYS
        ]
        super().__init__(context, params.area, definitions)

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        by_project = self._all.get() if self._params.max_age else self._read({"project_id": project.id})
        listed = by_project.get(project.id) or Listed()
        path = f"/os-quota-sets/{project.id}"
        limits = self._client.get(path).get("quota_set")
        resources: dict[str, backends.ResourceUsage] = {}
        for type_ in self._params.volume_types:
            volumes = [volume for volume in listed.volumes if self._type_of(volume) == type_]
            snapshots = [snapshot for snapshot in listed.snapshots if self._type_of(snapshot) == type_]
            counted = {"capacity": volumes + snapshots, "volumes": volumes, "snapshots": snapshots}
            for kind, items in counted.items():
                per_az = {az: self._usage(kind, some) for az, some in _by_az(items).items()}
                quota = _limit(limits, f"{_KEYS[kind]}_{type_}", path)
                resources[self._name(kind, type_)] = backends.ResourceUsage(per_az, quota)
        return backends.UsageReport(resources)

    def _usage(self, kind: str, items: Sequence[Stored]) -> backends.AZUsage:
        if kind == "capacity":
            return backends.AZUsage(sum(item.size for item in items))
        return backends.AZUsage(len(items), subresources=tuple(map(_subresource, items)) if self._shown[kind] else ())

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        """One request. The quotas over all types are the sums."""
        document: dict[str, int] = {}
        for kind, key in _KEYS.items():
            of_types = {f"{key}_{type_}": quotas[self._name(kind, type_)] for type_ in self._params.volume_types}
            document |= of_types | {key: sum(of_types.values())}
        self._client.put(f"/os-quota-sets/{project.id}", {"quota_set": document})

    def _read(self, only: Mapping[str, str]) -> Mapping[str, Listed]:
        query = {"all_tenants": "1", "limit": self._params.page_size, **only}
        listed: dict[str, Listed] = defaultdict(Listed)
        volumes: dict[str, Stored] = {}
        for entry in self._client.pages("/volumes/detail", "volumes", query):
            owner, az = _text(entry, _VOLUME_OWNER), str(entry.get("availability_zone") or backends.UNKNOWN_AZ)
            volume = _stored(entry, "volume", str(entry.get("volume_type") or ""), az)
            volumes[volume.id] = volume
            listed[owner].volumes.append(volume)
        for entry in self._client.pages("/snapshots/detail", "snapshots", query):
            # a snapshot is in the AZ of its volume, and of its type
            owner, volume_id = _text(entry, _SNAPSHOT_OWNER), _text(entry, "volume_id")
            origin = volumes.get(volume_id)
            type_, az = (origin.volume_type, origin.az) if origin else ("", backends.UNKNOWN_AZ)
            listed[owner].snapshots.append(_stored(entry, "snapshot", type_, az, volume_id))
        return listed

    def _name(self, kind: str, volume_type: str) -> str:
        return reports.resource_name(kind, volume_type, is_first=volume_type == self._params.volume_types[0])

    def _type_of(self, item: Stored) -> str:
        return item.volume_type if item.volume_type in self._params.volume_types else self._params.volume_types[0]


def _limit(limits: Any, key: str, path: str) -> backends.BackendQuota:
    if not isinstance(limits, dict) or key not in limits:
        raise backends.BackendError(f"GET {path}: Cinder has no quota {key!r} (is there such a volume type?)")
    return client.quota_of(limits[key], f"GET {path}: the quota {key}")


def _subresource(item: Stored) -> Mapping[str, Any]:
    size = {"value": item.size, "unit": backends.Unit.GIB.value}
    shown = {"id": item.id, "name": item.name, "status": item.status, "size": size}
    return {**shown, **({"volume_id": item.volume_id} if item.volume_id else {"availability_zone": item.az})}


def _stored(entry: Mapping[str, Any], kind: str, volume_type: str, az: str, volume_id: str = "") -> Stored:
    id_, name, status = _text(entry, "id"), str(entry.get("name") or ""), _text(entry, "status")
    size = client.whole_number(entry.get("size"), f"the size of {kind} {entry.get('id')}")
    return Stored(id_, name, status, size, volume_type, az, volume_id)


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise backends.BackendError(
            f"an entry of Cinder's lists has no {key} (is the user of Limes an administrator there?)"
        )
    return value


def _by_az(stored: Sequence[Stored]) -> Mapping[str, list[Stored]]:
    stored_by_az: dict[str, list[Stored]] = defaultdict(list)
    for entry in stored:
        stored_by_az[entry.az].append(entry)
    return stored_by_az


class CinderCapacity(backends.CapacityBackend):
    """Two requests: the pools, and the services, which say in which AZ a pool is."""

    def __init__(self, params: CinderCapacityParams, context: backends.BackendContext) -> None:
        self._params = params
        self._client = client.ServiceClient(context, params, name="Cinder", service_type="block-storage")
        self._names = {
            reports.resource_name("capacity", type_, is_first=volume_type.default): volume_type.volume_backend_name
            for type_, volume_type in params.volume_types.items()
        }

    def resources(self) -> Collection[backends.Ref]:
        return [(self._params.service, name) for name in self._names]

    def report_capacity(self) -> backends.CapacityReport:
        """Returns sums over pools. A type without any pool has no capacity."""
        zones = reports.zones_of(self._client.pages("/os-services", "services", {"binary": "cinder-volume"}))
        pools = list(self._client.pages("/scheduler-stats/get_pools", "pools", {"detail": "true"}))
        resources = {}
        for name, backend in self._names.items():
            per_az: dict[str, list[dict[str, Any]]] = defaultdict(list)
            for pool in pools:
                capabilities = reports.capabilities_of(pool)
                if capabilities.get("volume_backend_name") == backend:
                    state = (capabilities.get("custom_attributes") or {}).get("cinder_state")
                    shown = reports.subcapacity(pool, zones, "cinder_state", state)
                    per_az[shown["az"]].append(shown)
            resources[name] = {az: self._sum(shown) for az, shown in sorted(per_az.items())}
        return backends.CapacityReport({self._params.service: resources})

    def _sum(self, pools: list[dict[str, Any]]) -> backends.AZCapacity:
        counted = [pool for pool in pools if not pool["exclusion_reason"]]
        return backends.AZCapacity(
            sum(pool["capacity_gib"] for pool in counted),
            sum(pool["usage_gib"] for pool in counted),
            tuple(pools) if self._params.with_subcapacities else (),
        )


plugin = backends.Plugin(
    "Capacity, volumes and snapshots of Cinder, by volume type.",
    quota=backends.Offer(VolumeParams, VolumeService),
    capacity=backends.Offer(CinderCapacityParams, CinderCapacity),
)
