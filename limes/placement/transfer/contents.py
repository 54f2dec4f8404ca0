"""All that a Placement holds, read through its API."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from limes.errors import BackendError
from limes.placement.transfer.api import TYPED, ReadableApi

S = TypeVar("S")
T = TypeVar("T")

_THREADS = 4


class Progress(Protocol):
    """Shows how far a long task is."""

    def __call__(self, label: str, items: Iterable[T], total: int) -> Iterable[T]:
        """Gives the items, `total` of them, and counts those that were taken."""
        ...


@dataclass(frozen=True, slots=True)
class ProviderState:
    """A provider with all that belongs to it but its allocations and its generation."""

    uuid: str
    name: str
    parent_uuid: str | None
    inventories: Mapping[str, Mapping[str, Any]]
    """By class name: the six values of an inventory."""
    traits: frozenset[str]
    aggregates: frozenset[str]
    usages: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ConsumerState:
    """A consumer with its allocations."""

    uuid: str
    project_id: str
    user_id: str
    consumer_type: str | None
    """None where it is not known."""
    resources: Mapping[str, Mapping[str, int]]
    """By provider UUID and class name: amounts."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything. Providers are in an order in which each comes after its parent."""

    classes: frozenset[str]
    traits: frozenset[str]
    providers: Mapping[str, ProviderState]
    consumers: Mapping[str, ConsumerState]
    generations: Mapping[str, int] = field(default_factory=dict)
    """Those of the consumers."""

    @property
    def project_usages(self) -> Mapping[str, Mapping[str, int]]:
        """By project and class name: what its consumers have together.

        Counted from their allocations: OpenStack Placement on PostgreSQL fails if it is asked at 1.38 or later.
        """
        usages: dict[str, dict[str, int]] = {}
        for one in self.consumers.values():
            project = usages.setdefault(one.project_id, {})
            for resources in one.resources.values():
                for name, amount in resources.items():
                    project[name] = project.get(name, 0) + amount
        return usages


def read(api: ReadableApi, where: str, progress: Progress) -> Contents:
    """Reads everything; `where` is for the progress. What vanishes meanwhile is left out. Raises `BackendError`."""
    classes = frozenset(one["name"] for one in _list(api, "resource_classes"))
    traits = frozenset(_list(api, "traits"))
    listed = parents_first(_list(api, "resource_providers"))
    providers: dict[str, ProviderState] = {}
    consumer_uuids: dict[str, None] = {}
    for found in _all(lambda one: _provider(api, one), listed, f"{where}: providers", progress):
        if found is not None:
            providers[found[0].uuid] = found[0]
            consumer_uuids.update(dict.fromkeys(found[1]))
    consumers: dict[str, ConsumerState] = {}
    generations: dict[str, int] = {}
    for answer in _all(lambda uuid: _consumer(api, uuid), list(consumer_uuids), f"{where}: consumers", progress):
        if answer is not None:
            consumers[answer[0].uuid], generations[answer[0].uuid] = answer
    return Contents(classes, traits, providers, consumers, generations)


def _list(api: ReadableApi, name: str) -> list[Any]:
    document = api.get(f"/{name}")
    if not isinstance(document, dict) or not isinstance(document.get(name), list):
        raise BackendError(f"GET /{name}: expected a list of {name}")
    return list(document[name])


def parents_first(listed: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The providers of a list, each after its parent."""
    children: dict[str | None, list[Mapping[str, Any]]] = {}
    known = {one["uuid"] for one in listed}
    for one in listed:
        parent = one["parent_provider_uuid"]
        children.setdefault(parent if parent in known else None, []).append(one)
    ordered = list(children.get(None, ()))
    for one in ordered:
        ordered.extend(children.get(one["uuid"], ()))
    return ordered


def _all(ask: Callable[[S], T], items: Sequence[S], label: str, progress: Progress) -> Iterator[T]:
    """What `ask` answers for each item, in order, several at a time."""
    with ThreadPoolExecutor(_THREADS) as pool:
        yield from progress(label, pool.map(ask, items), len(items))


def _provider(api: ReadableApi, listed: Mapping[str, Any]) -> tuple[ProviderState, list[str]] | None:
    """A provider, and the UUIDs of its consumers; None if it is gone by now."""
    uuid = listed["uuid"]
    parts = {}
    for what in ("inventories", "traits", "aggregates", "usages", "allocations"):
        document = api.get(f"/resource_providers/{uuid}/{what}")
        if document is None:
            return None
        if what not in document:
            raise BackendError(f"GET /resource_providers/{uuid}/{what}: expected {what}")
        parts[what] = document[what]
    state = ProviderState(
        uuid=uuid,
        name=listed["name"],
        parent_uuid=listed["parent_provider_uuid"],
        inventories=parts["inventories"],
        traits=frozenset(parts["traits"]),
        aggregates=frozenset(parts["aggregates"]),
        usages=parts["usages"],
    )
    return state, list(parts["allocations"])


def _consumer(api: ReadableApi, uuid: str) -> tuple[ConsumerState, int] | None:
    """A consumer and its generation; None if it is gone by now."""
    document = api.get(f"/allocations/{uuid}")
    if document is None or not document["allocations"]:
        return None
    kind = document["consumer_type"] if api.version >= TYPED else "unknown"
    state = ConsumerState(
        uuid=uuid,
        project_id=document["project_id"],
        user_id=document["user_id"],
        consumer_type=None if kind == "unknown" else kind,
        resources={provider: one["resources"] for provider, one in document["allocations"].items()},
    )
    return state, document["consumer_generation"]
