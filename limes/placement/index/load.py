"""Reads the full state of providers: many at a time with each statement."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import peewee
from peewee import fn

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Node, mapping, tuples
from limes.placement import models
from limes.placement.models import Allocation, ProviderAggregate, ProviderTrait, ResourceClass, Trait
from limes.placement.search.model import Inventory, Provider, TraitList

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


@tuples(tuple[int, int])
def _traits(ids: Sequence[int] | None) -> Node:
    columns = (ProviderTrait.provider, ProviderTrait.trait)
    return _of(ProviderTrait.select(*columns).order_by(*columns), ProviderTrait.provider, ids)


@tuples(tuple[int, str])
def _aggregates(ids: Sequence[int] | None) -> Node:
    query = ProviderAggregate.select(ProviderAggregate.provider, ProviderAggregate.aggregate_uuid)
    return _of(query, ProviderAggregate.provider, ids)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that exist, by id. Standard names have lower ids than custom ones, and ids grow with time."""

    classes: Mapping[int, str] = field(default_factory=dict)
    traits: Mapping[int, str] = field(default_factory=dict)

    def renames(self, older: "Vocabulary") -> bool:
        """Returns whether a class or trait of `older` has a new name. Providers that have it must be read again."""
        return any(
            old.get(key, name) != name
            for names, old in ((self.classes, older.classes), (self.traits, older.traits))
            for key, name in names.items()
        )


def load_vocabulary(engine: Engine) -> Vocabulary:
    """Returns all resource classes and traits, in the order of their ids."""
    return Vocabulary(
        dict(engine.tuples(ResourceClass.select(ResourceClass.id, ResourceClass.name).order_by(ResourceClass.id))),
        dict(engine.tuples(Trait.select(Trait.id, Trait.name).order_by(Trait.id))),
    )


class ProviderLoader:
    """Makes `Provider`s of rows. Providers with equal traits or aggregates share one object for them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._trait_lists: dict[tuple[str, ...], TraitList] = {}
        self._aggregate_sets: dict[frozenset[str], frozenset[str]] = {}

    def load(self, vocabulary: Vocabulary, ids: Sequence[int] | None = None) -> Iterator[Provider]:
        """Yields the providers with these ids, or all. To be called in a snapshot. Unknown ids are left out."""
        if ids is None:
            yield from self._load(vocabulary, None)
            return
        for start in range(0, len(ids), _CHUNK):
            yield from self._load(vocabulary, ids[start : start + _CHUNK])

    def _load(self, vocabulary: Vocabulary, ids: Sequence[int] | None) -> Iterator[Provider]:
        inventories = self._inventories(vocabulary.classes, ids)
        traits = _grouped((key, vocabulary.traits[trait]) for key, trait in _traits(self._engine, ids))
        aggregates = _grouped(_aggregates(self._engine, ids))
        for key, uuid, name, root_id, parent_id, generation, updated, stamp in _providers(self._engine, ids):
            yield Provider(
                key,
                uuid,
                name,
                root_id,
                parent_id,
                generation,
                inventories.get(key, {}),
                self._trait_list(tuple(traits.get(key, ()))),
                self._aggregate_set(frozenset(aggregates.get(key, ()))),
                updated,
                stamp,
            )

    def _inventories(self, classes: Mapping[int, str], ids: Sequence[int] | None) -> dict[int, dict[str, Inventory]]:
        used = _used(self._engine, ids)
        inventories: dict[int, dict[str, Inventory]] = {}
        for key, class_id, total, reserved, ratio, *units in _inventories(self._engine, ids):
            capacity = int((total - reserved) * ratio)
            inventory = Inventory(capacity, used.get((key, class_id), 0), *units)
            inventories.setdefault(key, {})[classes[class_id]] = inventory
        return inventories

    def _trait_list(self, names: tuple[str, ...]) -> TraitList:
        if len(self._trait_lists) > _MAX_SHARED:
            self._trait_lists.clear()
        return self._trait_lists.setdefault(names, TraitList(names, frozenset(names)))

    def _aggregate_set(self, uuids: frozenset[str]) -> frozenset[str]:
        if len(self._aggregate_sets) > _MAX_SHARED:
            self._aggregate_sets.clear()
        return self._aggregate_sets.setdefault(uuids, uuids)


def _grouped(rows: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    grouped: dict[int, list[str]] = {}
    for key, text in rows:
        grouped.setdefault(key, []).append(text)
    return grouped
