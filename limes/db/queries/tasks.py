"""Claims of work that is due, by its rows. To be called inside a transaction.

A claim writes the end of a lease into the row; that time is at the same time the proof of the claim. Nobody else finds
the row due before. Whoever finishes later than that finds another time in the row, and knows that the task is not
theirs any more. On PostgreSQL a row that another collector is just claiming is skipped.

`never` is a time so far ahead that nobody writes such times: where a row has a later one, the clock has been wrong, and
the row is due.
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
    due_at: float
    """Since when the task has waited."""
    asked_for: bool
    """Whether a sync had asked for the scrape."""
    scrape_state: str
    """What the backend has given with its last report, to be told again with the next one."""
    taken_over: bool
    """Whether somebody else had claimed the task before, and has not finished it within the lease."""
    lease: float
    """When the claim ends, and the proof of it."""


class CapacitorTask(NamedTuple):
    """A capacitor, claimed for a scrape."""

    id: int
    name: str
    lease: float


def claim_scrapes(
    engine: Engine, service_type: str, now: float, lease: float, never: float, limit: int
) -> list[ProjectTask]:
    """Up to `limit` projects: first those whose scrape was asked for, then those that are due; the oldest ones first.

    A scrape that is asked for while one is running comes after it: else a user who asks again and again would take
    each scrape's lease away, and none would ever be recorded.
    """
    idle = "(ps.scrape_claimed_until IS NULL OR ps.scrape_claimed_until <= %s OR ps.scrape_claimed_until > %s)"
    of_service = "ps.service_id = (SELECT id FROM services WHERE type = %s) AND ps.is_stale = %s"
    found = _find(engine, _SCRAPE, f"{of_service} AND {idle}", [service_type, True, now, never], lease, limit)
    if len(found) < limit:
        due = f"{of_service} AND ps.next_scrape_at <= %s"
        found += _find(engine, _SCRAPE, due, [service_type, False, now], lease, limit - len(found))
    if not found:
        lost = f"{of_service} AND ps.next_scrape_at > %s"
        found = _find(engine, _SCRAPE, lost, [service_type, False, never], lease, limit)
    if found:
        # a sync that is asked for from now on is about newer figures: it marks the row again
        engine.execute(
            "UPDATE project_services SET is_stale = %s, next_scrape_at = %s, scrape_claimed_until = %s"
            f" WHERE id IN ({placeholders(len(found))})",
            [False, lease, lease, *(task.id for task in found)],
        )
    return found


def claim_push(engine: Engine, service_type: str, now: float, lease: float, never: float) -> ProjectTask | None:
    """The project whose quota has to be written and that has been due for the longest."""
    of_service = "ps.service_id = (SELECT id FROM services WHERE type = %s)"
    due = f"{of_service} AND ps.next_push_at <= %s AND {_NOT_BEING_PUSHED}"
    lost = f"{of_service} AND ps.next_push_at > %s"
    found = _find(engine, _PUSH, due, [service_type, now, now, never], lease, 1) or _find(
        engine, _PUSH, lost, [service_type, never], lease, 1
    )
    _lease_pushes(engine, found, lease)
    return found[0] if found else None


def claim_push_of(
    engine: Engine, project_id: int, service_types: Sequence[str], now: float, lease: float, never: float
) -> list[ProjectTask]:
    """The services of this project, among these, whose quota has to be written and that nobody has claimed."""
    due = f"(ps.next_push_at <= %s OR ps.next_push_at > %s) AND {_NOT_BEING_PUSHED}"
    wanted = f"ps.project_id = %s AND s.type IN ({placeholders(len(service_types))}) AND {due}"
    params = [project_id, *service_types, now, never, now, never]
    found = _find(engine, _PUSH, wanted, params, lease, len(service_types))
    _lease_pushes(engine, found, lease)
    return found


def claim_capacity(
    engine: Engine, names: Sequence[str], now: float, lease: float, never: float
) -> CapacitorTask | None:
    """The capacitor, among these, that has been due for the longest."""
    if not names:
        return None
    row = engine.row(
        "SELECT id, name FROM capacitors WHERE (next_scrape_at <= %s OR next_scrape_at > %s)"
        f" AND name IN ({placeholders(len(names))}) ORDER BY next_scrape_at, id LIMIT 1{engine.skip_locked}",
        [now, never, *names],
    )
    if row is None:
        return None
    engine.execute("UPDATE capacitors SET next_scrape_at = %s WHERE id = %s", [lease, row[0]])
    return CapacitorTask(row[0], row[1], lease)


def claim_job(engine: Engine, name: str, now: float, lease: float, never: float) -> bool:
    """Whether the cluster-wide job of this name is due and nobody else has claimed it. Makes its row if needed."""
    engine.execute(
        "INSERT INTO jobs (name, next_run_at, error) VALUES (%s, %s, '') ON CONFLICT (name) DO NOTHING", [name, now]
    )
    row = engine.row(
        "SELECT name FROM jobs WHERE name = %s AND (next_run_at <= %s OR next_run_at > %s)" + engine.skip_locked,
        [name, now, never],
    )
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


def release_scrapes(engine: Engine, claimed: Sequence[ProjectTask]) -> None:
    """Gives claims back that were not begun: the rows are due as they were. What is lost already stays so."""
    for task in claimed:
        engine.execute(
            "UPDATE project_services SET next_scrape_at = %s, is_stale = (is_stale OR %s), scrape_claimed_until = NULL"
            " WHERE id = %s AND scrape_claimed_until = %s",
            [task.due_at, task.asked_for, task.id, task.lease],
        )


def release_push(engine: Engine, id_: int, lease: float, now: float) -> None:
    """Gives a claim back, so that whoever looks next finds the row due. Nothing happens if the claim is lost."""
    engine.execute(
        "UPDATE project_services SET next_push_at = CASE WHEN quota_desynced_at IS NOT NULL THEN %s END,"
        " push_claimed_until = NULL WHERE id = %s AND push_claimed_until = %s",
        [now, id_, lease],
    )


def _lease_pushes(engine: Engine, claimed: Sequence[ProjectTask], lease: float) -> None:
    if claimed:
        engine.execute(
            "UPDATE project_services SET next_push_at = %s, push_claimed_until = %s"
            f" WHERE id IN ({placeholders(len(claimed))})",
            [lease, lease, *(task.id for task in claimed)],
        )


_NOT_BEING_PUSHED = "(ps.push_claimed_until IS NULL OR ps.push_claimed_until <= %s OR ps.push_claimed_until > %s)"
_SCRAPE = ("next_scrape_at", "scrape_claimed_until")
_PUSH = ("next_push_at", "push_claimed_until")


def _find(
    engine: Engine, kind: tuple[str, str], condition: str, params: Sequence[Any], lease: float, limit: int
) -> list[ProjectTask]:
    """Locks rows that nobody else has locked. `kind` names the columns with the time when due and with the claim."""
    due, claimed_until = kind
    rows = engine.rows(
        f"""
        SELECT ps.id, p.id, p.uuid, p.name, p.parent_uuid, p.has_bursting, d.uuid, d.name, s.id, s.type,
               ps.quota_desynced_at, ps.{due}, ps.is_stale, ps.scrape_state, ps.{claimed_until}
          FROM project_services ps
          JOIN projects p ON p.id = ps.project_id
          JOIN domains d ON d.id = p.domain_id
          JOIN services s ON s.id = ps.service_id
         WHERE {condition}
         ORDER BY ps.{due} LIMIT %s{engine.skip_locked_of("ps")}
        """,
        [*params, limit],
    )
    return [ProjectTask._make([*row[:12], bool(row[12]), row[13], row[14] is not None, lease]) for row in rows]
