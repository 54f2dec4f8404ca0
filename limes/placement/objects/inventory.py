"""Inventory in the database: what each provider has of a resource class, and what is used of it.

Inventory of a class cannot go while there are allocations against it; it may shrink below what is used.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from msgspec import Struct
from peewee import JOIN, fn

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Insert, Node, distinct, mapping, tuples, writes
from limes.placement import errors, models
from limes.placement.models import Allocation, Provider, ResourceClass

MAX_INT = 2147483647


class Inventory(NamedTuple):
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
        return int((self.total - self.reserved) * self.allocation_ratio)


class Stock(Struct, frozen=True):
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
        """Raises `CapacityExceeded` if all consumers together would have more than the capacity afterwards. `released`
        is what the consumers of this write give back of `used`, `requested` what they ask for. A write that does not
        raise the use is never refused: where inventory was lowered below use, it makes nothing worse."""
        if requested > released and self.used - released + requested > self.inventory.capacity:
            raise self._refusal(provider_uuid, "would exceed the capacity")

    def _refusal(self, provider_uuid: str, why: str) -> errors.CapacityExceeded:
        return errors.CapacityExceeded(
            f"Unable to create allocation for '{self.class_name}' on resource provider '{provider_uuid}'."
            f" The requested amount {why}."
        )


_Inventory = models.Inventory
_VALUES = tuple(getattr(_Inventory, name) for name in Inventory._fields)
USED = Allocation.select(fn.COALESCE(fn.SUM(Allocation.used), 0)).where(
    Allocation.provider == _Inventory.provider, Allocation.resource_class == _Inventory.resource_class
)
"""What is used of an inventory, as a column of a SELECT from inventories."""


@tuples(tuple[int, str | None, Any, Any, Any, Any, Any, Any, Any], prepare=True)
def _of_provider(uuid: str) -> Node:
    query = (
        Provider.select(Provider.generation, ResourceClass.name, *_VALUES)
        .join(_Inventory, JOIN.LEFT_OUTER, on=_Inventory.provider == Provider.id)
        .join(ResourceClass, JOIN.LEFT_OUTER, on=ResourceClass.id == _Inventory.resource_class)
    )
    return query.where(Provider.uuid == uuid).order_by(_Inventory.resource_class)


def of_provider(engine: Engine, uuid: str) -> tuple[int, dict[str, Inventory]]:
    """A provider's generation, and its inventory by class name, ordered by class id. Raises `Missing`."""
    rows = _of_provider(engine, uuid)
    if not rows:
        raise errors.provider_missing(uuid, "No resource provider with uuid {} found : ")
    return rows[0][0], {name: Inventory(*values) for _, name, *values in rows if name is not None}


@tuples(tuple[int, int, str, int, Any, Any, Any, Any, Any, Any, Any], skip_empty="provider_ids", prepare=True)
def _stock(provider_ids: Collection[int]) -> Node:
    query = _Inventory.select(_Inventory.provider, _Inventory.resource_class, ResourceClass.name, USED, *_VALUES)
    query = query.join(ResourceClass, on=ResourceClass.id == _Inventory.resource_class)
    return query.where(any_of(_Inventory.provider, provider_ids))


def stock_of(engine: Engine, provider_ids: Collection[int]) -> dict[int, dict[str, Stock]]:
    """The inventories of providers, which must be locked, with their use, by provider id and class name."""
    stocks: dict[int, dict[str, Stock]] = {provider_id: {} for provider_id in provider_ids}
    for provider_id, class_id, name, used, *values in _stock(engine, provider_ids):
        stocks[provider_id][name] = Stock(class_id, name, Inventory(*values), used)
    return stocks


_put = Insert(
    tuple[int, int, int, int, int, int, int, float, float],
    _Inventory,
    *(_Inventory.provider, _Inventory.resource_class, *_VALUES),
    key=2,
)


def put(engine: Engine, provider_id: int, inventories: Mapping[int, Inventory], now: float) -> None:
    """Adds inventories, by class id, to a locked provider, in place of those it has."""
    by_id = sorted(inventories.items())
    _put(engine, [(provider_id, class_id, *inventory._replace(updated=now)) for class_id, inventory in by_id])


@distinct(int)
def class_ids_of(provider_id: int) -> Node:
    return _Inventory.select(_Inventory.resource_class).where(_Inventory.provider == provider_id)


@mapping(int, str)
def _used_classes(provider_id: int, class_ids: Collection[int]) -> Node:
    query = Allocation.select(ResourceClass.id, ResourceClass.name).distinct()
    query = query.join(ResourceClass, on=ResourceClass.id == Allocation.resource_class)
    is_held = (Allocation.provider == provider_id, any_of(Allocation.resource_class, class_ids))
    return query.where(*is_held).order_by(ResourceClass.id)


@writes
def _remove(provider_id: int, class_ids: Collection[int]) -> Node:
    return _Inventory.delete().where(_Inventory.provider == provider_id, any_of(_Inventory.resource_class, class_ids))


def remove(engine: Engine, provider_id: int, provider_uuid: str, class_ids: Collection[int]) -> int:
    """Removes inventory from a locked provider and returns how many there were. Raises `InventoryInUse`."""
    if not class_ids:
        return 0
    used = _used_classes(engine, provider_id, class_ids)
    if used:
        names = ", ".join(used.values())
        raise errors.InventoryInUse(f"Inventory for '{names}' on resource provider '{provider_uuid}' in use.")
    return _remove(engine, provider_id, class_ids)
