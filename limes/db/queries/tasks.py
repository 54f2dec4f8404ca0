"""Claims of work that is due, by its rows. To be called inside a transaction.

A claim moves the row's next time forward, to the end of a lease; that time is at the same time the proof of the claim.
Nobody else finds the row due before. Whoever finishes later than that finds another time in the row, and knows that
the task is not theirs any more. On PostgreSQL a row that another collector is just claiming is skipped.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from limes.db.engine import Engine, placeholders


class ProjectTask(NamedTuple):
    """A service of a project, claimed for a scrape or for writing its quota."""

    id: int
    """Of the row in `project_services`."""
    project_id: int
    project_uuid: str
    project_name: str
    parent_uuid: str
    has_bursting: bool
    domain_uuid: str
    domain_name: str
    service_id: int
    service_type: str
    desynced_at: float | None
    """The desync mark at the time of the claim."""
    lease: float
    """When the claim ends, and the proof of it."""


class CapacitorTask(NamedTuple):
    """A capacitor, claimed for a scrape."""

    id: int
    name: str
    lease: float


def claim_scrape(engine: Engine, service_type: str, now: float, lease: float) -> ProjectTask | None:
    """The project whose scrape was asked for (the oldest first), else the one that has been due for the longest.

    A scrape that is asked for while one is running comes after it: else a user who asks again and again would take
    each scrape's lease away, and none would ever be recorded.
    """
    service = "service_id = (SELECT id FROM services WHERE type = %s)"
    idle = "(scrape_claimed_until IS NULL OR scrape_claimed_until <= %s)"
    found = _due(
        engine, f"{service} AND is_stale = %s AND {idle}", [service_type, True, now], "next_scrape_at"
    ) or _due(
        engine, f"{service} AND is_stale = %s AND next_scrape_at <= %s", [service_type, False, now], "next_scrape_at"
    )
    if found is None:
        return None
    # a sync that is asked for from now on is about newer figures: it marks the row again
    engine.execute(
        "UPDATE project_services SET is_stale = %s, next_scrape_at = %s, scrape_claimed_until = %s WHERE id = %s",
        [False, lease, lease, found],
    )
    return _task(engine, found, lease)


def claim_push(engine: Engine, service_type: str, now: float, lease: float) -> ProjectTask | None:
    """The project whose quota has to be written and that has been due for the longest."""
    found = _due(
        engine,
        "service_id = (SELECT id FROM services WHERE type = %s) AND next_push_at <= %s",
        [service_type, now],
        "next_push_at",
    )
    return None if found is None else _lease_push(engine, found, lease)


def claim_push_of(
    engine: Engine, project_id: int, service_types: Sequence[str], now: float, lease: float
) -> list[ProjectTask]:
    """The services of this project, among these, whose quota has to be written and that nobody has claimed."""
    rows = engine.rows(
        "SELECT id FROM project_services WHERE project_id = %s AND next_push_at <= %s"
        f" AND service_id IN (SELECT id FROM services WHERE type IN ({placeholders(len(service_types))}))"
        f" ORDER BY id{engine.skip_locked}",
        [project_id, now, *service_types],
    )
    return [_lease_push(engine, row[0], lease) for row in rows]


def claim_capacity(engine: Engine, names: Sequence[str], now: float, lease: float) -> CapacitorTask | None:
    """The capacitor, among these, that has been due for the longest."""
    if not names:
        return None
    row = engine.row(
        f"SELECT id, name FROM capacitors WHERE next_scrape_at <= %s AND name IN ({placeholders(len(names))})"
        f" ORDER BY next_scrape_at, id LIMIT 1{engine.skip_locked}",
        [now, *names],
    )
    if row is None:
        return None
    engine.execute("UPDATE capacitors SET next_scrape_at = %s WHERE id = %s", [lease, row[0]])
    return CapacitorTask(row[0], row[1], lease)


def claim_job(engine: Engine, name: str, now: float, lease: float) -> bool:
    """Whether the cluster-wide job of this name is due and nobody else has claimed it. Makes its row if needed."""
    engine.execute(
        "INSERT INTO jobs (name, next_run_at, error) VALUES (%s, %s, '') ON CONFLICT (name) DO NOTHING", [name, now]
    )
    row = engine.row(f"SELECT name FROM jobs WHERE name = %s AND next_run_at <= %s{engine.skip_locked}", [name, now])
    if row is None:
        return False
    engine.execute("UPDATE jobs SET next_run_at = %s WHERE name = %s", [lease, name])
    return True


def finish_job(engine: Engine, name: str, lease: float, now: float, next_run_at: float, error: str) -> bool:
    """Records the outcome of a job. False if the lease has been lost meanwhile: then nothing is recorded."""
    touched = engine.execute(
        "UPDATE jobs SET ran_at = %s, next_run_at = %s, error = %s WHERE name = %s AND next_run_at = %s",
        [now, next_run_at, error, name, lease],
    )
    return touched == 1


def _due(engine: Engine, condition: str, params: Sequence[Any], order: str) -> int | None:
    row = engine.row(
        f"SELECT id FROM project_services WHERE {condition} ORDER BY {order} LIMIT 1{engine.skip_locked}", params
    )
    return None if row is None else int(row[0])


def release_push(engine: Engine, id_: int, lease: float, now: float) -> None:
    """Gives a claim back, so that whoever looks next finds the row due. Nothing happens if the claim is lost."""
    engine.execute(
        "UPDATE project_services SET next_push_at = %s WHERE id = %s AND next_push_at = %s", [now, id_, lease]
    )


def _lease_push(engine: Engine, id_: int, lease: float) -> ProjectTask:
    engine.execute("UPDATE project_services SET next_push_at = %s WHERE id = %s", [lease, id_])
    return _task(engine, id_, lease)


def _task(engine: Engine, id_: int, lease: float) -> ProjectTask:
    row = engine.row(
        """
        SELECT ps.id, p.id, p.uuid, p.name, p.parent_uuid, p.has_bursting, d.uuid, d.name, s.id, s.type,
               ps.quota_desynced_at
          FROM project_services ps
          JOIN projects p ON p.id = ps.project_id
          JOIN domains d ON d.id = p.domain_id
          JOIN services s ON s.id = ps.service_id
         WHERE ps.id = %s
        """,
        [id_],
    )
    assert row is not None  # the row is locked, and has no existence without those that it refers to
    return ProjectTask._make([*row, lease])
