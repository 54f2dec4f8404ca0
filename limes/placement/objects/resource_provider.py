"""Resource providers in the database: the tree they stand in, and the generation that guards each one's state.

Who changes anything about a provider first locks its row (`lock`), several rows in order of id. Who changes the shape
of a tree (adds, moves or deletes a provider) first locks all of its rows (`lock_trees`), the root's among them: so a
provider's root is right when it is written, and stays right.
"""

from collections.abc import Collection
from dataclasses import dataclass

from limes.db.engine import Engine, Row, placeholders
from limes.placement.errors import ConcurrentUpdate, Missing
from limes.placement.objects import change


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider as clients see it. `updated` is in seconds since the epoch."""

    id: int
    uuid: str
    name: str
    generation: int
    updated: float
    root_id: int
    root_uuid: str
    parent_id: int | None
    parent_uuid: str | None


@dataclass(frozen=True, slots=True)
class Locked:
    """The row of a provider that this transaction has locked."""

    id: int
    uuid: str
    generation: int
    root_id: int
    parent_id: int | None

    def check_generation(self, sent: int, message: str = "resource provider generation conflict") -> None:
        """Raises `ConcurrentUpdate` if the client saw another generation."""
        if sent != self.generation:
            raise ConcurrentUpdate(message)


_SELECT = """
SELECT p.id, p.uuid, p.name, p.generation, p.updated, p.root_id, root.uuid, p.parent_id, parent.uuid
FROM placement_providers p
JOIN placement_providers root ON root.id = p.root_id
LEFT JOIN placement_providers parent ON parent.id = p.parent_id
"""
_LOCKED = "SELECT id, uuid, generation, root_id, parent_id FROM placement_providers"


def get(engine: Engine, uuid: str, message: str = "No resource provider with uuid {} found") -> Provider:
    """The provider of that UUID. Raises `Missing` with the message."""
    rows = engine.read(_SELECT + "WHERE p.uuid = %s", [uuid])
    if not rows:
        raise Missing(message.format(uuid))
    return Provider(*rows[0])


def identify(engine: Engine, uuid: str) -> tuple[int, int]:
    """The id and the generation of the provider of that UUID. Raises `Missing`.

    To be asked before its state is read: should that change in between, the generation is stale, and a write that
    rests on what was read is refused.
    """
    row = engine.row("SELECT id, generation FROM placement_providers WHERE uuid = %s", [uuid])
    if row is None:
        raise Missing(f"No resource provider with uuid {uuid} found")
    return row[0], row[1]


def lock(engine: Engine, uuid: str, message: str = "No resource provider with uuid {} found") -> Locked:
    """The provider's row, locked until the transaction ends. Raises `Missing`."""
    found = find_and_lock(engine, uuid)
    if found is None:
        raise Missing(message.format(uuid))
    return found


def find_and_lock(engine: Engine, uuid: str) -> Locked | None:
    """The provider's row, locked until the transaction ends, or None."""
    row = engine.row(f"{_LOCKED} WHERE uuid = %s{engine.for_update}", [uuid])
    return Locked(*row) if row else None


def lock_for_change(engine: Engine, uuid: str, sent: int, now: float) -> Locked:
    """The provider's row, locked, and its generation counted up already, in one statement: for what changes its state
    in any case. `generation` of the answer is the new one.

    Raises `Missing`, and `ConcurrentUpdate` if the client saw another generation than the `sent` one.
    """
    if abs(sent) < 2**63:  # what a database can compare with
        row = engine.row(
            "UPDATE placement_providers SET generation = generation + 1, updated = %s,"
            f" changed = {change.stamped(engine)} WHERE uuid = %s AND generation = %s"
            " RETURNING id, uuid, generation, root_id, parent_id",
            [now, uuid, sent],
        )
        if row is not None:
            return Locked(*row)
    lock(engine, uuid).check_generation(sent)
    # it was another one when the statement looked, and is the sent one now
    raise ConcurrentUpdate("resource provider generation conflict")


def lock_trees(engine: Engine, *uuids: str) -> dict[str, Locked]:
    """All rows of the trees in which these providers stand, locked, by UUID. UUIDs that do not exist are left out."""
    roots = f"SELECT root_id FROM placement_providers WHERE uuid IN ({placeholders(len(uuids))})"
    trees = f"{_LOCKED} WHERE root_id IN ({roots}) ORDER BY id"
    for _ in range(20):
        locked = {row[0] for row in engine.rows(f"{trees}{engine.for_update}", uuids)}
        # whoever changes these trees has their roots locked: if all that is in them now is locked, so it stays
        now = [Locked(*row) for row in engine.rows(trees, uuids)]
        if locked.issuperset(one.id for one in now):
            return {one.uuid: one for one in now}
    raise ConcurrentUpdate("The provider tree keeps changing; try again.")


def find_conflict(engine: Engine, name: str, uuid: str | None) -> Row | None:
    """(uuid, name) of another provider that has the name, or that has the UUID; None if there is none.

    If both are taken, the provider with the UUID is answered.
    """
    return engine.row(
        "SELECT uuid, name FROM placement_providers WHERE name = %s OR uuid = %s ORDER BY uuid <> %s LIMIT 1",
        [name, uuid or "", uuid or ""],
    )


def insert(engine: Engine, uuid: str, name: str, parent: Locked | None, now: float) -> int | None:
    """Adds a provider below a locked parent, or as a root, and answers its id. None if name or UUID are taken."""
    stamp = change.stamped(engine)
    row = engine.row(
        "INSERT INTO placement_providers (uuid, name, parent_id, root_id, updated, changed)"
        f" VALUES (%s, %s, %s, %s, %s, {stamp}) ON CONFLICT DO NOTHING RETURNING id",
        [uuid, name, parent.id if parent else None, parent.root_id if parent else 0, now],
    )
    if row is None:
        return None
    if parent is None:
        engine.execute("UPDATE placement_providers SET root_id = id WHERE id = %s", row)
    return int(row[0])


def rename(engine: Engine, provider_id: int, name: str, now: float) -> None:
    """Gives a locked provider another name, which nobody else has."""
    engine.execute(
        f"UPDATE placement_providers SET name = %s, updated = %s, changed = {change.stamped(engine)} WHERE id = %s",
        [name, now, provider_id],
    )


def move(engine: Engine, moved: Locked, parent: Locked | None, tree: Collection[Locked], now: float) -> None:
    """Moves a provider with all below it to a new parent, or makes it a root. Both trees have to be locked."""
    root_id = parent.root_id if parent else moved.id
    below = descendants(moved.id, tree)
    stamp = change.stamped(engine)
    engine.execute(
        f"UPDATE placement_providers SET root_id = %s, changed = {stamp}, updated = %s,"
        f" parent_id = CASE WHEN id = %s THEN %s ELSE parent_id END WHERE id IN ({placeholders(len(below))})",
        [root_id, now, moved.id, parent.id if parent else None, *below],
    )


def descendants(provider_id: int, tree: Collection[Locked]) -> list[int]:
    """The ids of a provider and of all below it."""
    children: dict[int | None, list[int]] = {}
    for one in tree:
        children.setdefault(one.parent_id, []).append(one.id)
    found = [provider_id]
    for one_id in found:
        found.extend(children.get(one_id, ()))
    return found


def delete(engine: Engine, provider_id: int, now: float) -> None:
    """Deletes a locked provider with its inventory, traits and aggregates."""
    change.bury(engine, provider_id, now)
    engine.execute("DELETE FROM placement_providers WHERE id = %s", [provider_id])


def has_allocations(engine: Engine, provider_id: int) -> bool:
    """Whether any consumer has allocations against the provider."""
    sql = "SELECT 1 FROM placement_allocations WHERE provider_id = %s LIMIT 1"
    return engine.row(sql, [provider_id]) is not None


def next_generation(engine: Engine, provider_id: int, now: float) -> int:
    """Counts up the generation of a locked provider, as each change of its state does."""
    row = engine.row(
        f"UPDATE placement_providers SET generation = generation + 1, updated = %s, changed = {change.stamped(engine)}"
        " WHERE id = %s RETURNING generation",
        [now, provider_id],
    )
    assert row is not None
    return int(row[0])


def touch(engine: Engine, provider_id: int, now: float) -> None:
    """Notes a change of a locked provider that leaves its generation alone."""
    engine.execute(
        f"UPDATE placement_providers SET updated = %s, changed = {change.stamped(engine)} WHERE id = %s",
        [now, provider_id],
    )
