"""What a project uses of which provider, and how it is asked of our own Placement."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from limes.backends import BackendContext, BackendError
from limes_plugins.openstack.client import ServiceClient, whole_number
from limes_plugins.openstack.params import ConnectionParams
from limes_plugins.openstack.reports import Snapshot

MICROVERSION = "1.38"
"""The first one that knows types of consumers (Placement of the Xena release)."""
_WITHOUT_TYPES = "1.37"
"""For usages of all types together: upstream's Placement on PostgreSQL fails (500) to group them by type."""
ALL_TYPES = ""
"""Stands for the types of all consumers where usages are not grouped by type."""

Usages = Mapping[str, Mapping[str, int]]
"""By consumer type and resource class, with the number of consumers as `consumer_count`; or by `ALL_TYPES` and resource
class, without that number."""
_COUNT = "consumer_count"
_GROUPS = "usage_groups"


def placement_client(params: ConnectionParams, context: BackendContext) -> ServiceClient:
    """Returns a client for the configured Placement."""
    return ServiceClient(context, params, name="Placement", service_type="placement", microversion=MICROVERSION)


@dataclass(frozen=True, slots=True)
class Use:
    """What one consumer uses of one provider, or all consumers of one type together."""

    consumer_type: str
    provider: str
    """UUID."""
    amounts: Mapping[str, int]
    """By resource class."""
    consumer: str = ""
    """UUID; empty if it stands for several."""


def read_usages(client: ServiceClient, project_id: str, *, by_type: bool) -> Usages:
    """`GET /usages`: sums over all providers, for each type of consumers or for all together. Raises `BackendError`."""
    microversion = None if by_type else _WITHOUT_TYPES
    usages = client.get("/usages", {"project_id": project_id}, microversion=microversion).get("usages")
    if not isinstance(usages, dict):
        raise BackendError("GET /usages: expected an object 'usages'")
    if not by_type:
        return {ALL_TYPES: _amounts(usages, "GET /usages")}
    return {type_: _amounts(some, f"GET /usages: consumer type {type_}") for type_, some in usages.items()}


def _amounts(amounts: Any, where: str) -> Mapping[str, int]:
    if not isinstance(amounts, dict):
        raise BackendError(f"{where}: expected an object")
    return {class_: whole_number(amount, f"{where}: {class_}") for class_, amount in amounts.items()}


def sums_of(uses: Iterable[Use], *, by_type: bool) -> Usages:
    """Returns what `read_usages` would return if these were all uses of a project, each with its consumer."""
    if not by_type:
        total: Counter[str] = Counter()
        for use in uses:
            total.update(use.amounts)
        return {ALL_TYPES: dict(total)}
    amounts: dict[str, Counter[str]] = {}
    consumers: dict[str, set[str]] = {}
    for use in uses:
        amounts.setdefault(use.consumer_type, Counter()).update(use.amounts)
        consumers.setdefault(use.consumer_type, set()).add(use.consumer)
    return {type_: {**some, _COUNT: len(consumers[type_])} for type_, some in amounts.items()}


class UsageGroups:
    """The extension of our own Placement that answers usage by provider. Safe to use from many threads."""

    def __init__(self, client: ServiceClient, max_age: float) -> None:
        self._client = client
        self._announced = Snapshot(self._read_version, max_age)

    def exist(self) -> bool:
        """Returns whether this Placement has the extension, by its version document. Raises `BackendError`."""
        return self._announced.get()

    def of(self, project_id: str, *, by_consumer: bool) -> list[Use]:
        """By one request, so all figures are of the same moment. Raises `BackendError`.

        Of all classes: to name one that does not exist yet would be refused, while its usage is 0.
        """
        query = {"group_by": "consumer" if by_consumer else "resource_provider", "project_id": project_id}
        groups = self._client.get("/usage_groups", query).get(_GROUPS)
        if not isinstance(groups, list):
            raise BackendError("GET /usage_groups: expected a list 'usage_groups'")
        return [_use(group, by_consumer) for group in groups]

    def _read_version(self) -> bool:
        versions = (self._client.find("/") or {}).get("versions")
        announced = versions[0].get("extensions") if isinstance(versions, list) and versions else None
        return isinstance(announced, list) and _GROUPS in announced


def _use(group: Any, by_consumer: bool) -> Use:
    names = ("consumer_type", "resource_provider_uuid", *(("consumer_uuid",) if by_consumer else ()))
    if not isinstance(group, dict) or not all(isinstance(group.get(name), str) for name in names):
        raise BackendError(f"GET /usage_groups: expected {', '.join(names)} in each group, got {group!r:.200}")
    amounts = _amounts(group.get("resources"), f"GET /usage_groups: provider {group['resource_provider_uuid']}")
    return Use(group["consumer_type"], group["resource_provider_uuid"], amounts, group.get("consumer_uuid", ""))
