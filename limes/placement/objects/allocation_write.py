"""Writing allocations, and the reshaper: inventory and allocations that move between providers in one step.

The invariants: no write makes the use of a provider's class exceed its capacity, or makes an excess worse; a write
changes the allocations of all consumers it names, or of none; the generation of a consumer grows with each write, that
of a provider with each write that gives it allocations or empties one of its consumers.

How they are kept: first limits, consumers and providers are locked, in this order, and each kind in a fixed order. All
decisions rest on rows that are read after that. The number of statements does not depend on the number of allocations.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from peewee import Case

from limes.db.compiled import any_of
from limes.db.compiled import lock as lock_rows
from limes.db.engine import Engine
from limes.db.query import Insert, Node, mapping, rows, writes_for
from limes.placement.errors import CapacityExceeded, ConcurrentUpdate, InvalidValue, ProviderUnknown
from limes.placement.models import Allocation, Provider, ResourceClass
from limes.placement.objects import allocation, change, inventory, quota, vocabulary
from limes.placement.objects.allocation import ANY_GENERATION, Claim, Consumer
from limes.placement.objects.inventory import Inventory, Stock

_CHUNK = 5000
_MOST_PROVIDERS = 10_000


class _Held(NamedTuple):
    """A row of a consumer's allocations before the write."""

    consumer_id: int
    provider_id: int
    class_name: str
    used: int


_Row = tuple[int, int, int, int]
"""(consumer id, provider id, class id, amount)"""


class Shape(Struct, frozen=True):
    """All the inventory that a provider is to have, and the generation that the client saw."""

    generation: int
    read: Callable[[], Mapping[str, Inventory]]
    """Returns the inventories by class name. Raises `InvalidValue`. Called only if the generation is not stale."""


def replace(engine: Engine, claims: Sequence[Claim], now: float, shapes: Mapping[str, Shape] | None = None) -> None:
    """Gives each consumer what its claim says, and each provider (by UUID) its shape, all or nothing. To be called
    inside a transaction.

    Raises `ConcurrentUpdate` for a stale generation, `InvalidValue` for what does not exist, `CapacityExceeded` for
    what does not fit, `QuotaExceeded` for what a project may not have; and because of a shape, `ProviderUnknown` and
    `InventoryInUse`.
    """
    if not claims and not shapes:
        return
    write = _AllocationWrite(engine, claims, now)
    providers = write.lock(also=list(shapes or ()))
    if shapes:
        _check_shapes(engine, shapes, providers)
    write.check()
    reshaped = {uuid: shape.read() for uuid, shape in (shapes or {}).items()}
    classes = vocabulary.check_classes(engine, {name for inventories in reshaped.values() for name in inventories})
    for uuid, inventories in reshaped.items():
        inventory.put(engine, providers[uuid], {classes[name]: inventories[name] for name in inventories}, now)
    write.apply()
    for uuid, inventories in reshaped.items():
        kept = {classes[name] for name in inventories}
        inventory.remove(engine, providers[uuid], uuid, inventory.class_ids_of(engine, providers[uuid]) - kept)
    if reshaped:
        # counts as clients expect: one step for the final inventory, and one for the interim one, if there is any
        with_interim = [providers[uuid] for uuid, inventories in reshaped.items() if inventories]
        _count_up(engine, 1, with_interim, [providers[uuid] for uuid in reshaped], now)


@mapping(str, int)
def _generations(uuids: Collection[str]) -> Node:
    return Provider.select(Provider.uuid, Provider.generation).where(any_of(Provider.uuid, uuids))


def _check_shapes(engine: Engine, shapes: Mapping[str, Shape], providers: Mapping[str, int]) -> None:
    actual = _generations(engine, list(shapes))
    for uuid, shape in shapes.items():
        if uuid not in providers:
            raise ProviderUnknown(
                f"Resource provider {uuid} in inventories not found: No resource provider with uuid {uuid} found"
            )
        if actual[uuid] != shape.generation:
            raise ConcurrentUpdate(
                f"resource provider generation conflict for provider {uuid}:"
                f" actual: {actual[uuid]}, given: {shape.generation}"
            )


@change.stamped
def _stamp_providers_of(consumer_id: int) -> Node:
    held = Allocation.select(Allocation.provider).where(Allocation.consumer == consumer_id)
    return Provider.update(changed=change.STAMP).where(any_of(Provider.id, held))


@writes_for("consumer_ids", prepare=True)
def _delete_of(consumer_ids: Collection[int]) -> Node:
    return Allocation.delete().where(any_of(Allocation.consumer, consumer_ids))


def delete(engine: Engine, uuid: str) -> bool:
    """Takes everything from a consumer. Returns False if it has nothing. To be called inside a transaction."""
    locked = allocation.lock_consumers(engine, [uuid]).get(uuid)
    if locked is None:
        return False
    _lock_providers(engine, (), [locked.id])
    _stamp_providers_of(engine, locked.id)
    _delete_of(engine, [locked.id])
    allocation.delete_consumers(engine, [locked.id])
    return True


class _AllocationWrite:
    """One write in three steps, between which inventory is checked and changed."""

    def __init__(self, engine: Engine, claims: Sequence[Claim], now: float) -> None:
        self._engine, self._claims, self._now = engine, claims, now
        self._limits: quota.Limits = {}
        self._before: dict[str, Consumer] = {}
        self._consumers: dict[str, Consumer] = {}
        self._old_ids: list[int] = []
        self._held: list[_Held] = []
        self._providers: dict[str, int] = {}

    def lock(self, also: Collection[str] = ()) -> dict[str, int]:
        """Locks all that the write concerns, and the existing providers among the UUIDs `also`. Returns the locked
        providers' ids by UUID. Raises `InvalidValue` if there are too many."""
        engine, claims = self._engine, self._claims
        if claims:
            self._limits = quota.lock(engine, {claim.owner.project_id for claim in claims})
            if self._limits:
                self._before = allocation.lock_consumers(engine, [claim.owner.uuid for claim in claims])
            self._consumers = allocation.write_consumers(engine, [claim.owner for claim in claims], self._now)
        self._old_ids = [written.id for written in self._consumers.values() if written.generation > 1]
        named = self._named()
        if len(named) > _MOST_PROVIDERS:
            raise InvalidValue(f"One request may name at most {_MOST_PROVIDERS} resource providers.")
        self._providers = _lock_providers(engine, named | set(also), self._old_ids)
        return self._providers

    def check(self) -> None:
        """Raises `ConcurrentUpdate` for a stale generation, or else `InvalidValue` for an unknown provider."""
        for claim in self._claims:
            written = self._consumers[claim.owner.uuid].generation
            expected = None if written == 1 else written - 1
            if claim.generation not in (ANY_GENERATION, expected):
                shown = "null" if expected is None else expected
                raise ConcurrentUpdate(f"consumer generation conflict - expected {shown} but got {claim.generation}")
        for claim in self._claims:
            for uuid in claim.resources:
                if uuid not in self._providers:
                    raise InvalidValue(f"Allocation for resource provider '{uuid}' that does not exist.")

    def _named(self) -> set[str]:
        return {uuid for claim in self._claims for uuid in claim.resources}

    def apply(self) -> None:
        """Writes. Raises `CapacityExceeded`, `InvalidValue` or `QuotaExceeded`."""
        self._held = _held_by(self._engine, self._old_ids)
        rows = self._fitting_rows()
        with self._engine.batch.collect():
            if self._held:
                _delete_of(self._engine, self._old_ids)
            _add(self._engine, [(*row, self._now) for row in rows])
            self._count_up({row[1] for row in rows})
        if self._limits:
            quota.check(self._engine, self._limits, self._raised())
        gone = [self._consumers[claim.owner.uuid].id for claim in self._claims if not claim.resources]
        allocation.delete_consumers(self._engine, gone)

    def _fitting_rows(self) -> list[_Row]:
        stocks = inventory.stock_of(self._engine, {self._providers[uuid] for uuid in self._named()})
        self._check_inventory(stocks)
        released: dict[tuple[int, str], int] = defaultdict(int)
        for held in self._held:
            released[held.provider_id, held.class_name] += held.used
        rows = []
        requested: dict[tuple[int, str], int] = defaultdict(int)
        for claim in self._claims:
            consumer_id = self._consumers[claim.owner.uuid].id
            for uuid, class_name, amount in claim.amounts():
                provider_id = self._providers[uuid]
                stock = stocks[provider_id].get(class_name)
                if stock is None:
                    raise _no_inventory([class_name], [uuid])
                key = (provider_id, class_name)
                requested[key] += amount
                stock.check_units(amount, uuid)
                stock.check_capacity(released[key], requested[key], uuid)
                rows.append((consumer_id, provider_id, stock.class_id, amount))
        return rows

    def _check_inventory(self, stocks: Mapping[int, Mapping[str, Stock]]) -> None:
        """Raises `ClassUnknown` for a class that does not exist, or `CapacityExceeded` for a provider without inventory
        of any class that the write names."""
        named = dict.fromkeys(name for claim in self._claims for _, name, _ in claim.amounts())
        useful = {uuid for uuid in self._named() if not named.keys().isdisjoint(stocks[self._providers[uuid]])}
        if useful == self._named() and all(name in classes for classes in stocks.values() for name in named):
            return
        vocabulary.check_classes(self._engine, named)
        useless = dict.fromkeys(uuid for claim in self._claims for uuid in claim.resources if uuid not in useful)
        if useless:
            raise _no_inventory(named, useless)

    def _count_up(self, gaining: Collection[int]) -> None:
        """Stamps all providers concerned. Counts up the generation of providers that gain or lose a consumer
        permanently."""
        emptied = {self._consumers[claim.owner.uuid].id for claim in self._claims if not claim.resources}
        counted = set(gaining) | {held.provider_id for held in self._held if held.consumer_id in emptied}
        if touched := counted | {held.provider_id for held in self._held}:
            _count_up(self._engine, 0, counted, touched, self._now)

    def _raised(self) -> Mapping[tuple[str, str], int]:
        """By how much the write raises the use, by project and class."""
        raised: dict[tuple[str, str], int] = defaultdict(int)
        projects = {known.id: known.project_id for known in self._before.values()}
        for held in self._held:
            # a consumer that another project has just created releases nothing for this one
            project_id = projects.get(held.consumer_id)
            if project_id is not None:
                raised[project_id, held.class_name] -= held.used
        for claim in self._claims:
            for _, class_name, amount in claim.amounts():
                raised[claim.owner.project_id, class_name] += amount
        return raised


def _no_inventory(classes: Iterable[str], providers: Iterable[str]) -> CapacityExceeded:
    return CapacityExceeded(
        f"Inventory for '{', '.join(classes)}' on resource provider '{', '.join(providers)}' invalid."
    )


@mapping(str, int, prepare=True)
def _lock_providers_of(uuids: Collection[str], consumer_ids: Collection[int]) -> Node:
    named = Provider.alias()
    concerned = named.select(named.id).where(any_of(named.uuid, uuids)) + Allocation.select(Allocation.provider).where(
        any_of(Allocation.consumer, consumer_ids)
    )
    query = Provider.select(Provider.uuid, Provider.id).where(any_of(Provider.id, concerned))
    return lock_rows(query.order_by(Provider.id))


def _lock_providers(engine: Engine, uuids: Collection[str], consumer_ids: Sequence[int]) -> dict[str, int]:
    """Locks the providers of these UUIDs, and the ones from which the consumers have allocations. Returns ids by
    UUID."""
    return _lock_providers_of(engine, uuids, consumer_ids) if uuids or consumer_ids else {}


@rows(_Held, skip_empty="consumer_ids", prepare=True)
def _held_by(consumer_ids: Collection[int]) -> Node:
    query = Allocation.select(Allocation.consumer, Allocation.provider, ResourceClass.name, Allocation.used)
    query = query.join(ResourceClass, on=ResourceClass.id == Allocation.resource_class)
    return query.where(any_of(Allocation.consumer, consumer_ids))


@change.stamped
def _count_up(steps: int, one_more: Collection[int], provider_ids: Collection[int], now: float) -> Node:
    """Counts up the generations of providers: those of `one_more` by one more than by `steps`."""
    generation = Provider.generation + steps + Case(None, [(any_of(Provider.id, one_more), 1)], 0)
    query = Provider.update(generation=generation, updated=now, changed=change.STAMP)
    return query.where(any_of(Provider.id, provider_ids))


_add = Insert(
    tuple[int, int, int, int, float],
    Allocation,
    *(Allocation.consumer, Allocation.provider, Allocation.resource_class, Allocation.used, Allocation.updated),
    at_once=_CHUNK,
    prepare=True,
)
