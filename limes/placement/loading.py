"""Reads the full state of providers: many at a time with each statement."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import peewee
from msgspec import Struct, field
from peewee import fn

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Node, collected, mapping, tuples
from limes.placement import models
from limes.placement.models import Allocation, ProviderAggregate, ProviderTrait, ResourceClass, Trait
from limes.placement.search.model import Inventory, Provider, TraitList

K = TypeVar("K")
V = TypeVar("V")
_CHUNK = 1000
_MAX_SHARED = 20_000

_Inventory, _Provider = models.Inventory, models.Provider


def _of(query: peewee.Query, provider_id: peewee.Field, ids: Sequence[int] | None) -> Node:
    return query if ids is None else query.where(any_of(provider_id, ids))


@tuples(tuple[int, str, str, int, int | None, int, float, int])
def _providers(ids: Sequence[int] | None) -> Node:
    query = _Provider.select(
        *(_Provider.id, _Provider.uuid, _Provider.name, _Provider.root, _Provider.parent),
        *(_Provider.generation, _Provider.updated, _Provider.changed),
    )
    return _of(query.order_by(_Provider.id), _Provider.id, ids)


@tuples(tuple[int, int, int, int, float, int, int, int])
def _inventories(ids: Sequence[int] | None) -> Node:
    query = _Inventory.select(
        *(_Inventory.provider, _Inventory.resource_class, _Inventory.total, _Inventory.reserved),
        *(_Inventory.allocation_ratio, _Inventory.min_unit, _Inventory.max_unit, _Inventory.step_size),
    )
    return _of(query.order_by(_Inventory.provider, _Inventory.resource_class), _Inventory.provider, ids)


@mapping(tuple[int, int], int)
def _used(ids: Sequence[int] | None) -> Node:
    key = (Allocation.provider, Allocation.resource_class)
    return _of(Allocation.select(*key, fn.SUM(Allocation.used)).group_by(*key), Allocation.provider, ids)


@collected(int, int)
def _traits(ids: Sequence[int] | None) -> Node:
    columns = (ProviderTrait.provider, ProviderTrait.trait)
    return _of(ProviderTrait.select(*columns).order_by(*columns), ProviderTrait.provider, ids)


@collected(int, str)
def _aggregates(ids: Sequence[int] | None) -> Node:
    query = ProviderAggregate.select(ProviderAggregate.provider, ProviderAggregate.aggregate_uuid)
    return _of(query, ProviderAggregate.provider, ids)


class Names(Struct, frozen=True):
    """The names that exist, by id. Standard names have lower ids than custom ones, and ids grow with time."""

    classes: Mapping[int, str] = field(default_factory=dict)
    traits: Mapping[int, str] = field(default_factory=dict)

    def renames(self, older: "Names") -> bool:
        """Returns whether a class or trait of `older` has a new name. Providers that have it must be read again."""
        return any(
            old.get(key, name) != name
            for names, old in ((self.classes, older.classes), (self.traits, older.traits))
            for key, name in names.items()
        )


def load_names(engine: Engine) -> Names:
    return Names(
        dict(engine.tuples(ResourceClass.select(ResourceClass.id, ResourceClass.name).order_by(ResourceClass.id))),
        dict(engine.tuples(Trait.select(Trait.id, Trait.name).order_by(Trait.id))),
    )


class ProviderLoader:
    """Makes `Provider`s of rows. Providers with equal traits or aggregates share one object for them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._trait_lists: dict[tuple[str, ...], TraitList] = {}
        self._aggregate_sets: dict[frozenset[str], frozenset[str]] = {}

    def load(self, names: Names, ids: Sequence[int] | None = None) -> Iterator[Provider]:
        """Yields the providers with these ids, or all. To be called in a snapshot. Unknown ids are left out."""
        parts = [None] if ids is None else [ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK)]
        for part in parts:
            inventories = self._inventories(names.classes, part)
            traits, aggregates = _traits(self._engine, part), _aggregates(self._engine, part)
            for key, uuid, name, root_id, parent_id, generation, updated, stamp in _providers(self._engine, part):
                has = tuple([names.traits[trait] for trait in traits.get(key, ())])
                trait_list = _shared(self._trait_lists, has, TraitList(has, frozenset(has)))
                uuids = frozenset(aggregates.get(key, ()))
                member_of = _shared(self._aggregate_sets, uuids, uuids)
                yield Provider(
                    *(key, uuid, name, root_id, parent_id, generation),
                    inventories=inventories.get(key, {}),
                    traits=trait_list,
                    aggregates=member_of,
                    updated_at=updated,
                    stamp=stamp,
                )

    def _inventories(self, classes: Mapping[int, str], ids: Sequence[int] | None) -> dict[int, dict[str, Inventory]]:
        used = _used(self._engine, ids)
        inventories: dict[int, dict[str, Inventory]] = {}
        for key, class_id, total, reserved, ratio, *units in _inventories(self._engine, ids):
            capacity = int((total - reserved) * ratio)
            inventory = Inventory(capacity, used.get((key, class_id), 0), *units)
            inventories.setdefault(key, {})[classes[class_id]] = inventory
        return inventories


def _shared(known: dict[K, V], key: K, value: V) -> V:
    if len(known) > _MAX_SHARED:
        known.clear()
    return known.setdefault(key, value)
