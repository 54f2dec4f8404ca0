"""In which AZ a provider is: one answer, for capacity and for usage.

A nested provider (such as a NUMA node) is where its root provider (the host) is, unless it is in an AZ itself. Members
of traits and aggregates are asked for by filter, so the number of requests does not depend on that of providers.
"""

import logging
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct

from limes.backends import ANY_AZ, UNKNOWN_AZ, BackendContext, BackendError
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.reports import Snapshot, host_aggregates
from limes_plugins.placement.params import PlacementParams

log = logging.getLogger(__name__)

_AT_ONCE = 100
"""How many aggregates one request names."""
_YOUNG = 5.0
"""Seconds for which a list of providers stays good, even if what is looked for is not in it."""


class Provider(Struct, frozen=True):
    uuid: str
    name: str
    root_uuid: str
    generation: int
    az: str


class ProviderQueries:
    """Lists of all or some providers, each by a few requests."""

    def __init__(self, client: ServiceClient, deadline: float) -> None:
        self._client = client
        self._deadline = deadline

    def providers(self, query: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        items = self._client.get("/resource_providers", query or {}).get("resource_providers")
        if not isinstance(items, list) or not all(map(_is_provider, items)):
            raise BackendError("GET /resource_providers: expected a list 'resource_providers' of providers")
        return items

    def in_aggregates(self, uuids: Iterable[str]) -> set[str]:
        """Returns the UUIDs of the providers that are themselves in any of these aggregates."""
        ordered = sorted(uuids)
        parts = [ordered[start : start + _AT_ONCE] for start in range(0, len(ordered), _AT_ONCE)]
        return self._any([{"member_of": f"in:{','.join(part)}"} for part in parts])

    def with_traits(self, traits: Iterable[str]) -> set[str]:
        """Returns the UUIDs of the providers that have any of these traits themselves."""
        return self._any([{"required": trait} for trait in sorted(traits)])

    def _any(self, queries: list[dict[str, str]]) -> set[str]:
        listed = self._client.map(self.providers, queries, self._deadline)
        return {str(item["uuid"]) for items in listed for item in items}


def _is_provider(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and all(isinstance(item.get(key), str) for key in ("uuid", "name", "root_provider_uuid"))
        and isinstance(item.get("generation"), int)
    )


class Zones:
    """Knows, as configured, which providers are in which AZ."""

    def __init__(self, params: PlacementParams, context: BackendContext) -> None:
        self._zones = params.availability_zones
        self.known = params.knows_zones
        """Whether anything says in which AZ providers are. If not, everything is in `any`."""
        nova = params.availability_zones_from_nova
        # aggregates have UUIDs since 2.41
        self._nova = nova and ServiceClient(
            context, nova, name="Nova", service_type="compute", major=2, microversion="2.87", at_least="2.41"
        )

    def providers(self, queries: ProviderQueries) -> dict[str, Provider]:
        listed = queries.providers()
        members = self._members(queries, listed)
        return {
            item["uuid"]: Provider(
                item["uuid"], item["name"], item["root_provider_uuid"], item["generation"], self._az(item, members)
            )
            for item in listed
        }

    def _az(self, item: Mapping[str, Any], members: Mapping[str, Collection[str]]) -> str:
        if not self.known:
            return ANY_AZ
        for uuid in (item["uuid"], item["root_provider_uuid"]):
            azs = [az for az, uuids in members.items() if uuid in uuids]
            if len(azs) > 1:
                log.warning("provider %s is in several availability zones: %s", item["name"], ", ".join(azs))
                return UNKNOWN_AZ
            if azs:
                return azs[0]
        return UNKNOWN_AZ

    def _members(self, queries: ProviderQueries, listed: list[dict[str, Any]]) -> dict[str, set[str]]:
        members = {az: queries.with_traits(zone.traits) for az, zone in self._zones.items()}
        for az, zone in self._zones.items():
            if zone.name_pattern is not None:
                pattern = re.compile(zone.name_pattern)
                members[az] |= {item["uuid"] for item in listed if pattern.search(item["name"])}
        # those configured, and Nova's, which have their UUID from Nova
        aggregates: dict[str, set[str]] = defaultdict(set)
        for az, zone in self._zones.items():
            aggregates[az].update(zone.aggregates)
        for aggregate in host_aggregates(self._nova) if self._nova else ():
            if aggregate.az and aggregate.uuid:
                aggregates[aggregate.az].add(aggregate.uuid)
        for az, uuids in aggregates.items():
            if uuids:
                members.setdefault(az, set()).update(queries.in_aggregates(uuids))
        return members


class KnownProviders:
    def __init__(self, client: ServiceClient, zones: Zones, max_age: float) -> None:
        self._snapshot = Snapshot(lambda: zones.providers(ProviderQueries(client, client.deadline())), max_age)

    def of(self, uuids: Collection[str]) -> Mapping[str, Provider]:
        """By UUID, these and others. One that was made just now is looked for; one that was deleted is missing."""
        providers = self._snapshot.get()
        if all(uuid in providers for uuid in uuids):
            return providers
        return self._snapshot.get(at_most=_YOUNG)
