"""Reads the full state of providers, a whole set with each statement."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from limes.db.engine import Engine, Row, placeholders
from limes.placement.search.model import Inventory, Provider, TraitList

_CHUNK = 1000
_MAX_SHARED = 20_000

_PROVIDERS = (
    "SELECT id, uuid, name, root_id, parent_id, generation, updated FROM placement_providers{where} ORDER BY id"
)
_INVENTORIES = """
SELECT i.provider_id, i.class_id, i.total, i.reserved, i.allocation_ratio, i.min_unit, i.max_unit, i.step_size
FROM placement_inventories i{where} ORDER BY i.provider_id, i.class_id
"""
_USED = "SELECT provider_id, class_id, SUM(used) FROM placement_allocations{where} GROUP BY provider_id, class_id"
_TRAITS = "SELECT provider_id, trait_id FROM placement_provider_traits{where} ORDER BY provider_id, trait_id"
_AGGREGATES = "SELECT provider_id, aggregate_uuid FROM placement_provider_aggregates{where}"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that exist, by id. Standard names have lower ids than custom ones, and ids grow with time."""

    classes: Mapping[int, str] = field(default_factory=dict)
    traits: Mapping[int, str] = field(default_factory=dict)

    def renames(self, older: "Vocabulary") -> bool:
        """Whether a class or trait of `older` has another name now, so that whoever has it has to be read again."""
        return any(
            old.get(key, name) != name
            for names, old in ((self.classes, older.classes), (self.traits, older.traits))
            for key, name in names.items()
        )


def load_vocabulary(engine: Engine) -> Vocabulary:
    """All resource classes and traits, in the order of their ids."""
    return Vocabulary(
        dict(engine.rows("SELECT id, name FROM placement_resource_classes ORDER BY id")),
        dict(engine.rows("SELECT id, name FROM placement_traits ORDER BY id")),
    )


class ProviderLoader:
    """Makes `Provider`s of rows. Equal sets of traits and aggregates become one object, which most providers share."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._trait_lists: dict[tuple[str, ...], TraitList] = {}
        self._aggregate_sets: dict[frozenset[str], frozenset[str]] = {}

    def load(self, vocabulary: Vocabulary, ids: Sequence[int] | None = None) -> Iterator[Provider]:
        """The providers with these ids, or all of them. Call it in a snapshot. Ids that do not exist are left out."""
        if ids is None:
            yield from self._load(vocabulary, None)
            return
        for start in range(0, len(ids), _CHUNK):
            yield from self._load(vocabulary, ids[start : start + _CHUNK])

    def _load(self, vocabulary: Vocabulary, ids: Sequence[int] | None) -> Iterator[Provider]:
        inventories = self._inventories(vocabulary.classes, ids)
        traits = _grouped(self._rows(_TRAITS, "provider_id", ids), lambda row: vocabulary.traits[row[1]])
        aggregates = _grouped(self._rows(_AGGREGATES, "provider_id", ids), lambda row: str(row[1]))
        for key, uuid, name, root_id, parent_id, generation, updated in self._rows(_PROVIDERS, "id", ids):
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
            )

    def _inventories(self, classes: Mapping[int, str], ids: Sequence[int] | None) -> dict[int, dict[str, Inventory]]:
        used = {(row[0], row[1]): int(row[2]) for row in self._rows(_USED, "provider_id", ids)}
        inventories: dict[int, dict[str, Inventory]] = {}
        for key, class_id, total, reserved, ratio, *units in self._rows(_INVENTORIES, "i.provider_id", ids):
            capacity = int((total - reserved) * ratio)
            inventory = Inventory(capacity, used.get((key, class_id), 0), *units)
            inventories.setdefault(key, {})[classes[class_id]] = inventory
        return inventories

    def _rows(self, sql: str, column: str, ids: Sequence[int] | None) -> list[Row]:
        if ids is None:
            return self._engine.rows(sql.format(where=""))
        return self._engine.rows(sql.format(where=f" WHERE {column} IN ({placeholders(len(ids))})"), ids)

    def _trait_list(self, names: tuple[str, ...]) -> TraitList:
        if len(self._trait_lists) > _MAX_SHARED:
            self._trait_lists.clear()
        return self._trait_lists.setdefault(names, TraitList(names, frozenset(names)))

    def _aggregate_set(self, uuids: frozenset[str]) -> frozenset[str]:
        if len(self._aggregate_sets) > _MAX_SHARED:
            self._aggregate_sets.clear()
        return self._aggregate_sets.setdefault(uuids, uuids)


def _grouped(rows: Iterable[Row], value: Callable[[Row], str]) -> dict[int, list[Any]]:
    grouped: dict[int, list[Any]] = {}
    for row in rows:
        grouped.setdefault(row[0], []).append(value(row))
    return grouped
