"""Consumers in the database: whoever has allocations (a server, a migration), and nobody else.

A consumer is made by the write of its first allocations, with generation 1, and goes with its last.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from limes.db.engine import Engine, placeholders


@dataclass(frozen=True, slots=True)
class Consumer:
    """A consumer. `consumer_type` is None for one that was written below microversion 1.38."""

    id: int
    uuid: str
    generation: int
    project_id: str
    user_id: str
    consumer_type: str | None


@dataclass(frozen=True, slots=True)
class Ownership:
    """Whom a consumer is to belong to. `consumer_type` None leaves it as it is."""

    uuid: str
    project_id: str
    user_id: str
    consumer_type: str | None


_COLUMNS = "id, uuid, generation, project_id, user_id, consumer_type"


def lock(engine: Engine, uuids: Collection[str]) -> dict[str, Consumer]:
    """Those of the consumers that exist, by UUID, locked until the transaction ends."""
    rows = engine.rows(
        f"SELECT {_COLUMNS} FROM placement_consumers WHERE uuid IN ({placeholders(len(uuids))})"
        f" ORDER BY uuid{engine.for_update}",
        list(uuids),
    )
    return {row[1]: Consumer(*row) for row in rows}


def write(engine: Engine, owners: Sequence[Ownership], now: float) -> dict[str, Consumer]:
    """Makes or updates consumers, by UUID, and leaves them locked. The generation counts up; a new one has 1.

    In one statement, and in order of UUID, so that two writers of the same consumers wait for each other and never
    both think that a consumer is new.
    """
    rows = engine.rows(
        "INSERT INTO placement_consumers (uuid, generation, project_id, user_id, consumer_type, updated) VALUES "
        + ", ".join(["(%s, 1, %s, %s, %s, %s)"] * len(owners))
        + " ON CONFLICT (uuid) DO UPDATE SET generation = placement_consumers.generation + 1,"
        " project_id = excluded.project_id, user_id = excluded.user_id, updated = excluded.updated,"
        " consumer_type = COALESCE(excluded.consumer_type, placement_consumers.consumer_type)"
        f" RETURNING {_COLUMNS}",
        [
            value
            for one in sorted(owners, key=lambda one: one.uuid)
            for value in (one.uuid, one.project_id, one.user_id, one.consumer_type, now)
        ],
    )
    return {row[1]: Consumer(*row) for row in rows}


def delete(engine: Engine, consumer_ids: Collection[int]) -> None:
    """Deletes consumers that have no allocations any more."""
    if consumer_ids:
        marks = placeholders(len(consumer_ids))
        engine.execute(f"DELETE FROM placement_consumers WHERE id IN ({marks})", list(consumer_ids))
