"""Nova's servers, with what they use and where they are."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from limes.backends import UNKNOWN_AZ, BackendError
from limes_plugins.openstack.amounts import whole_number
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.snapshot import Snapshot

_PATH = "/servers/detail"

Describe = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
"""What reports show of a server as Nova lists it, if they are to show anything."""


@dataclass(frozen=True, slots=True)
class Server:
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
        self._client = client
        self._together = together
        self._page_size = page_size
        self._describe = describe or _nothing
        self._all = Snapshot(self._list_all, max_age)

    def of(self, project_id: str, expected: int) -> list[Server]:
        """The servers of a project. If the list of all has not as many as `expected`, they have just changed, and are
        listed anew for the project."""
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
        return Server(project_id, UNKNOWN_AZ, "", 0, 0, None)
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
    """A server without a host is nowhere."""
    return entry.get("OS-EXT-AZ:availability_zone") or UNKNOWN_AZ


def _nothing(entry: Mapping[str, Any]) -> None:
    """For reports without subresources."""
