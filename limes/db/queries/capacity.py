"""Capacity by resource and AZ, and how the last scrape of each capacitor went."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from limes.db.engine import Engine, placeholders


class CapacityRow(NamedTuple):
    """Raw capacity of a resource in one AZ. `subcapacities` is a JSON list."""

    az: str
    raw_capacity: int
    usage: int | None
    subcapacities: str


def lock_capacitor(engine: Engine, id_: int) -> float | None:
    """The time of the next scrape, of the locked row; None if the capacitor is gone."""
    row = engine.row(f"SELECT next_scrape_at FROM capacitors WHERE id = %s{engine.for_update}", [id_])
    return None if row is None else float(row[0])


def resources_of(engine: Engine, capacitor_id: int) -> set[int]:
    """The resources whose capacity comes from this capacitor."""
    return {row[0] for row in engine.rows("SELECT id FROM resources WHERE capacitor_id = %s", [capacitor_id])}


def replace_capacity(engine: Engine, capacitor_id: int, capacity: Mapping[int, Sequence[CapacityRow]]) -> None:
    """Gives these resources to the capacitor, with exactly these AZs."""
    for resource, rows in sorted(capacity.items()):
        engine.execute("UPDATE resources SET capacitor_id = %s WHERE id = %s", [capacitor_id, resource])
        azs = [row.az for row in rows]
        condition = f" AND az NOT IN ({placeholders(len(azs))})" if azs else ""
        engine.execute(f"DELETE FROM az_resources WHERE resource_id = %s{condition}", [resource, *azs])
        if rows:
            engine.execute(
                "INSERT INTO az_resources (resource_id, az, raw_capacity, usage, subcapacities) VALUES "
                + ", ".join(["(%s, %s, %s, %s, %s)"] * len(rows))
                + " ON CONFLICT (resource_id, az) DO UPDATE SET raw_capacity = excluded.raw_capacity,"
                " usage = excluded.usage, subcapacities = excluded.subcapacities",
                [value for row in rows for value in (resource, *row)],
            )


def drop_capacity(engine: Engine, resources: Collection[int]) -> None:
    """Forgets the capacity of resources that no capacitor reports any more."""
    for resource in sorted(resources):
        engine.execute("DELETE FROM az_resources WHERE resource_id = %s", [resource])
        engine.execute("UPDATE resources SET capacitor_id = NULL WHERE id = %s", [resource])


def record_scrape(engine: Engine, id_: int, now: float, next_scrape_at: float, duration: float) -> None:
    """Says that a scrape has succeeded."""
    engine.execute(
        "UPDATE capacitors SET scraped_at = %s, checked_at = %s, next_scrape_at = %s, scrape_duration = %s,"
        " scrape_error = '' WHERE id = %s",
        [now, now, next_scrape_at, duration, id_],
    )


def record_failed_scrape(engine: Engine, id_: int, now: float, next_scrape_at: float, error: str) -> None:
    """Says that a scrape has failed. The figures of the last success stay."""
    engine.execute(
        "UPDATE capacitors SET checked_at = %s, next_scrape_at = %s, scrape_error = %s WHERE id = %s",
        [now, next_scrape_at, error, id_],
    )
