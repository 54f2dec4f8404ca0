"""Inventory in the database: what each provider has of a resource class, and what is used of it.

Inventory of a class cannot go while there are allocations against it; it may shrink below what is used.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import peewee
from peewee import EXCLUDED, JOIN, fn

from limes.db.compiled import any_of, compiled, compiled_insert
from limes.db.engine import Engine
from limes.placement import models
from limes.placement.errors import CapacityExceeded, InventoryInUse, provider_missing
from limes.placement.models import Allocation, Provider, ResourceClass

MAX_INT = 2147483647


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a provider has of one class. Amounts are whole numbers of the class's unit."""

    total: int
    reserved: int = 0
    min_unit: int = 1
    max_unit: int = MAX_INT
    step_size: int = 1
    allocation_ratio: float = 1.0
    updated: float = 0.0

    @property
    def capacity(self) -> int:
        """How much may be allocated."""
        return int((self.total - self.reserved) * self.allocation_ratio)


@dataclass(frozen=True, slots=True)
class Stock:
    """Inventory of one class of one provider, with what all consumers together use of it."""

    class_id: int
    class_name: str
    inventory: Inventory
    used: int

    def check_units(self, amount: int, provider_uuid: str) -> None:
        """Raises `CapacityExceeded` unless the inventory's units allow this amount."""
        inventory = self.inventory
        if amount < inventory.min_unit or amount > inventory.max_unit or amount % inventory.step_size:
            raise self._refusal(provider_uuid, "would violate inventory constraints")

    def check_capacity(self, released: int, requested: int, provider_uuid: str) -> None:
        """Raises `CapacityExceeded` if all consumers together would have more than the capacity afterwards.

        `released` is what the consumers of this write give back of `used`, `requested` what they ask for. A write that
        does not raise the use is never refused: where inventory was lowered below use, it makes nothing worse.
        """
        if requested > released and self.used - released + requested > self.inventory.capacity:
            raise self._refusal(provider_uuid, "would exceed the capacity")

    def _refusal(self, provider_uuid: str, why: str) -> CapacityExceeded:
        return CapacityExceeded(
            f"Unable to create allocation for '{self.class_name}' on resource provider '{provider_uuid}'."
            f" The requested amount {why}."
        )


_Inventory = models.Inventory
_VALUES = (
    _Inventory.total,
    _Inventory.reserved,
    _Inventory.min_unit,
    _Inventory.max_unit,
    _Inventory.step_size,
    _Inventory.allocation_ratio,
    _Inventory.updated,
)
_OF_PROVIDER = compiled(
    lambda p: (
        Provider.select(Provider.generation, ResourceClass.name, *_VALUES)
        .join(_Inventory, JOIN.LEFT_OUTER, on=_Inventory.provider == Provider.id)
        .join(ResourceClass, JOIN.LEFT_OUTER, on=ResourceClass.id == _Inventory.resource_class)
        .where(Provider.uuid == p.uuid)
        .order_by(_Inventory.resource_class)
    ),
    prepare=True,
)
USED = Allocation.select(fn.COALESCE(fn.SUM(Allocation.used), 0)).where(
    Allocation.provider == _Inventory.provider, Allocation.resource_class == _Inventory.resource_class
)
"""What is used of an inventory, as a column of a SELECT from inventories."""
_STOCK = compiled(
    lambda p: (
        _Inventory.select(_Inventory.provider, _Inventory.resource_class, ResourceClass.name, USED, *_VALUES)
        .join(ResourceClass, on=ResourceClass.id == _Inventory.resource_class)
        .where(any_of(_Inventory.provider, p.providers))
    )
)


def of_provider(engine: Engine, uuid: str) -> tuple[int, dict[str, Inventory]]:
    """Returns a provider's generation, and its inventory by class name, ordered by class id. Raises `Missing`."""
    rows = engine.tuples(_OF_PROVIDER, uuid=uuid)
    if not rows:
        raise provider_missing(uuid, "No resource provider with uuid {} found : ")
    return rows[0][0], {name: Inventory(*values) for _, name, *values in rows if name is not None}


def stock_of(engine: Engine, provider_ids: Collection[int]) -> dict[int, dict[str, Stock]]:
    """Returns the inventories of providers, which must be locked, with their use, by provider id and class name."""
    if not provider_ids:
        return {}
    stocks: dict[int, dict[str, Stock]] = {provider_id: {} for provider_id in provider_ids}
    for provider_id, class_id, name, used, *values in engine.tuples(_STOCK, providers=provider_ids):
        stocks[provider_id][name] = Stock(class_id, name, Inventory(*values), used)
    return stocks


def _replace_if_known(insert: peewee.Insert) -> peewee.Node:
    return insert.on_conflict(
        conflict_target=[_Inventory.provider, _Inventory.resource_class],
        update={field: EXCLUDED[field.column_name] for field in _VALUES},
    )


_PUT = compiled_insert(_Inventory, _Inventory.provider, _Inventory.resource_class, *_VALUES, finish=_replace_if_known)


def put(engine: Engine, provider_id: int, inventories: Mapping[int, Inventory], now: float) -> None:
    """Adds inventories, by class id, to a locked provider, in place of those it has."""
    if inventories:
        rows = [_row(provider_id, class_id, inventory, now) for class_id, inventory in sorted(inventories.items())]
        engine.write(_PUT, rows=rows)


def _row(provider_id: int, class_id: int, inventory: Inventory, now: float) -> tuple[int | float, ...]:
    return (
        provider_id,
        class_id,
        inventory.total,
        inventory.reserved,
        inventory.min_unit,
        inventory.max_unit,
        inventory.step_size,
        inventory.allocation_ratio,
        now,
    )


_CLASS_IDS = compiled(lambda p: _Inventory.select(_Inventory.resource_class).where(_Inventory.provider == p.provider))
_OF_CLASS = compiled(
    lambda p: _Inventory.select(_Inventory.resource_class).where(
        _Inventory.provider == p.provider, _Inventory.resource_class == p.resource_class
    )
)


def add(engine: Engine, provider_id: int, class_id: int, inventory: Inventory, now: float) -> bool:
    """Adds the inventory of one class to a locked provider. Returns False if it has one already."""
    if engine.column(_OF_CLASS, provider=provider_id, resource_class=class_id):
        return False
    put(engine, provider_id, {class_id: inventory}, now)
    return True


def class_ids_of(engine: Engine, provider_id: int) -> set[int]:
    """Returns the ids of the classes of which a provider has inventory."""
    return set(engine.column(_CLASS_IDS, provider=provider_id))


_USED_CLASSES = compiled(
    lambda p: (
        Allocation.select(ResourceClass.id, ResourceClass.name)
        .distinct()
        .join(ResourceClass, on=ResourceClass.id == Allocation.resource_class)
        .where(Allocation.provider == p.provider, any_of(Allocation.resource_class, p.classes))
        .order_by(ResourceClass.id)
    )
)
_REMOVE = compiled(
    lambda p: _Inventory.delete().where(_Inventory.provider == p.provider, any_of(_Inventory.resource_class, p.classes))
)


def remove(engine: Engine, provider_id: int, provider_uuid: str, class_ids: Sequence[int]) -> int:
    """Removes inventory from a locked provider and returns how many there were. Raises `InventoryInUse`."""
    if not class_ids:
        return 0
    used = engine.tuples(_USED_CLASSES, provider=provider_id, classes=class_ids)
    if used:
        names = ", ".join(name for _, name in used)
        raise InventoryInUse(f"Inventory for '{names}' on resource provider '{provider_uuid}' in use.")
    return engine.write(_REMOVE, provider=provider_id, classes=class_ids)
