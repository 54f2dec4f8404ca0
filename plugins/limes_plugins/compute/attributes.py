"""What reports show of a server, beside what it uses."""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from limes.backends import BackendError
from limes_plugins.compute.params import HypervisorTypeRule
from limes_plugins.compute.servers import az_of
from limes_plugins.openstack.client import ServiceClient

log = logging.getLogger(__name__)

_OS_TYPES = ("os_type", "vmware_ostype", "os_distro")
"""The properties of an image that tell what runs on it; the first that is there counts."""
_PAUSE = 60.0
"""Seconds for which Glance is left alone after it did not answer."""
_UNKNOWN = "unknown"


class ImageTypes:
    """The operating systems of images, asked of Glance once for each image. Safe to use from many threads.

    For Novas before microversion 2.98, which do not tell the properties of an image. Where Glance does not answer, the
    operating system is not known, and everything else is reported nevertheless.
    """

    def __init__(self, client: ServiceClient) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._known: dict[str, str | None] = {}
        self._ask_again_at = 0.0

    def of(self, image_id: str) -> str | None:
        """The operating system of an image; None if it is not known."""
        with self._lock:
            if image_id not in self._known and time.monotonic() >= self._ask_again_at:
                self._ask(image_id)
            return self._known.get(image_id)

    def _ask(self, image_id: str) -> None:
        try:
            # the document has the properties beside the other fields; without an image (it was deleted) there is none
            self._known[image_id] = _os_type(self._client.find(f"/v2/images/{image_id}"))
        except BackendError as error:
            log.warning("the operating systems of servers are not known for now: %s", error)
            self._ask_again_at = time.monotonic() + _PAUSE


class Attributes:
    """Describes servers. `rules` say which type of hypervisor they run on."""

    def __init__(self, rules: Sequence[HypervisorTypeRule], images: ImageTypes) -> None:
        self._rules = rules
        self._images = images

    def __call__(self, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        """The attributes of a server as Nova lists it."""
        flavor = entry["flavor"]
        optional = {"os_type": self._os_type(entry.get("image")), "hypervisor": self._hypervisor(flavor)}
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
        }

    def _os_type(self, image: Any) -> str | None:
        """A server without an image was made from a volume."""
        if not isinstance(image, dict):
            return None
        if "properties" in image:
            return _os_type(image["properties"])
        return self._images.of(image["id"]) if isinstance(image.get("id"), str) else None

    def _hypervisor(self, flavor: Mapping[str, Any]) -> str | None:
        if not self._rules:
            return None
        return next((rule.type for rule in self._rules if rule.matches(flavor)), _UNKNOWN)


def _os_type(properties: Any) -> str | None:
    found = [properties[name] for name in _OS_TYPES if properties.get(name)] if isinstance(properties, dict) else []
    return str(found[0]) if found else None
