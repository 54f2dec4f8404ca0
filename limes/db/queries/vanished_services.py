"""Services that have left the configuration: marked, restored when they return, and deleted in the end."""

from collections.abc import Sequence

from limes.db.engine import Engine, placeholders


def restore(engine: Engine, configured: Sequence[str]) -> list[str]:
    """Takes the mark from services of these types. Answers those that had it."""
    if not configured:
        return []
    rows = engine.rows(
        "UPDATE services SET vanished_at = NULL WHERE vanished_at IS NOT NULL"
        f" AND type IN ({placeholders(len(configured))}) RETURNING type",
        configured,
    )
    return sorted(row[0] for row in rows)


def mark(engine: Engine, configured: Sequence[str], now: float) -> list[str]:
    """Marks services of other types. Answers those that had no mark yet."""
    others = f" AND type NOT IN ({placeholders(len(configured))})" if configured else ""
    rows = engine.rows(
        f"UPDATE services SET vanished_at = %s WHERE vanished_at IS NULL{others} RETURNING type", [now, *configured]
    )
    return sorted(row[0] for row in rows)


def marked_before(engine: Engine, time: float) -> list[str]:
    """The types of services that were marked by then."""
    return [row[0] for row in engine.rows("SELECT type FROM services WHERE vanished_at <= %s ORDER BY type", [time])]


def delete(engine: Engine, types: Sequence[str], marked_by: float) -> None:
    """Deletes services with all that hangs on them; not one that was restored meanwhile."""
    if types:
        engine.execute(
            f"DELETE FROM services WHERE vanished_at <= %s AND type IN ({placeholders(len(types))})",
            [marked_by, *types],
        )
