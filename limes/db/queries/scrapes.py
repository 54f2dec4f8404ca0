"""What a scrape of one service of one project stores: usage, quota and its outcome. Writes only changes.

As in all transactions, `project_resources` are locked before `project_services`.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import peewee
from peewee import JOIN, Case, fn

from limes.db.compiled import Parameters, any_of, compiled, compiled_insert, lock
from limes.db.engine import Engine
from limes.db.models import ProjectAZResource, ProjectResource, ProjectService


class ResourceRow(NamedTuple):
    """A project's resource. Quota, and the backend's (stored form, see `limes.core.quota`); totals over all AZs."""

    quota: int | None
    backend_quota: int | None
    usage: int
    physical_usage: int | None
    min_backend_quota: int | None = None
    max_backend_quota: int | None = None
    """What the backend accepts, where it says so."""


class AZRow(NamedTuple):
    """Usage in one AZ. `subresources` is a JSON list, or empty."""

    usage: int
    physical_usage: int | None
    subresources: str
    metered_usage: int | None = None
    """The usage that the account over time knows."""


AZRows = Mapping[tuple[int, str], AZRow]
"""By resource id and AZ."""


class Figures(NamedTuple):
    """All figures of the resources of one service in one project."""

    resources: Mapping[int, ResourceRow]
    azs: AZRows


class Outcome(NamedTuple):
    """What to write after a successful scrape. Times are in seconds since the epoch."""

    now: float
    next_scrape_at: float
    duration: float
    in_sync: bool
    """Whether the backend's quota is the wanted one."""
    mark_at: float | None = None
    """A desync mark to set if there is none."""


class QuotaState(NamedTuple):
    """What is known of the quota in the backend after the outcome was written."""

    quota_desynced_at: float | None
    drifted_at: float | None
    pushed_at: float | None


_PR = ProjectResource.alias("pr")
_LOCK_FIGURES = compiled(
    lambda p: lock(
        _PR.select(
            *(_PR.resource, _PR.quota, _PR.backend_quota, _PR.usage, _PR.physical_usage),
            *(_PR.min_backend_quota, _PR.max_backend_quota),
            *(ProjectAZResource.az, ProjectAZResource.usage, ProjectAZResource.physical_usage),
            *(ProjectAZResource.subresources, ProjectAZResource.metered_usage),
        )
        .join(
            ProjectAZResource,
            JOIN.LEFT_OUTER,
            on=(ProjectAZResource.project_id == _PR.project) & (ProjectAZResource.resource_id == _PR.resource),
        )
        .where(_PR.project == p.project, any_of(_PR.resource, p.resources))
        .order_by(_PR.resource),
        of="pr",
    )
)


def lock_figures(engine: Engine, project_id: int, resources: Collection[int]) -> Figures:
    """Returns the stored figures. Until the transaction ends, nobody else changes them."""
    if not resources:
        return Figures({}, {})
    rows = engine.tuples(_LOCK_FIGURES, project=project_id, resources=resources)
    return Figures(
        {row[0]: ResourceRow._make(row[1:7]) for row in rows},
        {(row[0], row[7]): AZRow._make(row[8:]) for row in rows if row[7] is not None},
    )


def _record_success(p: Parameters, **changes: Any) -> peewee.Node:
    return (
        ProjectService.update(
            scraped_at=p.now,
            metered_at=p.now,
            checked_at=p.now,
            next_scrape_at=p.next_scrape_at,
            scrape_duration=p.duration,
            scrape_error="",
            scrape_failures=0,
            failing_since=None,
            scrape_claimed_until=None,
            scrape_state=fn.COALESCE(p.scrape_state, ProjectService.scrape_state),
            **changes,
        )
        .where(ProjectService.id == p.id, ProjectService.scrape_claimed_until == p.lease)
        .returning(ProjectService.quota_desynced_at, ProjectService.drifted_at, ProjectService.pushed_at)
    )


def _unless_in_sync(p: Parameters, cleared: Any, column: peewee.Field) -> Any:
    """Returns `cleared`, or the column's present value if a desync mark was made after the claim."""
    unchanged = fn.COALESCE(ProjectService.quota_desynced_at, p.seen_mark) == p.seen_mark
    return Case(None, [(unchanged, cleared)], column)


_RECORD_AS_IT_IS = compiled(_record_success)
_RECORD_AND_MARK = compiled(
    lambda p: _record_success(
        p,
        quota_desynced_at=fn.COALESCE(ProjectService.quota_desynced_at, p.mark_at),
        next_push_at=fn.COALESCE(ProjectService.next_push_at, p.mark_at),
    )
)
_RECORD_IN_SYNC = compiled(
    lambda p: _record_success(
        p, drifted_at=Case(None, [(ProjectService.quota_desynced_at.is_null(), None)], ProjectService.drifted_at)
    )
)
_RECORD_AND_CLEAR_MARK = compiled(
    lambda p: _record_success(
        p,
        next_push_at=_unless_in_sync(p, None, ProjectService.next_push_at),
        drifted_at=_unless_in_sync(p, None, ProjectService.drifted_at),
        push_failures=_unless_in_sync(p, 0, ProjectService.push_failures),
        push_error=_unless_in_sync(p, "", ProjectService.push_error),
        quota_desynced_at=_unless_in_sync(p, None, ProjectService.quota_desynced_at),
    )
)


def record_success(
    engine: Engine, id_: int, lease: float, outcome: Outcome, seen_mark: float | None, scrape_state: str | None = None
) -> QuotaState | None:
    """Records that a scrape has succeeded, and ends its claim. None if the claim is lost: then nothing is written.

    `seen_mark` is the desync mark at the time of the claim. It is cleared if the backend is in sync now. A mark that
    was set after the claim stays: the report may be older than the change behind it. A `scrape_state` of None changes
    nothing.
    """
    if outcome.mark_at is not None:
        query = _RECORD_AND_MARK
    elif not outcome.in_sync:
        query = _RECORD_AS_IT_IS
    else:
        query = _RECORD_IN_SYNC if seen_mark is None else _RECORD_AND_CLEAR_MARK
    return engine.first(
        query,
        QuotaState,
        id=id_,
        lease=lease,
        seen_mark=seen_mark,
        scrape_state=scrape_state,
        **outcome._asdict(),
    )


_SET_DRIFT = compiled(lambda p: ProjectService.update(drifted_at=p.since).where(ProjectService.id == p.id))


def set_drift(engine: Engine, id_: int, since: float) -> None:
    """Records since when the backend enforces another quota than it was told."""
    engine.write(_SET_DRIFT, id=id_, since=since)


_LOCK_CLAIM = compiled(
    lambda p: lock(
        ProjectService.select(ProjectService.scrape_failures).where(
            ProjectService.id == p.id, ProjectService.scrape_claimed_until == p.lease
        )
    )
)
_RECORD_FAILURE = compiled(
    lambda p: ProjectService.update(
        checked_at=p.now,
        next_scrape_at=p.next_scrape_at,
        # without an error the old time means nothing: the previous release does not clear it
        failing_since=Case(
            None,
            [((ProjectService.scrape_error == "") | ProjectService.failing_since.is_null(), p.now)],
            ProjectService.failing_since,
        ),
        scrape_error=p.error,
        scrape_failures=p.failures,
        scrape_claimed_until=None,
    ).where(ProjectService.id == p.id)
)


def lock_claim(engine: Engine, id_: int, lease: float) -> int | None:
    """Locks the row and returns how many scrapes have failed in a row; None if the claim is lost."""
    failures = engine.column(_LOCK_CLAIM, id=id_, lease=lease)
    return failures[0] if failures else None


def record_failure(engine: Engine, id_: int, now: float, next_scrape_at: float, failures: int, error: str) -> None:
    """Records that a scrape has failed. The figures of the last success stay."""
    engine.write(_RECORD_FAILURE, id=id_, now=now, next_scrape_at=next_scrape_at, failures=failures, error=error)


_QUOTA_FIELDS = [getattr(ProjectResource, name) for name in ResourceRow._fields]
_WRITE_RESOURCES = compiled_insert(
    ProjectResource,
    *(ProjectResource.project, ProjectResource.resource, *_QUOTA_FIELDS),
    finish=lambda insert: insert.on_conflict(
        conflict_target=[ProjectResource.project, ProjectResource.resource], preserve=_QUOTA_FIELDS
    ),
)
_USAGE_FIELDS = [getattr(ProjectAZResource, name) for name in AZRow._fields]
_WRITE_AZS = compiled_insert(
    ProjectAZResource,
    *(ProjectAZResource.project_id, ProjectAZResource.resource_id, ProjectAZResource.az, *_USAGE_FIELDS),
    finish=lambda insert: insert.on_conflict(
        conflict_target=[ProjectAZResource.project_id, ProjectAZResource.resource_id, ProjectAZResource.az],
        preserve=_USAGE_FIELDS,
    ),
)
_DELETE_AZS = compiled(
    lambda p: ProjectAZResource.delete().where(
        ProjectAZResource.project_id == p.project,
        any_of(ProjectAZResource.resource_id.cast("TEXT").concat(":").concat(ProjectAZResource.az), p.keys),
    )
)


def write_figures(engine: Engine, project_id: int, stored: Figures, present: Figures) -> None:
    """Writes the figures in `present` where they differ from `stored`, with three statements at most.

    `stored` must have all figures of these resources, and be locked.
    """
    resources = [row for row in present.resources.items() if row not in stored.resources.items()]
    if resources:
        engine.write(_WRITE_RESOURCES, rows=[(project_id, resource, *row) for resource, row in sorted(resources)])
    gone = [key for key in stored.azs if key[0] in present.resources and key not in present.azs]
    if gone:
        engine.write(_DELETE_AZS, project=project_id, keys=[f"{resource}:{az}" for resource, az in gone])
    azs = [row for row in present.azs.items() if row not in stored.azs.items()]
    if azs:
        rows = [(project_id, *key, *row) for key, row in sorted(azs, key=lambda item: item[0])]
        engine.write(_WRITE_AZS, rows=rows)


def less_used(stored: Figures, present: Figures) -> set[int]:
    """Returns the resources of which less is used than before in any AZ."""
    return {
        place[0]
        for place, row in stored.azs.items()
        if place[0] in present.resources and (place not in present.azs or present.azs[place].usage < row.usage)
    }
