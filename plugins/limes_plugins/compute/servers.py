"""Nova's servers, with what they use and where they are."""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from limes.backends import UNKNOWN_AZ, BackendError
from limes_plugins.compute.params import HypervisorTypeRule
from limes_plugins.openstack.client import ServiceClient, whole_number
from limes_plugins.openstack.reports import Snapshot

_PATH = "/servers/detail"

Describe = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
"""What reports show of a server as Nova lists it, if they are to show anything."""

log = logging.getLogger(__name__)
_OS_TYPES = ("os_type", "vmware_ostype", "os_distro")
"""The properties of an image that tell what runs on it; the first that is there counts."""
_PAUSE = 60.0
"""Seconds for which Glance is left alone after it did not answer."""
_UNKNOWN = "unknown"


class Server(Struct, frozen=True):
    """One server. Amounts are those of the flavor that it was made with: RAM in MiB."""

    project_id: str
    az: str
    flavor: str
    cores: int
    ram: int
    attributes: Mapping[str, Any] | None
    """What reports show of it, if they are to."""


class Servers:
    """The servers of projects: from a list of all, or from a list for each project."""

    def __init__(
        self, client: ServiceClient, *, together: bool, max_age: float, page_size: int, describe: Describe | None
    ) -> None:
        self._client, self._together, self._page_size = client, together, page_size
        self._describe = describe or _nothing
        self._all = Snapshot(self._list_all, max_age)

    def of(self, project_id: str, expected: int) -> list[Server]:
        """Returns the servers of a project. If the list of all has not as many as `expected`, they have just changed,
        and are listed again for the project."""
        if expected == 0:
            return []
        if self._together:
            known = self._all.get().get(project_id, [])
            if len(known) == expected:
                return known
        return list(self._list({"project_id": project_id}))

    def _list_all(self) -> Mapping[str, list[Server]]:
        servers: dict[str, list[Server]] = defaultdict(list)
        for server in self._list({}):
            servers[server.project_id].append(server)
        return servers

    def _list(self, query: Mapping[str, str]) -> Iterable[Server]:
        query = {"all_tenants": "1", "limit": str(self._page_size), **query}
        for entry in self._client.pages(_PATH, "servers", query, self._client.deadline()):
            yield _parse(entry, self._describe)


def _parse(entry: Mapping[str, Any], describe: Describe) -> Server:
    where = f"GET {_PATH}: server {entry.get('id')}"
    project_id, flavor = entry.get("tenant_id"), entry.get("flavor")
    if not isinstance(project_id, str):
        raise BackendError(f"{where}: expected a tenant_id")
    if "flavor" not in entry and entry.get("status") == "UNKNOWN":
        # its cell is down, so Nova has nothing but ids. What it uses is in Nova's totals, or not known to Nova either.
        shown = None if describe is _nothing else {"id": entry.get("id"), "status": "UNKNOWN"}
        return Server(project_id, UNKNOWN_AZ, "", 0, 0, shown)
    if not isinstance(flavor, dict):
        raise BackendError(f"{where}: expected a flavor")
    return Server(
        project_id,
        az_of(entry),
        str(flavor.get("original_name")),
        whole_number(flavor.get("vcpus"), f"{where}: the number of cores"),
        whole_number(flavor.get("ram"), f"{where}: the RAM"),
        describe(entry),
    )


def az_of(entry: Mapping[str, Any]) -> str:
    return entry.get("OS-EXT-AZ:availability_zone") or UNKNOWN_AZ


def _nothing(entry: Mapping[str, Any]) -> None:
    """For reports without subresources."""


class ImageTypes:
    """The operating systems of images, asked of Glance once for each image. Safe to use from many threads. For Novas
    before microversion 2.98, which do not tell the properties of an image. Where Glance does not answer, the operating
    system is not known, and everything else is reported nevertheless."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._known: dict[str, str | None] = {}
        self._ask_again_at = 0.0

    def of(self, image_id: str) -> str | None:
        """Returns the operating system of an image; None if it is not known."""
        with self._lock:
            if image_id not in self._known and time.monotonic() >= self._ask_again_at:
                try:
                    # the properties are beside the other fields; without an image (it was deleted) there is no document
                    self._known[image_id] = _os_type(self._client.find(f"/v2/images/{image_id}"))
                except BackendError as error:
                    log.warning("the operating systems of servers are not known for now: %s", error)
                    self._ask_again_at = time.monotonic() + _PAUSE
            return self._known.get(image_id)

    def is_known(self, image_id: str) -> bool:
        with self._lock:
            return image_id in self._known


class Attributes:
    """Describes servers. `rules` say which type of hypervisor they run on."""

    def __init__(self, rules: Sequence[HypervisorTypeRule], images: ImageTypes) -> None:
        self._rules = rules
        self._images = images

    def __call__(self, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        flavor = entry["flavor"]
        optional = {"os_type": self._os_type(entry.get("image")), "hypervisor": None}
        if self._rules:
            optional["hypervisor"] = next((rule.type for rule in self._rules if rule.matches(flavor)), _UNKNOWN)
        return {
            "id": entry.get("id"),
            "name": entry.get("name"),
            "status": entry.get("status"),
            "availability_zone": az_of(entry),
            "metadata": entry.get("metadata") or {},
            "tags": entry.get("tags") or [],
            "flavor": flavor.get("original_name"),
            "vcpu": flavor.get("vcpus"),
            "ram": {"value": flavor.get("ram"), "unit": "MiB"},
            "disk": {"value": flavor.get("disk"), "unit": "GiB"},
            **{name: value for name, value in optional.items() if value is not None},
            # it may have one, so a reader that follows the server must not take this for a change
            **({} if self._knows_os_type(entry.get("image")) else {"os_type": None}),
        }

    def _os_type(self, image: Any) -> str | None:
        """Returns the operating system; a server without an image was made from a volume."""
        if not isinstance(image, dict):
            return None
        if "properties" in image:
            return _os_type(image["properties"])
        return self._images.of(image["id"]) if isinstance(image.get("id"), str) else None

    def _knows_os_type(self, image: Any) -> bool:
        """False only while Glance does not answer."""
        if not isinstance(image, dict) or "properties" in image or not isinstance(image.get("id"), str):
            return True
        return self._images.is_known(image["id"])


def _os_type(properties: Any) -> str | None:
    types = [properties[name] for name in _OS_TYPES if properties.get(name)] if isinstance(properties, dict) else []
    return str(types[0]) if types else None
