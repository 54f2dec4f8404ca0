"""Writes when quotas of projects have changed (docs/adr/0033)."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from peewee import Select, Value, fn

from limes.db.compiled import Compiled, any_of, compiled, compiled_insert
from limes.db.engine import Engine
from limes.db.models import Project, ProjectResource, QuotaTime, Resource, Service

_ROWS = 5000
"""Of one statement."""


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


_PROJECTS_AFTER = compiled(
    lambda p: (
        Project.select(Project.id, Project.uuid).where(Project.uuid > p.after).order_by(Project.uuid).limit(p.limit)
    )
)


def piece_after(engine: Engine, after: str, limit: int) -> Piece:
    """Returns the next projects after this one, and those that are gone in between."""
    rows = engine.tuples(_PROJECTS_AFTER, after=after, limit=limit)
    return Piece(after, rows[-1][1] if len(rows) == limit else None, [id_ for id_, _ in rows])


@cache
def _changed_quotas(has_end: bool) -> Compiled:
    """Selects them by adding both sides up, which takes as long as reading them. A join would take very long where
    the planner does not know yet how many there are."""
    nothing = Value(None).cast("BIGINT")
    uuid = QuotaTime.project_uuid

    def build(p: Any) -> Any:
        in_piece = (uuid > p.after) & (uuid <= p.last) if has_end else uuid > p.after
        present = (
            ProjectResource.select(
                *(Project.uuid.alias("project"), Service.type.alias("service"), Resource.name.alias("resource")),
                *(nothing.alias("since"), nothing.alias("known"), ProjectResource.quota.alias("present")),
            )
            .join(Project)
            .join_from(ProjectResource, Resource)
            .join(Service)
            .where(ProjectResource.quota.is_null(False), any_of(ProjectResource.project, p.projects))
        )
        known = QuotaTime.select(
            *(uuid, QuotaTime.service_type, QuotaTime.resource_name),
            *(QuotaTime.since, QuotaTime.quota, nothing),
        ).where(QuotaTime.until.is_null(), in_piece)
        parts = present.union_all(known).alias("parts")
        key = (parts.c.project, parts.c.service, parts.c.resource)
        figures = [fn.MAX(each) for each in (parts.c.since, parts.c.known, parts.c.present)]
        differs = fn.COALESCE(figures[1], -1) != fn.COALESCE(figures[2], -1)
        return Select([parts], [*key, *figures]).group_by(*key).having(differs)

    return compiled(build)


_KEY = (QuotaTime.project_uuid, QuotaTime.service_type, QuotaTime.resource_name, QuotaTime.since)
_WRITE = compiled_insert(
    QuotaTime,
    *_KEY,
    QuotaTime.quota,
    QuotaTime.until,
    # of two changes within the same second, the later one counts
    finish=lambda insert: insert.on_conflict(conflict_target=_KEY, preserve=[QuotaTime.quota, QuotaTime.until]),
)


def note_changes(engine: Engine, now: int, piece: Piece) -> None:
    """Notes which quotas of a piece have changed since the last time."""
    changed = engine.all(_changed_quotas(piece.last is not None), _ChangedQuota, **piece._asdict())
    ended = [(*row[:4], row.known, now) for row in changed if row.known is not None]
    begun = [(*row[:3], now, row.present, None) for row in changed if row.present is not None]
    for rows in (*_batches(ended), *_batches(begun)):
        engine.write(_WRITE, rows=rows)


def _batches(rows: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS))


_FORGET = compiled(lambda p: QuotaTime.delete().where(QuotaTime.until < p.time))
_FORGET_FUTURE = compiled(lambda p: QuotaTime.delete().where(QuotaTime.since > p.now))
_REOPEN = compiled(lambda p: QuotaTime.update(until=None).where(QuotaTime.until > p.now))


def forget_quotas(engine: Engine, before: int) -> None:
    """Deletes what ended before this time."""
    engine.write(_FORGET, time=before)


def forget_future_quotas(engine: Engine, now: int) -> None:
    """Deletes what a clock that was ahead has written for times that are yet to come."""
    for query in (_FORGET_FUTURE, _REOPEN):
        engine.write(query, now=now)
