"""The answer of `GET /allocation_candidates` as JSON, in the form of each microversion.

A tree's part of `provider_summaries`, which every answer repeats, is rendered once for each state of the tree and kept
with it. Allocation requests are filled into a few templates, at a quarter of the cost of small dictionaries.
"""

import json
from collections.abc import Callable, Collection, Generator, Iterable
from typing import Any

import orjson

from limes.placement.search.candidates import SearchResult
from limes.placement.search.matching import Assignment, Slot
from limes.placement.search.memory import QueryMemory
from limes.placement.search.model import Cloud, Provider

DICT_SINCE = 12
TRAITS_SINCE = 17
ALL_CLASSES_SINCE = 27
TREES_SINCE = 29
MAPPINGS_SINCE = 34


AT_ONCE = 1000
"""How many candidates are rendered together. Nova asks for no more."""


def render(
    result: SearchResult, cloud: Cloud, minor: int, memory: QueryMemory | None = None
) -> Generator[bytes, None, None]:
    """Yields the body under microversion 1.`minor`, in parts of `AT_ONCE` candidates. So the text of a large answer is
    never in memory as a whole. `memory` is the one that the search used, if any."""
    write = request_writer(result.slots, minor)
    yield b'{"allocation_requests":['
    for start in range(0, len(result.candidates), AT_ONCE):
        some = result.candidates[start : start + AT_ONCE]
        requests = ",".join(_texts(some, write, memory)).encode()
        yield b"," + requests if start else requests
    yield b'],"provider_summaries":{' + _summaries(result, cloud, minor) + b"}}"


def _texts(candidates: list[Assignment], write: Callable[[Assignment], str], memory: QueryMemory | None) -> list[str]:
    known = {} if memory is None else memory.texts
    texts: list[str] = []
    new: dict[Assignment, str] = {}
    for candidate in candidates:
        text = known.get(candidate)
        if text is None:
            text = new[candidate] = write(candidate)
        texts.append(text)
    if memory is not None:
        memory.keep_texts(new)
    return texts


def _summaries(result: SearchResult, cloud: Cloud, minor: int) -> bytes:
    if minor >= TREES_SINCE:
        if cloud.sharing:
            trees = {provider.root_id for candidate in result.candidates for provider in candidate}
        else:  # a candidate is in one tree
            trees = {candidate[0].root_id for candidate in result.candidates}
        summaries = []
        for tree in map(cloud.trees.__getitem__, sorted(trees)):
            if tree.summaries is None:
                tree.summaries = _join(tree.providers, TREES_SINCE, None)
            summaries.append(tree.summaries)
        return b",".join(summaries)
    involved = {provider.id: provider for candidate in result.candidates for provider in candidate}
    classes = None if minor >= ALL_CLASSES_SINCE else {name for slot in result.slots for name in slot.resources}
    return _join((involved[key] for key in sorted(involved)), minor, classes)


def request_writer(slots: tuple[Slot, ...], minor: int) -> Callable[[Assignment], str]:
    """Returns a function that writes an allocation request as JSON.

    Candidates in which the same slots share a provider differ only in UUIDs. So there is one template for each such
    pattern, with `%s` for the UUIDs.
    """
    templates: dict[tuple[int, ...], tuple[str, tuple[int, ...]]] = {}

    def write(candidate: Assignment) -> str:
        # for each slot, the first slot that the same provider serves
        pattern = tuple(map(candidate.index, candidate))
        known = templates.get(pattern)
        if known is None:
            known = templates[pattern] = _template(slots, minor, pattern)
        template, places = known
        return template % tuple([candidate[place].uuid for place in places])

    return write


def _template(slots: tuple[Slot, ...], minor: int, pattern: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """Returns the text, and for each `%s` in it the slot whose provider's UUID belongs there."""
    amounts: dict[int, dict[str, int]] = {}
    mappings: dict[str, list[int]] = {}
    for slot, first in zip(slots, pattern, strict=True):
        if slot.resources:
            given = amounts.setdefault(first, {})
            for name, amount in slot.resources.items():
                given[name] = given.get(name, 0) + amount
        mapped = mappings.setdefault(slot.suffix, [])
        if first not in mapped:
            mapped.append(first)
    places = list(amounts)
    resources = [_json(given) for given in amounts.values()]
    if minor < DICT_SINCE:
        parts = [f'{{"resource_provider":{{"uuid":"%s"}},"resources":{given}}}' for given in resources]
        return f'{{"allocations":[{",".join(parts)}]}}', tuple(places)
    parts = [f'"%s":{{"resources":{given}}}' for given in resources]
    text = f'{{"allocations":{{{",".join(parts)}}}'
    if minor >= MAPPINGS_SINCE:
        lists = [_json(suffix) + ":[" + ",".join(['"%s"'] * len(at)) + "]" for suffix, at in mappings.items()]
        text += f',"mappings":{{{",".join(lists)}}}'
        places += [place for at in mappings.values() for place in at]
    return text + "}", tuple(places)


def _json(value: object) -> str:
    """JSON as a part of a `%` template."""
    return dump(value).decode().replace("%", "%%")


def _join(providers: Iterable[Provider], minor: int, classes: Collection[str] | None) -> bytes:
    summaries = {provider.uuid: _summary(provider, minor, classes) for provider in providers}
    return dump(summaries)[1:-1]


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


def dump(document: Any) -> bytes:
    """Returns a document as JSON, with whole numbers of any size. orjson writes no integer above 64 bits. A capacity
    can be larger: 2^31 units with an `allocation_ratio` of 3.4e38. The standard library writes those documents. It
    takes ten times as long, and they are rare."""
    try:
        return orjson.dumps(document)
    except orjson.JSONEncodeError:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
