"""Which providers count, and in which AZ they are.

A nested provider (such as a NUMA node) is where its root provider (the host) is: a root's traits and aggregates count
for all of its descendants. Members of traits and aggregates are asked for by filter, one request each, however many
providers there are.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from limes.backends import ANY_AZ, UNKNOWN_AZ, BackendError
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.placement.params import CapacityParams

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Provider:
    """A resource provider."""

    uuid: str
    name: str
    root_uuid: str
    az: str


class Providers:
    """One look at all providers."""

    def __init__(self, client: ServiceClient, params: CapacityParams, deadline: float) -> None:
        self._client = client
        self._params = params
        self._deadline = deadline

    def matching(self) -> list[Provider]:
        """The providers that count, by name."""
        listed = self._list({})
        traits = self._members("required", {*self._params.traits.required, *self._params.traits.forbidden})
        zones = self._params.availability_zones
        aggregates = self._members(
            "member_of", {*self._params.aggregates, *(uuid for uuids in zones.values() for uuid in uuids)}
        )
        return [
            Provider(item["uuid"], item["name"], item["root_provider_uuid"], self._az(item, aggregates))
            for item in sorted(listed, key=lambda item: item["name"])
            if self._matches(item, traits, aggregates)
        ]

    def _matches(
        self, item: Mapping[str, Any], traits: Mapping[str, set[str]], aggregates: Mapping[str, set[str]]
    ) -> bool:
        wanted = self._params
        return (
            all(_has(item, traits[trait]) for trait in wanted.traits.required)
            and not any(_has(item, traits[trait]) for trait in wanted.traits.forbidden)
            and (not wanted.aggregates or any(_has(item, aggregates[uuid]) for uuid in wanted.aggregates))
        )

    def _az(self, item: Mapping[str, Any], aggregates: Mapping[str, set[str]]) -> str:
        """The AZ of the provider's own aggregates, else that of its root's."""
        zones = self._params.availability_zones
        if not zones:
            return ANY_AZ
        for uuid in (item["uuid"], item["root_provider_uuid"]):
            found = [az for az, uuids in zones.items() if any(uuid in aggregates[aggregate] for aggregate in uuids)]
            if len(found) > 1:
                log.warning("provider %s is in several availability zones: %s", item["name"], ", ".join(found))
                return UNKNOWN_AZ
            if found:
                return found[0]
        return UNKNOWN_AZ

    def _members(self, key: str, values: Iterable[str]) -> dict[str, set[str]]:
        """For each trait or aggregate: the UUIDs of the providers that have it themselves."""
        ordered = sorted(values)
        found = self._client.map(lambda value: self._list({key: value}), ordered, self._deadline)
        return {value: {item["uuid"] for item in items} for value, items in zip(ordered, found, strict=True)}

    def _list(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        items = self._client.get("/resource_providers", query).get("resource_providers")
        if not isinstance(items, list):
            raise BackendError("GET /resource_providers: expected a list 'resource_providers'")
        return items


def _has(item: Mapping[str, Any], members: set[str]) -> bool:
    return item["uuid"] in members or item["root_provider_uuid"] in members
