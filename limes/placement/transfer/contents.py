"""All that a Placement holds, read through its API, and how two of them differ."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol, TypeVar

from msgspec import Struct, structs

from limes.kernel.errors import BackendError
from limes.placement.objects.allocation import Ownership
from limes.placement.transfer.api import TYPED, ReadableApi

S = TypeVar("S")
T = TypeVar("T")

_THREADS = 4


class Progress(Protocol):
    def __call__(self, label: str, items: Iterable[T], total: int) -> Iterable[T]:
        """Yields the items, `total` of them, and counts the ones taken."""
        ...


class ProviderState(Struct, frozen=True):
    """A provider with all that belongs to it but its allocations and its generation."""

    uuid: str
    name: str
    parent_uuid: str | None
    inventories: Mapping[str, Mapping[str, Any]]
    """By class name: the six values of an inventory."""
    traits: frozenset[str]
    aggregates: frozenset[str]
    usages: Mapping[str, int]


class ConsumerState(Struct, frozen=True):
    owner: Ownership
    """Its type is None where it is not known."""
    resources: Mapping[str, Mapping[str, int]]
    """By provider UUID and class name: amounts."""
    generation: int
    """How often it was written: states are equal whatever that is."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConsumerState) and (self.owner, self.resources) == (other.owner, other.resources)


class Contents(Struct, frozen=True):
    """Everything. Each provider comes after its parent."""

    classes: frozenset[str]
    traits: frozenset[str]
    providers: Mapping[str, ProviderState]
    consumers: Mapping[str, ConsumerState]

    @property
    def project_usages(self) -> Mapping[str, Mapping[str, int]]:
        """By project and class name: what its consumers have together. Counted from allocations, since OpenStack
        Placement on PostgreSQL fails when asked for usages from 1.38 on."""
        usages: dict[str, dict[str, int]] = {}
        for consumer in self.consumers.values():
            project = usages.setdefault(consumer.owner.project_id, {})
            for resources in consumer.resources.values():
                for name, amount in resources.items():
                    project[name] = project.get(name, 0) + amount
        return usages


def read(api: ReadableApi, where: str, progress: Progress) -> Contents:
    """Reads everything but what vanishes meanwhile. Raises `BackendError`. `where` names the side in the progress."""
    classes = frozenset(resource_class["name"] for resource_class in _read_list(api, "resource_classes"))
    traits = frozenset(_read_list(api, "traits"))
    listed = parents_first(_read_list(api, "resource_providers"))
    providers: dict[str, ProviderState] = {}
    consumer_uuids: dict[str, None] = {}
    for provider in _read_each(partial(_read_provider, api), listed, f"{where}: providers", progress):
        if provider is not None:
            state, of_provider = provider
            providers[state.uuid] = state
            consumer_uuids.update(dict.fromkeys(of_provider))
    known = _read_each(partial(_read_consumer, api), list(consumer_uuids), f"{where}: consumers", progress)
    consumers = {consumer.owner.uuid: consumer for consumer in known if consumer is not None}
    return Contents(classes, traits, providers, consumers)


def _read_list(api: ReadableApi, name: str) -> list[Any]:
    document = api.get(f"/{name}")
    if not isinstance(document, dict) or not isinstance(document.get(name), list):
        raise BackendError(f"GET /{name}: expected a list of {name}")
    return list(document[name])


def parents_first(listed: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    children: dict[str | None, list[Mapping[str, Any]]] = {}
    known = {provider["uuid"] for provider in listed}
    for provider in listed:
        parent = provider["parent_provider_uuid"]
        children.setdefault(parent if parent in known else None, []).append(provider)
    ordered = list(children.get(None, ()))
    for provider in ordered:
        ordered.extend(children.get(provider["uuid"], ()))
    return ordered


def _read_each(read_item: Callable[[S], T], items: Sequence[S], label: str, progress: Progress) -> Iterator[T]:
    with ThreadPoolExecutor(_THREADS) as pool:
        yield from progress(label, pool.map(read_item, items), len(items))


def _read_provider(api: ReadableApi, listed: Mapping[str, Any]) -> tuple[ProviderState, list[str]] | None:
    """Returns a provider, and the UUIDs of its consumers; None if it is gone by now."""
    uuid = listed["uuid"]
    parts = {}
    for part in ("inventories", "traits", "aggregates", "usages", "allocations"):
        document = api.get(f"/resource_providers/{uuid}/{part}")
        if document is None:
            return None
        if part not in document:
            raise BackendError(f"GET /resource_providers/{uuid}/{part}: expected {part}")
        parts[part] = document[part]
    of_parts = (parts["inventories"], frozenset(parts["traits"]), frozenset(parts["aggregates"]), parts["usages"])
    return ProviderState(uuid, listed["name"], listed["parent_provider_uuid"], *of_parts), list(parts["allocations"])


def _read_consumer(api: ReadableApi, uuid: str) -> ConsumerState | None:
    document = api.get(f"/allocations/{uuid}")
    if document is None or not document["allocations"]:
        return None
    kind = document["consumer_type"] if api.version >= TYPED else "unknown"
    owner = Ownership(uuid, document["project_id"], document["user_id"], None if kind == "unknown" else kind)
    resources = {provider: allocation["resources"] for provider, allocation in document["allocations"].items()}
    return ConsumerState(owner, resources, document["consumer_generation"])


CUSTOM = "CUSTOM_"


def differences(theirs: Contents, ours: Contents) -> Iterator[str]:
    """Yields one line for each difference. Generations may differ, and so may unused standard names."""
    for kind, left, right in (("resource class", theirs.classes, ours.classes), ("trait", theirs.traits, ours.traits)):
        for name in sorted(left ^ right):
            if name.startswith(CUSTOM):
                yield f"{kind} {name}: only {'there' if name in left else 'here'}"
    yield from _differences_between("provider", theirs.providers, ours.providers)
    yield from _differences_between("consumer", theirs.consumers, ours.consumers)
    theirs_used, ours_used = theirs.project_usages, ours.project_usages
    for project in sorted(set(theirs_used) & set(ours_used)):
        there, here = theirs_used[project], ours_used[project]
        if there != here:
            yield f"project {project}: usages: {there} there, {here} here"


def _differences_between(kind: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[str]:
    for uuid in sorted(set(theirs) | set(ours)):
        there, here = theirs.get(uuid), ours.get(uuid)
        if there is None or here is None:
            yield f"{kind} {uuid}: only {'here' if there is None else 'there'}"
            continue
        for (name, left), (_, right) in zip(_parts(there), _parts(here), strict=True):
            if left != right:
                yield f"{kind} {uuid}: {name}: {left} there, {right} here"


def _parts(state: ProviderState | ConsumerState) -> Iterator[tuple[str, Any]]:
    for name, value in structs.asdict(state).items():
        if isinstance(value, Ownership):
            yield from value._asdict().items()
        elif name != "generation":
            yield name, sorted(value) if isinstance(value, frozenset) else value
