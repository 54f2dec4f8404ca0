"""Volumes and snapshots, as Cinder lists them: for all projects at once, or for one."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from limes.backends import UNKNOWN_AZ, BackendError
from limes_plugins.openstack.answers import whole_number
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.snapshot import Snapshot

_VOLUME_OWNER = "os-vol-tenant-attr:tenant_id"
_SNAPSHOT_OWNER = "os-extended-snapshot-attributes:project_id"


@dataclass(frozen=True, slots=True)
class Stored:
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


@dataclass(frozen=True, slots=True)
class Listed:
    """What a project has."""

    volumes: list[Stored] = field(default_factory=list)
    snapshots: list[Stored] = field(default_factory=list)


class VolumeLists:
    """Reads the lists when they are needed, and keeps those of all projects for `max_age` seconds."""

    def __init__(self, client: ServiceClient, max_age: float, page_size: int) -> None:
        self._client = client
        self._page_size = page_size
        self._max_age = max_age
        self._all = Snapshot(lambda: self._read({}), max_age)

    def of_project(self, project_id: str) -> Listed:
        """Returns what the project has. Raises `BackendError`."""
        by_project = self._all.get() if self._max_age else self._read({"project_id": project_id})
        return by_project.get(project_id) or Listed()

    def _read(self, only: Mapping[str, str]) -> Mapping[str, Listed]:
        query = {"all_tenants": "1", "limit": self._page_size, **only}
        listed: dict[str, Listed] = defaultdict(Listed)
        volumes: dict[str, Stored] = {}
        for entry in self._client.pages("/volumes/detail", "volumes", query):
            owner, volume = _text(entry, _VOLUME_OWNER), _volume(entry)
            volumes[volume.id] = volume
            listed[owner].volumes.append(volume)
        for entry in self._client.pages("/snapshots/detail", "snapshots", query):
            listed[_text(entry, _SNAPSHOT_OWNER)].snapshots.append(_snapshot(entry, volumes))
        return listed


def _volume(entry: Mapping[str, Any]) -> Stored:
    return Stored(
        id=_text(entry, "id"),
        name=str(entry.get("name") or ""),
        status=_text(entry, "status"),
        size=whole_number(entry.get("size"), f"the size of volume {entry.get('id')}"),
        volume_type=str(entry.get("volume_type") or ""),
        az=str(entry.get("availability_zone") or UNKNOWN_AZ),
    )


def _snapshot(entry: Mapping[str, Any], volumes: Mapping[str, Stored]) -> Stored:
    """Reads a snapshot, which is in the AZ of its volume, and of its type."""
    volume = volumes.get(_text(entry, "volume_id"))
    return Stored(
        id=_text(entry, "id"),
        name=str(entry.get("name") or ""),
        status=_text(entry, "status"),
        size=whole_number(entry.get("size"), f"the size of snapshot {entry.get('id')}"),
        volume_type=volume.volume_type if volume else "",
        az=volume.az if volume else UNKNOWN_AZ,
        volume_id=_text(entry, "volume_id"),
    )


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise BackendError(f"an entry of Cinder's lists has no {key} (is the user of Limes an administrator there?)")
    return value


def by_az(stored: Sequence[Stored]) -> Mapping[str, list[Stored]]:
    """Returns the same, by AZ."""
    stored_by_az: dict[str, list[Stored]] = defaultdict(list)
    for entry in stored:
        stored_by_az[entry.az].append(entry)
    return stored_by_az
