"""Nova's quota sets: what a project uses in total, and what it may use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from limes.backends import BackendError, BackendQuota
from limes_plugins.openstack.amounts import quota_of, whole_number
from limes_plugins.openstack.client import ServiceClient

RESOURCES = ("cores", "instances", "ram", "server_groups", "server_group_members")


@dataclass(frozen=True, slots=True)
class QuotaSet:
    """Figures by resource."""

    usage: Mapping[str, int]
    """Always 0 for `server_group_members`: Nova has no figure for a project."""
    quotas: Mapping[str, BackendQuota]


class QuotaSets:
    """Reads and writes them. The user of Limes has to be an administrator."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def read(self, project_id: str) -> QuotaSet:
        """One request. Raises `BackendError`."""
        path = f"/os-quota-sets/{project_id}/detail"
        entries = self._client.get(path).get("quota_set")
        usage: dict[str, int] = {}
        quotas: dict[str, BackendQuota] = {}
        for name in RESOURCES:
            entry: Any = entries.get(name) if isinstance(entries, dict) else None
            if not isinstance(entry, dict):
                raise BackendError(f"GET {path}: Nova says nothing of {name!r}")
            usage[name] = whole_number(entry.get("in_use"), f"GET {path}: the usage of {name}")
            quotas[name] = quota_of(entry.get("limit"), f"GET {path}: the limit of {name}")
        return QuotaSet(usage, quotas)

    def write(self, project_id: str, quotas: Mapping[str, int]) -> None:
        """One request. Raises `BackendError`. With `force` Nova also takes what is below the usage; nothing new can be
        made then, and nothing else happens."""
        path = f"/os-quota-sets/{project_id}"
        self._client.put(path, {"quota_set": {**quotas, "force": True}})
