"""Writes when quotas of projects have changed (docs/adr/0033)."""

from typing import Any, NamedTuple

from peewee import Select, Value, fn

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.models import Project, ProjectResource, QuotaTime, Resource, Service
from limes.db.query import Insert, Node, rows, tuples, writes


class _ChangedQuota(NamedTuple):
    """A quota that is not what it was. `known` was noted for the time since `since`; None: there was, or is, none."""

    project_uuid: str
    service_type: str
    resource_name: str
    since: int | None
    known: int | None
    present: int | None


class Piece(NamedTuple):
    """The projects whose UUIDs come after the one, up to the other (None: all that follow): these exist, by id."""

    after: str
    last: str | None
    projects: list[int]


@tuples(tuple[int, str])
def _projects_after(after: str, limit: int) -> Node:
    return Project.select(Project.id, Project.uuid).where(Project.uuid > after).order_by(Project.uuid).limit(limit)


def piece_after(engine: Engine, after: str, limit: int) -> Piece:
    """The next projects after this one, and those that are gone in between."""
    found = _projects_after(engine, after, limit)
    return Piece(after, found[-1][1] if len(found) == limit else None, [id_ for id_, _ in found])


@rows(_ChangedQuota)
def _changed_quotas(piece: Piece) -> Node:
    """Selects them by adding both sides up, which takes as long as reading them. A join would take very long where
    the planner does not know yet how many there are."""
    nothing = Value(None).cast("BIGINT")
    row, quota = QuotaTime, ProjectResource
    is_in_piece = row.project_uuid > piece.after
    if piece.last is not None:
        is_in_piece &= row.project_uuid <= piece.last
    present = (
        quota.select(
            *(Project.uuid.alias("project"), Service.type.alias("service"), Resource.name.alias("resource")),
            *(nothing.alias("since"), nothing.alias("known"), quota.quota.alias("present")),
        )
        .join(Project)
        .join_from(quota, Resource)
        .join(Service)
        .where(quota.quota.is_null(False), any_of(quota.project, piece.projects))
    )
    known = row.select(
        *(row.project_uuid, row.service_type, row.resource_name),
        *(row.since, row.quota, nothing),
    ).where(row.until.is_null(), is_in_piece)
    parts = present.union_all(known).alias("parts")
    key = (parts.c.project, parts.c.service, parts.c.resource)
    figures = [fn.MAX(each) for each in (parts.c.since, parts.c.known, parts.c.present)]
    differs = fn.COALESCE(figures[1], -1) != fn.COALESCE(figures[2], -1)
    return Select([parts], [*key, *figures]).group_by(*key).having(differs)


# of two changes within the same second, the later one counts
_write = Insert(
    tuple[Any, ...],
    QuotaTime,
    *(QuotaTime.project_uuid, QuotaTime.service_type, QuotaTime.resource_name, QuotaTime.since),
    *(QuotaTime.quota, QuotaTime.until),
    key=4,
    at_once=5000,
)


def note_changes(engine: Engine, now: int, piece: Piece) -> None:
    """Notes which quotas of a piece have changed since the last time."""
    changed = _changed_quotas(engine, piece)
    _write(engine, [(*row[:4], row.known, now) for row in changed if row.known is not None])
    _write(engine, [(*row[:3], now, row.present, None) for row in changed if row.present is not None])


@writes
def forget_quotas(before: int) -> Node:
    """Deletes what ended before this time."""
    return QuotaTime.delete().where(QuotaTime.until < before)


@writes
def _forget_future(now: int) -> Node:
    return QuotaTime.delete().where(QuotaTime.since > now)


@writes
def _reopen(now: int) -> Node:
    return QuotaTime.update(until=None).where(QuotaTime.until > now)


def forget_future_quotas(engine: Engine, now: int) -> None:
    """Deletes what a clock that was ahead has written for times that are yet to come."""
    _forget_future(engine, now)
    _reopen(engine, now)
