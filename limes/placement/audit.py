"""Finds what should not be in the database, and deletes what is safe to delete.

It finds *orphans*, consumers whose project no longer exists, so that their allocations would never be released;
*excesses*, inventories with more usage than capacity (they were lowered); and *idle* consumers, which have no
allocations (the API itself never leaves any behind).

The invariant of a repair: no allocation is deleted unless its consumer belonged, at the moment of deletion, to a
project that was known to be gone. Projects are read first and then looked up in Keystone, so a project that is created
meanwhile is never among them; and project ids are never used twice. Each consumer is checked again under its lock. If
the lookup fails, everything stays as it is.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import groupby

from msgspec import Struct
from peewee import fn

from limes.db import compiled, transactions
from limes.db.engine import Engine
from limes.placement.models import Allocation, Consumer, Provider, ResourceClass
from limes.placement.models import Inventory as InventoryModel
from limes.placement.objects import allocation, allocation_write, inventory

FindGone = Callable[[Collection[str]], Collection[str]]
"""Given ids of projects, returns the ones that certainly no longer exist. Raises a `LimesError` if it cannot tell."""

_CHUNK = 500


class Orphan(Struct, frozen=True):
    """A consumer whose project is gone. `resources` is what it has: amounts by class name, over all providers."""

    uuid: str
    project_id: str
    consumer_type: str | None
    resources: Mapping[str, int]


class Excess(Struct, frozen=True):
    """An inventory with more usage than capacity."""

    provider_uuid: str
    provider_name: str
    class_name: str
    used: int
    capacity: int


class Findings(Struct, frozen=True):
    """All that an audit found. `idle` has the UUIDs of consumers without allocations."""

    orphans: tuple[Orphan, ...]
    excesses: tuple[Excess, ...]
    idle: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.orphans or self.excesses or self.idle)


def audit(engine: Engine, find_gone: FindGone, incomplete_project_id: str) -> Findings:
    """Checks everything and changes nothing. `incomplete_project_id` is the stand-in for the project of consumers that
    were written below microversion 1.8: it never existed, so it cannot be gone. Raises what `find_gone` raises."""
    projects = engine.column(Consumer.select(Consumer.project_id).distinct().order_by(Consumer.project_id))
    asked = [project_id for project_id in projects if project_id != incomplete_project_id]
    gone = sorted(set(find_gone(asked)) & set(asked)) if asked else []
    has_any = fn.EXISTS(Allocation.select(Allocation.consumer).where(Allocation.consumer == Consumer.id))
    idle = Consumer.select(Consumer.uuid).where(~has_any).order_by(Consumer.uuid)
    return engine.snapshot(
        lambda: Findings(tuple(_orphans(engine, gone)), find_excesses(engine), tuple(engine.column(idle)))
    )


@transactions.atomic
def delete_orphan(engine: Engine, orphan: Orphan) -> bool:
    """Deletes a consumer with its allocations. Returns False, and keeps it, if by now it belongs to another project."""
    locked = allocation.lock_consumers(engine, [orphan.uuid]).get(orphan.uuid)
    if locked is None or locked.project_id != orphan.project_id:
        return False
    return allocation_write.delete(engine, orphan.uuid)


@transactions.atomic
def delete_idle(engine: Engine, uuid: str) -> bool:
    """Deletes a consumer without allocations. Returns False, and keeps it, if it has some by now."""
    locked = allocation.lock_consumers(engine, [uuid]).get(uuid)
    if locked is None or engine.column(
        Allocation.select(Allocation.consumer).where(Allocation.consumer == locked.id).limit(1)
    ):
        return False
    allocation.delete_consumers(engine, [locked.id])
    return True


def _orphans(engine: Engine, gone: list[str]) -> Iterator[Orphan]:
    for start in range(0, len(gone), _CHUNK):
        columns = (Consumer.uuid, Consumer.project_id, Consumer.consumer_type)
        rows = engine.tuples(
            Consumer.select(*columns, ResourceClass.name, fn.SUM(Allocation.used))
            .join(Allocation, on=Allocation.consumer == Consumer.id)
            .join(ResourceClass, on=ResourceClass.id == Allocation.resource_class)
            .where(compiled.any_of(Consumer.project_id, gone[start : start + _CHUNK]))
            .group_by(*columns, ResourceClass.id, ResourceClass.name)
            .order_by(Consumer.project_id, Consumer.uuid, ResourceClass.id)
        )
        for (uuid, project_id, consumer_type), amounts in groupby(rows, key=lambda row: row[:3]):
            resources = {class_name: int(used) for *_, class_name, used in amounts}
            yield Orphan(uuid, project_id, consumer_type, resources)


def find_excesses(engine: Engine) -> tuple[Excess, ...]:
    used = (
        Allocation.select(
            Allocation.provider.alias("provider_id"),
            Allocation.resource_class.alias("class_id"),
            fn.SUM(Allocation.used).alias("used"),
        )
        .group_by(Allocation.provider, Allocation.resource_class)
        .alias("used")
    )
    present = InventoryModel
    rows = engine.tuples(
        used.select_from(
            *(Provider.uuid, Provider.name, ResourceClass.name, used.c.used),
            *(present.total, present.reserved, present.allocation_ratio),
        )
        .join(present, on=(present.provider == used.c.provider_id) & (present.resource_class == used.c.class_id))
        .join(Provider, on=Provider.id == used.c.provider_id)
        .join(ResourceClass, on=ResourceClass.id == used.c.class_id)
        .where(used.c.used > (present.total - present.reserved) * present.allocation_ratio - 1)
        .order_by(Provider.name, ResourceClass.id)
    )
    excesses = []
    for uuid, name, class_name, amount, total, reserved, ratio in rows:
        capacity = inventory.Inventory(total=total, reserved=reserved, allocation_ratio=ratio).capacity
        if amount > capacity:
            excesses.append(Excess(uuid, name, class_name, int(amount), capacity))
    return tuple(excesses)
