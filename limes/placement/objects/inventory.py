"""Inventory in the database: what each provider has of a resource class, and what is used of it.

Inventory of a class cannot go while there are allocations against it; it may shrink below what is used.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from limes.db.engine import Engine, placeholders
from limes.placement.errors import InventoryInUse, provider_missing

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


_COLUMNS = "i.total, i.reserved, i.min_unit, i.max_unit, i.step_size, i.allocation_ratio, i.updated"


def of_provider(engine: Engine, uuid: str) -> tuple[int, dict[str, Inventory]]:
    """A provider's generation, and its inventory by class name in order of the classes' ids. Raises `Missing`."""
    rows = engine.read(
        f"SELECT p.generation, c.name, {_COLUMNS} FROM placement_providers p"
        " LEFT JOIN placement_inventories i ON i.provider_id = p.id"
        " LEFT JOIN placement_resource_classes c ON c.id = i.class_id WHERE p.uuid = %s ORDER BY i.class_id",
        [uuid],
    )
    if not rows:
        raise provider_missing(uuid, "No resource provider with uuid {} found : ")
    return rows[0][0], {row[1]: Inventory(*row[2:]) for row in rows if row[1] is not None}


def stock_of(engine: Engine, provider_ids: Collection[int]) -> dict[int, dict[str, Stock]]:
    """By provider id and class name: the inventories of providers, which have to be locked, with their use."""
    if not provider_ids:
        return {}
    rows = engine.rows(
        f"SELECT i.provider_id, i.class_id, c.name, {_COLUMNS},"
        " (SELECT COALESCE(SUM(a.used), 0) FROM placement_allocations a"
        "  WHERE a.provider_id = i.provider_id AND a.class_id = i.class_id)"
        " FROM placement_inventories i JOIN placement_resource_classes c ON c.id = i.class_id"
        f" WHERE i.provider_id IN ({placeholders(len(provider_ids))})",
        list(provider_ids),
    )
    found: dict[int, dict[str, Stock]] = {provider_id: {} for provider_id in provider_ids}
    for provider_id, class_id, name, *values, used in rows:
        found[provider_id][name] = Stock(class_id, name, Inventory(*values), used)
    return found


def put(engine: Engine, provider_id: int, inventories: Mapping[int, Inventory], now: float) -> None:
    """Adds inventories, by class id, to a locked provider, or puts them in place of those it has."""
    if not inventories:
        return
    engine.execute(
        "INSERT INTO placement_inventories (provider_id, class_id, total, reserved, min_unit, max_unit, step_size,"
        " allocation_ratio, updated) VALUES "
        + ", ".join(["(%s, %s, %s, %s, %s, %s, %s, %s, %s)"] * len(inventories))
        + " ON CONFLICT (provider_id, class_id) DO UPDATE SET total = excluded.total, reserved = excluded.reserved,"
        " min_unit = excluded.min_unit, max_unit = excluded.max_unit, step_size = excluded.step_size,"
        " allocation_ratio = excluded.allocation_ratio, updated = excluded.updated",
        [
            value
            for class_id, one in sorted(inventories.items())
            for value in (
                provider_id,
                class_id,
                one.total,
                one.reserved,
                one.min_unit,
                one.max_unit,
                one.step_size,
                one.allocation_ratio,
                now,
            )
        ],
    )


def add(engine: Engine, provider_id: int, class_id: int, one: Inventory, now: float) -> bool:
    """Adds the inventory of one class to a locked provider. Answers False if it has one already."""
    sql = "SELECT 1 FROM placement_inventories WHERE provider_id = %s AND class_id = %s"
    if engine.row(sql, [provider_id, class_id]):
        return False
    put(engine, provider_id, {class_id: one}, now)
    return True


def class_ids_of(engine: Engine, provider_id: int) -> set[int]:
    """The ids of the classes of which a provider has inventory."""
    rows = engine.rows("SELECT class_id FROM placement_inventories WHERE provider_id = %s", [provider_id])
    return {row[0] for row in rows}


def remove(engine: Engine, provider_id: int, provider_uuid: str, class_ids: Sequence[int]) -> int:
    """Removes inventory from a locked provider and answers how many there were. Raises `InventoryInUse`."""
    if not class_ids:
        return 0
    marks = placeholders(len(class_ids))
    params = [provider_id, *class_ids]
    used = engine.rows(
        "SELECT DISTINCT c.id, c.name FROM placement_allocations a"
        " JOIN placement_resource_classes c ON c.id = a.class_id"
        f" WHERE a.provider_id = %s AND a.class_id IN ({marks}) ORDER BY c.id",
        params,
    )
    if used:
        names = ", ".join(row[1] for row in used)
        raise InventoryInUse(f"Inventory for '{names}' on resource provider '{provider_uuid}' in use.")
    return engine.execute(f"DELETE FROM placement_inventories WHERE provider_id = %s AND class_id IN ({marks})", params)
