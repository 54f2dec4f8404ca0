"""Which providers changed, so that an in-memory index can follow the database with one indexed query.

The invariant: a transaction that changes anything about a provider, be it its name, generation, parent, root,
inventory, traits, aggregates or allocations, sets `placement_providers.changed` of that provider to the transaction's
stamp; one that deletes the provider leaves a row with its stamp in `placement_provider_tombstones`; one that creates or
deletes a resource class or a trait sets the stamp of that row of `placement_vocabularies`.

The stamp is, on PostgreSQL, the number of the transaction. Numbers are given in order, but transactions commit in any
order. So a reader that took its snapshot when `pg_snapshot_xmin(pg_current_snapshot())` was N has seen all
transactions below N, whether they committed or failed, and next time has to look for `changed >= N`: that may show it a
row twice, but never hides one that committed late. On SQLite the stamp is a counter that each writing transaction
increments; SQLite has one writer at a time, so a reader that has seen the counter at N looks for `changed > N`.

A tombstone is kept for a day. A reader that has not looked for `TOMBSTONE_SECONDS / 2` has to start afresh.
"""

from limes.db.engine import Engine

TOMBSTONE_SECONDS = 86_400.0

VOCABULARIES = ("resource_classes", "traits")


def stamped(engine: Engine) -> str:
    """The SQL expression of this transaction's stamp, for `SET changed = ...`. On SQLite it counts up, so ask once."""
    if engine.dialect == "postgresql":
        return "pg_current_xact_id()::text::bigint"
    engine.execute("UPDATE placement_change_counter SET value = value + 1")
    return "(SELECT value FROM placement_change_counter)"


def bury(engine: Engine, provider_id: int, now: float) -> None:
    """Leaves a tombstone for a provider that this transaction deletes, and clears away old ones."""
    engine.execute("DELETE FROM placement_provider_tombstones WHERE deleted_at < %s", [now - TOMBSTONE_SECONDS])
    stamp = stamped(engine)
    engine.execute(
        f"INSERT INTO placement_provider_tombstones (provider_id, changed, deleted_at) VALUES (%s, {stamp}, %s)",
        [provider_id, now],
    )


def stamp_vocabulary(engine: Engine, name: str) -> None:
    """Notes that a resource class or a trait came or went; `name` is one of `VOCABULARIES`."""
    engine.execute(f"UPDATE placement_vocabularies SET changed = {stamped(engine)} WHERE name = %s", [name])


def repair_stamps(engine: Engine) -> None:
    """Makes stamps of the future (of a database that was restored on another PostgreSQL server) the present.

    Such a stamp would be above all numbers that the new server gives out for a long time, and so would be read again
    and again. To be called at start.
    """
    if engine.dialect != "postgresql":
        return

    def work() -> None:
        now = stamped(engine)
        for table in ("placement_providers", "placement_provider_tombstones", "placement_vocabularies"):
            engine.execute(f"UPDATE {table} SET changed = {now} WHERE changed > {now}")

    engine.atomic(work)
