"""Commitments as rows. Whoever changes any of a resource holds the lock on its row (`quotas.lock_resources`)."""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import astuple
from typing import Any

import peewee

from limes.core.commitments.commitment import Commitment, Status
from limes.db.engine import Engine, Row, placeholders
from limes.errors import NotFound

_FIELDS = (
    "uuid, project_id, resource_id, az, amount, duration, status, created_at, creator_uuid, creator_name, confirm_by,"
    " confirmed_at, expires_at, superseded_at, predecessor_id, transfer_status, transfer_token"
)
_SELECT = f"SELECT id, {_FIELDS} FROM project_commitments"
LIVE = "status IN ('planned', 'pending', 'confirmed')"


def _from_row(row: Row) -> Commitment:
    values: list[Any] = list(row)
    values[7] = Status(row[7])
    return Commitment(*values)


def insert(engine: Engine, commitment: Commitment) -> int:
    """Stores a new one and answers its number. Raises `NotFound` if its project is being deleted at this moment."""
    with _project_may_vanish():
        row = engine.row(
            f"INSERT INTO project_commitments ({_FIELDS}) VALUES ({placeholders(17)}) RETURNING id",
            [*astuple(commitment)[1:7], commitment.status.value, *astuple(commitment)[8:]],
        )
    assert row is not None
    return int(row[0])


def update(engine: Engine, commitment: Commitment) -> None:
    """Stores what can change of a commitment. Raises `NotFound` if its project is being deleted at this moment."""
    with _project_may_vanish():
        engine.execute(
            "UPDATE project_commitments SET project_id = %s, duration = %s, status = %s, confirmed_at = %s,"
            " expires_at = %s, superseded_at = %s, transfer_status = %s, transfer_token = %s WHERE id = %s",
            [
                commitment.project_id,
                commitment.duration,
                commitment.status.value,
                commitment.confirmed_at,
                commitment.expires_at,
                commitment.superseded_at,
                commitment.transfer_status,
                commitment.transfer_token,
                commitment.id,
            ],
        )


@contextlib.contextmanager
def _project_may_vanish() -> Iterator[None]:
    """A discovery may have deleted it after it was found. The transaction is lost, so there is nothing to clean up."""
    try:
        yield
    except peewee.IntegrityError as error:
        raise NotFound("no such project") from error


def delete(engine: Engine, ids: Iterable[int]) -> None:
    """Forgets commitments."""
    for id_ in ids:
        engine.execute("DELETE FROM project_commitments WHERE id = %s", [id_])


def find(engine: Engine, id_: int) -> Commitment | None:
    """The commitment of that number."""
    row = engine.row(f"{_SELECT} WHERE id = %s", [id_]) if 0 < id_ < 2**63 else None
    return _from_row(row) if row else None


def find_by_token(engine: Engine, token: str) -> Commitment | None:
    """The commitment that is marked for transfer with this token."""
    row = engine.row(f"{_SELECT} WHERE transfer_token = %s", [token])
    return _from_row(row) if row else None


def of_project(engine: Engine, project_id: int) -> list[Commitment]:
    """All that are stored of a project, with those that have ended, in the order of their numbers."""
    return [_from_row(row) for row in engine.rows(f"{_SELECT} WHERE project_id = %s ORDER BY id", [project_id])]


def held_at(engine: Engine, project_id: int, resource_id: int, time: float) -> int:
    """The sum of a project's commitments to a resource that hold, or are to hold, at that time. What is marked for
    transfer does not count."""
    row = engine.row(
        "SELECT COALESCE(SUM(amount), 0) FROM project_commitments"
        f" WHERE project_id = %s AND resource_id = %s AND {LIVE}"
        " AND transfer_status = '' AND expires_at > %s AND (status = 'confirmed' OR confirm_by <= %s)",
        [project_id, resource_id, time, time],
    )
    return int(row[0]) if row else 0


def live_in(engine: Engine, resource_id: int) -> list[Commitment]:
    """All projects' commitments of a resource, in all AZs, that are neither expired nor superseded."""
    sql = f"{_SELECT} WHERE resource_id = %s AND {LIVE} ORDER BY id"
    return [_from_row(row) for row in engine.rows(sql, [resource_id])]


def unsettled(engine: Engine, resource_id: int, now: float) -> list[Commitment]:
    """Those of a resource that time or capacity may move on: due to expire, due to become pending, or pending."""
    rows = engine.rows(
        f"{_SELECT} WHERE resource_id = %s AND {LIVE}"
        " AND (status = 'pending' OR expires_at <= %s OR (status = 'planned' AND confirm_by <= %s)) ORDER BY id",
        [resource_id, now, now],
    )
    return [_from_row(row) for row in rows]


def unsettled_resources(engine: Engine, now: float) -> list[int]:
    """The resources that have such commitments."""
    rows = engine.rows(
        f"SELECT DISTINCT resource_id FROM project_commitments WHERE {LIVE}"
        " AND (status = 'pending' OR expires_at <= %s OR (status = 'planned' AND confirm_by <= %s)) ORDER BY 1",
        [now, now],
    )
    return [row[0] for row in rows]


def waiting_resources(engine: Engine) -> set[int]:
    """The resources of which commitments wait for capacity."""
    rows = engine.rows("SELECT DISTINCT resource_id FROM project_commitments WHERE status = 'pending'")
    return {resource for (resource,) in rows}


def live_services(engine: Engine) -> list[str]:
    """The types of services that have commitments which are neither expired nor superseded."""
    rows = engine.rows(
        "SELECT type FROM services WHERE id IN (SELECT r.service_id FROM resources r"
        f" WHERE EXISTS (SELECT 1 FROM project_commitments c WHERE c.resource_id = r.id AND {LIVE}))"
    )
    return [row[0] for row in rows]


def unconfirmed_of(engine: Engine, project_uuids: Sequence[str]) -> list[Commitment]:
    """The commitments of these projects that are not confirmed yet."""
    if not project_uuids:
        return []
    rows = engine.rows(
        f"{_SELECT} WHERE status IN ('planned', 'pending')"
        f" AND project_id IN (SELECT id FROM projects WHERE uuid IN ({placeholders(len(project_uuids))})) ORDER BY id",
        project_uuids,
    )
    return [_from_row(row) for row in rows]


def public(engine: Engine, resources: Collection[int], now: float) -> list[Commitment]:
    """Those that are offered to everybody, of these resources, in the order of their numbers."""
    if not resources:
        return []
    rows = engine.rows(
        f"{_SELECT} WHERE transfer_status = 'public' AND status = 'confirmed' AND expires_at > %s"
        f" AND resource_id IN ({placeholders(len(resources))}) ORDER BY id",
        [now, *resources],
    )
    return [_from_row(row) for row in rows]


def was_renewed(engine: Engine, commitment: Commitment) -> bool:
    """Whether the project already has a live one that begins later and renews this one, or what this one was made of,
    or is what such a renewal has become."""
    row = engine.row(
        f"""
        WITH RECURSIVE
          past (id, predecessor_id) AS (
            SELECT id, predecessor_id FROM project_commitments WHERE id = %s
             UNION
            SELECT c.id, c.predecessor_id FROM project_commitments c JOIN past p ON c.id = p.predecessor_id
             WHERE c.status = 'superseded'),
          family (id) AS (
            SELECT id FROM past
             UNION
            SELECT c.id FROM project_commitments c JOIN family f ON c.predecessor_id = f.id)
        SELECT 1 FROM project_commitments WHERE id IN (SELECT id FROM family)
           AND {LIVE} AND project_id = %s AND confirm_by > %s LIMIT 1
        """,
        [commitment.id, commitment.project_id, commitment.starts_at],
    )
    return row is not None


def ended_before(engine: Engine, time: float, limit: int) -> list[int]:
    """Numbers of those that have expired, or were superseded, before that time: the oldest first."""
    rows = engine.rows(
        "SELECT id FROM project_commitments WHERE (status = 'expired' AND expires_at < %s)"
        " OR (status = 'superseded' AND superseded_at < %s) ORDER BY id LIMIT %s",
        [time, time, limit],
    )
    return [row[0] for row in rows]
