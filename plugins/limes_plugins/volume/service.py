"""Usage and quota of a project in Cinder.

Usage is counted from the lists of volumes and snapshots, because Cinder's own counts know no AZs. A scrape takes one
request for quota, and now and then the lists of all projects.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from limes import backends
from limes_plugins.openstack.answers import quota_of
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.params import ConnectionParams, Text
from limes_plugins.volume.lists import Stored, VolumeLists, by_az

_KEYS = {"capacity": "gigabytes", "snapshots": "snapshots", "volumes": "volumes"}
"""Cinder's names of what there is for each volume type."""
_BILLED = ("size",)
"""The attributes of volumes and snapshots that a price may depend on. Their type is that of the resource."""


def _once_each(names: tuple[str, ...]) -> tuple[str, ...]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"the volume type {twice[0]!r} is given more than once")
    return names


class VolumeParams(ConnectionParams):
    """Of a service. A configured `endpoint` ends in `/v3`, or `/v3/` and the id of the user's project."""

    area: Text = "storage"
    volume_types: Annotated[tuple[Text, ...], backends.NOT_EMPTY, AfterValidator(_once_each)]
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
    """Of a capacitor."""

    service: Text = "volumev2"
    """The service type whose capacity this is."""
    volume_types: Annotated[dict[Text, PoolTypeParams], backends.NOT_EMPTY]
    with_subcapacities: bool = False

    @model_validator(mode="after")
    def _at_most_one_default(self) -> "CinderCapacityParams":
        if sum(volume_type.default for volume_type in self.volume_types.values()) > 1:
            raise ValueError("volume_types: more than one is the default")
        return self


def resource_name(kind: str, volume_type: str, *, is_first: bool) -> str:
    """Such as `capacity` and, for other types than the first one, `capacity_ssd`."""
    return kind if is_first else f"{kind}_{volume_type}"


class VolumeService(backends.QuotaBackend):
    """Three resources for each volume type."""

    def __init__(self, params: VolumeParams, context: backends.BackendContext) -> None:
        self._client = ServiceClient(context, params, name="Cinder", service_type="block-storage")
        self._types = params.volume_types
        self._with_volumes = params.with_volume_subresources
        self._with_snapshots = params.with_snapshot_subresources
        self._lists = VolumeLists(self._client, params.max_age, params.page_size)
        shown = {"volumes": params.with_volume_subresources, "snapshots": params.with_snapshot_subresources}
        definitions = [
            backends.ResourceDef(
                self._name(kind, type_),
                unit,
                category=type_,
                az_aware=True,
                billed_attributes=_BILLED if shown.get(kind) else (),
            )
            for type_ in self._types
            for kind, unit in (
                ("capacity", backends.Unit.GIB),
                ("snapshots", backends.Unit.COUNT),
                ("volumes", backends.Unit.COUNT),
            )
        ]
        self._service = backends.ServiceDef(
            context.name, params.area, {definition.name: definition for definition in definitions}
        )

    def describe(self) -> backends.ServiceDef:
        """Returns the resources of the configured types."""
        return self._service

    def report_usage(self, project: backends.ProjectInfo) -> backends.UsageReport:
        """Counts what is listed."""
        listed = self._lists.of_project(project.id)
        path = f"/os-quota-sets/{project.id}"
        limits = self._client.get(path).get("quota_set")
        resources: dict[str, backends.ResourceUsage] = {}
        for type_ in self._types:
            volumes = [volume for volume in listed.volumes if self._type_of(volume) == type_]
            snapshots = [snapshot for snapshot in listed.snapshots if self._type_of(snapshot) == type_]
            counts = {
                "capacity": {
                    az: backends.AZUsage(sum(item.size for item in items))
                    for az, items in by_az(volumes + snapshots).items()
                },
                "volumes": {az: _counted(items, self._with_volumes) for az, items in by_az(volumes).items()},
                "snapshots": {az: _counted(items, self._with_snapshots) for az, items in by_az(snapshots).items()},
            }
            for kind, per_az in counts.items():
                quota = _limit(limits, f"{_KEYS[kind]}_{type_}", path)
                resources[self._name(kind, type_)] = backends.ResourceUsage(per_az, quota)
        return backends.UsageReport(resources)

    def set_quota(self, project: backends.ProjectInfo, quotas: Mapping[str, int]) -> None:
        """One request. The quotas over all types are the sums."""
        document: dict[str, int] = {}
        for kind, key in _KEYS.items():
            of_types = {f"{key}_{type_}": quotas[self._name(kind, type_)] for type_ in self._types}
            document |= of_types | {key: sum(of_types.values())}
        path = f"/os-quota-sets/{project.id}"
        self._client.put(path, {"quota_set": document})

    def _name(self, kind: str, volume_type: str) -> str:
        return resource_name(kind, volume_type, is_first=volume_type == self._types[0])

    def _type_of(self, item: Stored) -> str:
        return item.volume_type if item.volume_type in self._types else self._types[0]


def _limit(limits: Any, key: str, path: str) -> backends.BackendQuota:
    if not isinstance(limits, dict) or key not in limits:
        raise backends.BackendError(f"GET {path}: Cinder has no quota {key!r} (is there such a volume type?)")
    return quota_of(limits[key], f"GET {path}: the quota {key}")


def _counted(stored: Iterable[Stored], with_subresources: bool) -> backends.AZUsage:
    shown = list(stored)
    return backends.AZUsage(len(shown), subresources=tuple(map(_subresource, shown)) if with_subresources else ())


def _subresource(item: Stored) -> Mapping[str, Any]:
    size = {"value": item.size, "unit": backends.Unit.GIB.value}
    shown = {"id": item.id, "name": item.name, "status": item.status, "size": size}
    return {**shown, **({"volume_id": item.volume_id} if item.volume_id else {"availability_zone": item.az})}
