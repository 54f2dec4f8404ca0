"""Finds what should not be in the database, and clears away what can be cleared away safely.

What is found: *orphans*, consumers whose project no longer exists, so that nobody will ever give their allocations
back; *excesses*, inventories of which more is used than there is (somebody lowered them); and *idle* consumers, which
have no allocations (the API itself never leaves any behind).

The invariant of a repair: no allocation is deleted unless its consumer belonged, at the moment of deletion, to a
project that was known to be gone. The ids of projects are read first and looked up after that, so a project that is
made meanwhile is never among them; and ids of projects are never given out twice. Each consumer is looked at again
under its lock. An error while projects are looked up leaves everything as it is.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from limes.db.engine import Engine, placeholders
from limes.placement.objects import allocation_write, consumer
from limes.placement.objects.inventory import Inventory

FindGone = Callable[[Collection[str]], Collection[str]]
"""Given ids of projects, answers those that surely do not exist any more. Raises a `LimesError` if it cannot tell."""

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Orphan:
    """A consumer whose project is gone. `resources` is what it has: amounts by class name, over all providers."""

    uuid: str
    project_id: str
    consumer_type: str | None
    resources: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Excess:
    """An inventory of which more is used than there is."""

    provider_uuid: str
    provider_name: str
    class_name: str
    used: int
    capacity: int


@dataclass(frozen=True, slots=True)
class Findings:
    """All that an audit found. `idle` has the UUIDs of consumers without allocations."""

    orphans: tuple[Orphan, ...]
    excesses: tuple[Excess, ...]
    idle: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.orphans or self.excesses or self.idle)


def audit(engine: Engine, find_gone: FindGone, incomplete_project_id: str) -> Findings:
    """Looks at everything and changes nothing.

    `incomplete_project_id` is the stand-in for the project of consumers that were written below microversion 1.8: it
    never existed, so it cannot be gone. Raises what `find_gone` raises.
    """
    projects = engine.rows("SELECT DISTINCT project_id FROM placement_consumers ORDER BY project_id")
    asked = [row[0] for row in projects if row[0] != incomplete_project_id]
    gone = sorted(set(find_gone(asked)) & set(asked)) if asked else []
    return engine.snapshot(lambda: Findings(tuple(_orphans(engine, gone)), find_excesses(engine), _idle(engine)))


def delete_orphan(engine: Engine, orphan: Orphan) -> bool:
    """Deletes a consumer with its allocations. Answers False, and leaves it, if by now it is another project's."""

    def work() -> bool:
        found = consumer.lock(engine, [orphan.uuid]).get(orphan.uuid)
        if found is None or found.project_id != orphan.project_id:
            return False
        return allocation_write.delete(engine, orphan.uuid)

    return engine.atomic(work)


def delete_idle(engine: Engine, uuid: str) -> bool:
    """Deletes a consumer without allocations. Answers False, and leaves it, if it has got some by now."""

    def work() -> bool:
        found = consumer.lock(engine, [uuid]).get(uuid)
        if found is None or engine.row("SELECT 1 FROM placement_allocations WHERE consumer_id = %s", [found.id]):
            return False
        consumer.delete(engine, [found.id])
        return True

    return engine.atomic(work)


def _orphans(engine: Engine, gone: list[str]) -> Iterator[Orphan]:
    for start in range(0, len(gone), _CHUNK):
        part = gone[start : start + _CHUNK]
        rows = engine.rows(
            "SELECT c.uuid, c.project_id, c.consumer_type, rc.name, SUM(a.used) FROM placement_consumers c"
            " JOIN placement_allocations a ON a.consumer_id = c.id"
            " JOIN placement_resource_classes rc ON rc.id = a.class_id"
            f" WHERE c.project_id IN ({placeholders(len(part))})"
            " GROUP BY c.project_id, c.uuid, c.consumer_type, rc.id, rc.name ORDER BY c.project_id, c.uuid, rc.id",
            part,
        )
        found: dict[tuple[str, str, str | None], dict[str, int]] = {}
        for uuid, project_id, consumer_type, class_name, used in rows:
            found.setdefault((uuid, project_id, consumer_type), {})[class_name] = int(used)
        yield from (Orphan(*who, resources) for who, resources in found.items())


def find_excesses(engine: Engine) -> tuple[Excess, ...]:
    """All inventories of which more is used than there is, by the name of the provider."""
    rows = engine.rows(
        "SELECT p.uuid, p.name, rc.name, u.used, i.total, i.reserved, i.allocation_ratio"
        " FROM (SELECT provider_id, class_id, SUM(used) AS used FROM placement_allocations"
        "  GROUP BY provider_id, class_id) u"
        " JOIN placement_inventories i ON i.provider_id = u.provider_id AND i.class_id = u.class_id"
        " JOIN placement_providers p ON p.id = u.provider_id"
        " JOIN placement_resource_classes rc ON rc.id = u.class_id"
        " WHERE u.used > (i.total - i.reserved) * i.allocation_ratio - 1 ORDER BY p.name, rc.id"
    )
    found = []
    for uuid, name, class_name, used, total, reserved, ratio in rows:
        capacity = Inventory(total=total, reserved=reserved, allocation_ratio=ratio).capacity
        if used > capacity:
            found.append(Excess(uuid, name, class_name, int(used), capacity))
    return tuple(found)


def _idle(engine: Engine) -> tuple[str, ...]:
    rows = engine.rows(
        "SELECT uuid FROM placement_consumers c WHERE NOT EXISTS"
        " (SELECT 1 FROM placement_allocations WHERE consumer_id = c.id) ORDER BY uuid"
    )
    return tuple(row[0] for row in rows)
