"""The answer of `GET /allocation_candidates` as JSON, in the form of each microversion.

What every answer repeats (a tree's part of `provider_summaries`) is rendered once for each state of a tree and kept
with it; the rest is a handful of small dictionaries for orjson.
"""

from collections.abc import Collection, Iterable
from typing import Any

import orjson

from limes.placement.search.assignment import Assignment
from limes.placement.search.candidates import Found, providers_of
from limes.placement.search.matching import Slot
from limes.placement.search.model import Cloud, Provider, Tree

DICT_SINCE = 12
TRAITS_SINCE = 17
ALL_CLASSES_SINCE = 27
TREES_SINCE = 29
MAPPINGS_SINCE = 34


def render(found: Found, cloud: Cloud, minor: int) -> bytes:
    """The whole body under microversion 1.`minor`."""
    requests = orjson.dumps(_allocation_requests(found, minor))
    involved = providers_of(found.candidates)
    if minor >= TREES_SINCE:
        trees = sorted({provider.root_id for provider in involved.values()})
        summaries = b",".join([tree_summaries(cloud.trees[root_id]) for root_id in trees])
    else:
        classes = None if minor >= ALL_CLASSES_SINCE else {name for slot in found.slots for name in slot.resources}
        summaries = _join((involved[key] for key in sorted(involved)), minor, classes)
    return b'{"allocation_requests":%b,"provider_summaries":{%b}}' % (requests, summaries)


def _allocation_requests(found: Found, minor: int) -> list[dict[str, Any]]:
    slots = found.slots
    if minor < DICT_SINCE:
        return [_as_list(_amounts(slots, candidate)) for candidate in found.candidates]
    if minor < MAPPINGS_SINCE:
        return [{"allocations": _allocations(slots, candidate)} for candidate in found.candidates]
    return [
        {"allocations": _allocations(slots, candidate), "mappings": _mappings(slots, candidate)}
        for candidate in found.candidates
    ]


def _amounts(slots: tuple[Slot, ...], candidate: Assignment) -> dict[str, dict[str, int]]:
    amounts: dict[str, dict[str, int]] = {}
    for slot, provider in zip(slots, candidate, strict=True):
        if slot.resources:
            given = amounts.setdefault(provider.uuid, {})
            for name, amount in slot.resources.items():
                given[name] = given.get(name, 0) + amount
    return amounts


def _allocations(slots: tuple[Slot, ...], candidate: Assignment) -> dict[str, dict[str, dict[str, int]]]:
    return {uuid: {"resources": given} for uuid, given in _amounts(slots, candidate).items()}


def _as_list(amounts: dict[str, dict[str, int]]) -> dict[str, Any]:
    return {
        "allocations": [
            {"resource_provider": {"uuid": uuid}, "resources": resources} for uuid, resources in amounts.items()
        ]
    }


def _mappings(slots: tuple[Slot, ...], candidate: Assignment) -> dict[str, list[str]]:
    mappings: dict[str, list[str]] = {}
    for slot, provider in zip(slots, candidate, strict=True):
        uuids = mappings.setdefault(slot.suffix, [])
        if provider.uuid not in uuids:
            uuids.append(provider.uuid)
    return mappings


def tree_summaries(tree: Tree) -> bytes:
    """The summaries of all providers of a tree, as from 1.29: the inside of a JSON object."""
    if tree.summaries is None:
        tree.summaries = _join(tree.providers, TREES_SINCE, None)
    return tree.summaries


def _join(providers: Iterable[Provider], minor: int, classes: Collection[str] | None) -> bytes:
    summaries = {provider.uuid: _summary(provider, minor, classes) for provider in providers}
    return orjson.dumps(summaries)[1:-1]


def _summary(provider: Provider, minor: int, classes: Collection[str] | None) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "resources": {
            name: {"capacity": inventory.capacity, "used": inventory.used}
            for name, inventory in provider.inventories.items()
            if classes is None or name in classes
        }
    }
    if minor >= TRAITS_SINCE:
        summary["traits"] = provider.traits.names
    if minor >= TREES_SINCE:
        summary["root_provider_uuid"] = provider.root_uuid
        summary["parent_provider_uuid"] = provider.parent_uuid
    return summary
