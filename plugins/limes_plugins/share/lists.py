"""Shares, snapshots and share networks of all projects, as Manila lists them."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from limes.backends import UNKNOWN_AZ, BackendError
from limes_plugins.openstack.amounts import whole_number
from limes_plugins.openstack.client import ServiceClient

Place = tuple[str, str]
"""Share type and AZ."""


@dataclass(frozen=True, slots=True)
class Listed:
    """What a project has."""

    counts: Mapping[str, Counter[Place]] = field(
        default_factory=lambda: {
            "shares": Counter(),
            "share_capacity": Counter(),
            "share_snapshots": Counter(),
            "snapshot_capacity": Counter(),
        }
    )
    """Numbers, and sizes in GiB, by resource."""
    networks: list[str] = field(default_factory=list)
    """Ids of share networks."""

    def add(self, count: str, capacity: str, place: Place, size: int) -> None:
        """Takes another one into account."""
        self.counts[count][place] += 1
        self.counts[capacity][place] += size


def read_lists(client: ServiceClient, page_size: int) -> Mapping[str, Listed]:
    """Everything, by project id. Raises `BackendError`."""
    query = {"all_tenants": "1", "limit": page_size}
    listed: dict[str, Listed] = defaultdict(Listed)
    places: dict[str, Place] = {}
    for share in client.offset_pages("/shares/detail", "shares", query):
        place = (str(share.get("share_type_name") or ""), str(share.get("availability_zone") or UNKNOWN_AZ))
        places[_text(share, "id")] = place
        listed[_text(share, "project_id")].add("shares", "share_capacity", place, _size(share))
    for snapshot in client.offset_pages("/snapshots/detail", "snapshots", query):
        # a snapshot is where its share is, and of its type
        place = places.get(_text(snapshot, "share_id"), ("", UNKNOWN_AZ))
        listed[_text(snapshot, "project_id")].add("share_snapshots", "snapshot_capacity", place, _size(snapshot))
    for network in client.offset_pages("/share-networks/detail", "share_networks", query):
        listed[_text(network, "project_id")].networks.append(_text(network, "id"))
    return listed


def _size(entry: Mapping[str, Any]) -> int:
    return whole_number(entry.get("size"), f"the size of {entry.get('id')} in Manila")


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise BackendError(f"an entry of Manila's lists has no {key}")
    return value
