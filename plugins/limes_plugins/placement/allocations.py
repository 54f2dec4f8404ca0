"""Who uses what of which provider, from the allocations of all providers: for Placements without our extension.

Placement lists the consumers of a provider, but not their projects: those stand in the allocations of each consumer. So
both are read once, and then only what has changed. A write of allocations changes the generation of their providers and
of their consumer, and the list of providers has all generations. Only a deletion changes none: then what is known is
more than `GET /usages` of the project, and the providers that the project is known to use are read again.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from limes.backends import BackendError
from limes_plugins.openstack.client import ServiceClient, whole_number
from limes_plugins.placement.uses import ALL_TYPES, Usages, Use, sums_of
from limes_plugins.placement.zones import ProviderQueries

T = TypeVar("T")
R = TypeVar("R")

_AT_ONCE = 64
"""How many requests are made before checking whether there is time for more."""


@dataclass(frozen=True, slots=True)
class _Consumer:
    generation: int
    project_id: str
    uses: tuple[Use, ...]


@dataclass(slots=True)
class _Book:
    """What was read. Changed and read by one thread at a time."""

    generations: dict[str, int] = field(default_factory=dict)
    """Of the providers whose consumers are all known, as of that generation."""
    consumers: dict[str, _Consumer] = field(default_factory=dict)
    of_project: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    of_provider: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def put(self, uuid: str, consumer: _Consumer | None) -> None:
        """Replaces what is known of a consumer; None if it is gone."""
        known = self.consumers.pop(uuid, None)
        if known is not None:
            self.of_project[known.project_id].discard(uuid)
            for use in known.uses:
                self.of_provider[use.provider].discard(uuid)
        if consumer is not None:
            self.consumers[uuid] = consumer
            self.of_project[consumer.project_id].add(uuid)
            for use in consumer.uses:
                self.of_provider[use.provider].add(uuid)

    def uses(self, project_id: str) -> list[Use]:
        """Returns what the project's consumers use, as far as it is known."""
        return [use for uuid in self.of_project.get(project_id, ()) for use in self.consumers[uuid].uses]


class _Budget:
    """How many requests may still be made, and until when."""

    def __init__(self, client: ServiceClient, requests: int, deadline: float) -> None:
        self._client = client
        self._left = requests
        self._deadline = deadline

    @property
    def has_left(self) -> bool:
        """Whether anything more may be asked."""
        return self._left > 0 and time.monotonic() < self._deadline

    @property
    def half(self) -> int:
        """Half of the requests that are left, but at least one."""
        return max(1, self._left // 2)

    def map(self, function: Callable[[T], R], items: Collection[T]) -> list[tuple[T, R]]:
        """Applies a function that makes one request to as many of the items as may be, the first ones first."""
        ordered, done = list(items), list[tuple[T, R]]()
        while ordered and self.has_left:
            count = min(_AT_ONCE, self._left)
            batch, ordered = ordered[:count], ordered[count:]
            self._left -= len(batch)
            done += zip(batch, self._client.map(function, batch, self._client.deadline()), strict=True)
        return done


class Allocations:
    """The allocations of all consumers, as they were a moment ago. Safe to use from many threads."""

    def __init__(self, client: ServiceClient, *, requests: int, max_age: float) -> None:
        """`requests` are made for one call at most, beside those for the list of providers."""
        self._client = client
        self._requests = requests
        self._max_age = max_age
        self._lock = threading.Lock()
        self._book = _Book()
        self._read_at: float | None = None
        """When all that had changed was read; None as long as this was not so."""

    def of(self, project_id: str, usages: Usages) -> list[Use]:
        """Returns what the project's consumers use, which may be more or less than `usages` if they change just now, or
        if too much has to be asked for. Raises `BackendError`."""
        third = (self._client.deadline() - time.monotonic()) / 3
        if not self._lock.acquire(timeout=third):
            return []  # others have been reading all this time
        try:
            budget = _Budget(self._client, self._requests, time.monotonic() + third)
            if self._read_at is None or time.monotonic() - self._read_at > self._max_age:
                self._read_changed(budget, ())
            uses = self._book.uses(project_id)
            if sums_of(uses, by_type=ALL_TYPES not in usages) != usages and budget.has_left:
                self._read_changed(budget, {use.provider for use in uses})
            return self._book.uses(project_id)
        finally:
            self._lock.release()

    def _read_changed(self, budget: _Budget, others: Collection[str]) -> None:
        """Reads the providers that have changed, and `others`, as far as the budget goes."""
        started, book = time.monotonic(), self._book
        listed = {
            item["uuid"]: item["generation"]
            for item in ProviderQueries(self._client, self._client.deadline()).providers()
        }
        for uuid in book.generations.keys() - listed.keys():
            del book.generations[uuid]
        wanted = [uuid for uuid in listed if uuid in others]
        wanted += [uuid for uuid, generation in listed.items() if book.generations.get(uuid) != generation]
        wanted = list(dict.fromkeys(wanted))
        whole = True
        while wanted and budget.has_left:
            count = min(_AT_ONCE, budget.half)  # the rest is for their consumers
            batch, wanted = wanted[:count], wanted[count:]
            read = budget.map(self._read_provider, batch)
            whole = self._read_consumers(budget, dict(read)) and len(read) == len(batch) and whole
        self._read_at = started if whole and not wanted else None

    def _read_consumers(self, budget: _Budget, read: Mapping[str, "_Listed | None"]) -> bool:
        """Reads the consumers of these providers that are new or have changed, or are not listed there any more."""
        listed: dict[str, int] = {}
        missing: set[str] = set()
        for uuid, provider in read.items():
            consumers = {} if provider is None else provider.consumers
            listed |= consumers
            missing |= self._book.of_provider.get(uuid, set()) - consumers.keys()
        stale = missing | {uuid for uuid, generation in listed.items() if self._generation(uuid) != generation}
        done = budget.map(self._read_consumer, sorted(stale))
        for uuid, consumer in done:
            self._book.put(uuid, consumer)
        left = stale - {uuid for uuid, _ in done}
        for uuid, provider in read.items():
            if provider is not None and not left & provider.consumers.keys():
                self._book.generations[uuid] = provider.generation
        return not left

    def _generation(self, uuid: str) -> int | None:
        consumer = self._book.consumers.get(uuid)
        return None if consumer is None else consumer.generation

    def _read_provider(self, uuid: str) -> "_Listed | None":
        path = f"/resource_providers/{uuid}/allocations"
        document = self._client.find(path)
        if document is None:  # it was deleted just now
            return None
        allocations = _object(document.get("allocations"), path)
        generation = whole_number(document.get("resource_provider_generation"), f"GET {path}: the generation")
        return _Listed(
            generation,
            {consumer: _generation_of(_object(entry, path), path) for consumer, entry in allocations.items()},
        )

    def _read_consumer(self, uuid: str) -> _Consumer | None:
        path = f"/allocations/{uuid}"
        document = self._client.get(path)
        allocations = _object(document.get("allocations"), path)
        if not allocations:
            return None
        if not isinstance(document.get("project_id"), str):
            raise BackendError(f"GET {path}: expected a project_id")
        type_ = str(document.get("consumer_type") or "unknown")
        uses = tuple(_uses(uuid, type_, allocations, path))
        return _Consumer(_generation_of(document, path), document["project_id"], uses)


@dataclass(frozen=True, slots=True)
class _Listed:
    """A provider's consumers with their generations, at one of its own."""

    generation: int
    consumers: Mapping[str, int]


def _uses(consumer: str, type_: str, allocations: Mapping[str, Any], path: str) -> Iterable[Use]:
    for provider, entry in allocations.items():
        resources = _object(_object(entry, path).get("resources"), path)
        amounts = {class_: whole_number(amount, f"GET {path}: {class_}") for class_, amount in resources.items()}
        yield Use(type_, provider, amounts, consumer)


def _generation_of(document: Mapping[str, Any], path: str) -> int:
    return whole_number(document.get("consumer_generation"), f"GET {path}: a consumer's generation")


def _object(value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BackendError(f"GET {path}: Placement's answer has something else where an object was expected")
    return value
