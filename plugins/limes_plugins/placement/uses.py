"""What a project uses of each provider: from our own Placement by one request, from others by the allocations of all
providers.

Placement lists the consumers of a provider, but not their projects: those stand in the allocations of each consumer. So
both are read once, and then only what has changed. A write of allocations changes the generation of their providers and
of their consumer, and the list of providers has all generations. Only a deletion changes none: then what is known is
more than `GET /usages` of the project, and the providers that the project is known to use are read again.
"""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

from msgspec import Struct, field

from limes.backends import BackendContext, BackendError
from limes_plugins.openstack.client import ServiceClient, whole_number
from limes_plugins.openstack.params import ConnectionParams
from limes_plugins.openstack.reports import Snapshot
from limes_plugins.placement.zones import ProviderQueries

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
    return ServiceClient(context, params, name="Placement", service_type="placement", microversion=MICROVERSION)


class Use(Struct, frozen=True):
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
        """By one request, so all figures are of the same moment. Raises `BackendError`. Of all classes: to name one
        that does not exist yet would be refused, while its usage is 0."""
        query = {"group_by": "consumer" if by_consumer else "resource_provider", "project_id": project_id}
        groups = self._client.get("/usage_groups", query).get(_GROUPS)
        if not isinstance(groups, list):
            raise BackendError("GET /usage_groups: expected a list 'usage_groups'")
        names = ("consumer_type", "resource_provider_uuid", *(("consumer_uuid",) if by_consumer else ()))
        uses = []
        for group in groups:
            if not isinstance(group, dict) or not all(isinstance(group.get(name), str) for name in names):
                raise BackendError(f"GET /usage_groups: expected {', '.join(names)} in each group, got {group!r:.200}")
            type_, provider = group["consumer_type"], group["resource_provider_uuid"]
            amounts = _amounts(group.get("resources"), f"GET /usage_groups: provider {provider}")
            uses.append(Use(type_, provider, amounts, group.get("consumer_uuid", "")))
        return uses

    def _read_version(self) -> bool:
        versions = (self._client.find("/") or {}).get("versions")
        announced = versions[0].get("extensions") if isinstance(versions, list) and versions else None
        return isinstance(announced, list) and _GROUPS in announced


T = TypeVar("T")
R = TypeVar("R")

_AT_ONCE = 64
"""How many requests are made before checking whether there is time for more."""


class _Consumer(Struct, frozen=True):
    generation: int
    project_id: str
    uses: tuple[Use, ...]


class _Listed(Struct, frozen=True):
    """A provider's consumers with their generations, at one of its own."""

    generation: int
    consumers: Mapping[str, int]


class _Book(Struct):
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
        return [use for uuid in self.of_project.get(project_id, ()) for use in self.consumers[uuid].uses]


class _Budget:
    """How many requests may still be made, and until when."""

    def __init__(self, client: ServiceClient, requests: int, deadline: float) -> None:
        self._client, self.left, self._deadline = client, requests, deadline

    @property
    def has_left(self) -> bool:
        """Whether anything more may be asked."""
        return self.left > 0 and time.monotonic() < self._deadline

    def map(self, function: Callable[[T], R], items: Collection[T]) -> list[tuple[T, R]]:
        """Applies a function that makes one request to as many of the items as may be, the first ones first."""
        ordered, done = list(items), list[tuple[T, R]]()
        while ordered and self.has_left:
            count = min(_AT_ONCE, self.left)
            batch, ordered = ordered[:count], ordered[count:]
            self.left -= len(batch)
            done += zip(batch, self._client.map(function, batch, self._client.deadline()), strict=True)
        return done


class Allocations:
    """The allocations of all consumers, as they were a moment ago. Safe to use from many threads."""

    def __init__(self, client: ServiceClient, *, requests: int, max_age: float) -> None:
        """`requests` are made for one call at most, beside those for the list of providers."""
        self._client, self._requests, self._max_age = client, requests, max_age
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
        providers = ProviderQueries(self._client, self._client.deadline()).providers()
        listed = {item["uuid"]: item["generation"] for item in providers}
        for uuid in book.generations.keys() - listed.keys():
            del book.generations[uuid]
        wanted = [uuid for uuid in listed if uuid in others]
        wanted += [uuid for uuid, generation in listed.items() if book.generations.get(uuid) != generation]
        wanted = list(dict.fromkeys(wanted))
        whole = True
        while wanted and budget.has_left:
            count = min(_AT_ONCE, max(1, budget.left // 2))  # the rest is for their consumers
            batch, wanted = wanted[:count], wanted[count:]
            read = budget.map(self._read_provider, batch)
            whole = self._read_consumers(budget, dict(read)) and len(read) == len(batch) and whole
        self._read_at = started if whole and not wanted else None

    def _read_consumers(self, budget: _Budget, read: Mapping[str, _Listed | None]) -> bool:
        """Reads the consumers of these providers that are new or have changed, or are not listed there any more."""
        listed: dict[str, int] = {}
        missing: set[str] = set()
        for uuid, provider in read.items():
            consumers = {} if provider is None else provider.consumers
            listed |= consumers
            missing |= self._book.of_provider.get(uuid, set()) - consumers.keys()
        known = self._book.consumers
        stale = missing | {uuid for uuid in listed if uuid not in known or known[uuid].generation != listed[uuid]}
        done = budget.map(self._read_consumer, sorted(stale))
        for uuid, consumer in done:
            self._book.put(uuid, consumer)
        left = stale - {uuid for uuid, _ in done}
        for uuid, provider in read.items():
            if provider is not None and not left & provider.consumers.keys():
                self._book.generations[uuid] = provider.generation
        return not left

    def _read_provider(self, uuid: str) -> _Listed | None:
        path = f"/resource_providers/{uuid}/allocations"
        document = self._client.find(path)
        if document is None:  # it was deleted just now
            return None
        allocations = _object(document.get("allocations"), path)
        generation = whole_number(document.get("resource_provider_generation"), f"GET {path}: the generation")
        consumers = {name: _generation_of(_object(entry, path), path) for name, entry in allocations.items()}
        return _Listed(generation, consumers)

    def _read_consumer(self, uuid: str) -> _Consumer | None:
        path = f"/allocations/{uuid}"
        document = self._client.get(path)
        allocations = _object(document.get("allocations"), path)
        if not allocations:
            return None
        if not isinstance(document.get("project_id"), str):
            raise BackendError(f"GET {path}: expected a project_id")
        type_ = str(document.get("consumer_type") or "unknown")
        uses = []
        for provider, entry in allocations.items():
            resources = _object(_object(entry, path).get("resources"), path)
            amounts = {class_: whole_number(amount, f"GET {path}: {class_}") for class_, amount in resources.items()}
            uses.append(Use(type_, provider, amounts, uuid))
        return _Consumer(_generation_of(document, path), document["project_id"], tuple(uses))


def _generation_of(document: Mapping[str, Any], path: str) -> int:
    return whole_number(document.get("consumer_generation"), f"GET {path}: a consumer's generation")


def _object(value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BackendError(f"GET {path}: Placement's answer has something else where an object was expected")
    return value
