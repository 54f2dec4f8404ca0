"""Writes samples of usage, quota, commitments and capacity, and when quotas have changed (docs/adr/0033)."""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from peewee import Select, Value, fn

from limes.catalog.models import Job, Resource, Service
from limes.db.compiled import any_of, lock, quotient
from limes.db.engine import Engine
from limes.db.query import Insert, Node, first, mapping, tuples, writes
from limes.growth.models import GrowthDay, GrowthHour, GrowthMonth, GrowthSeries, GrowthState, QuotaTime
from limes.growth.queries import LENGTHS, MODELS
from limes.kernel.calendar import DAY, Granularity
from limes.projects.models import Project, ProjectResource


class SamplingState(NamedTuple):
    """When the last sample was taken, and when trends were computed; 0 for never."""

    sampled_at: int
    trends_at: int


class SeriesKey(NamedTuple):
    """A resource of the cluster (`scope` is empty) or of a domain (UUID), in one AZ or in all (`az` is empty)."""

    scope: str
    service: str
    resource: str
    az: str


class Sample(NamedTuple):
    """The figures of one time. A single AZ has no quota, and only the cluster has capacity."""

    usage: int = 0
    committed: int = 0
    quota: int | None = None
    capacity: int | None = None


@writes
def begin() -> Node:
    insert = GrowthState.insert(id=1, sampled_at=0, trends_at=0)
    return insert.on_conflict("NOTHING", conflict_target=[GrowthState.id])


@first(SamplingState)
def _state(*, is_locked: bool) -> Node:
    query = GrowthState.select(GrowthState.sampled_at, GrowthState.trends_at)
    return lock(query) if is_locked else query


def state(engine: Engine) -> SamplingState:
    return _state(engine, is_locked=False) or SamplingState(0, 0)


def lock_state(engine: Engine) -> SamplingState:
    """Returns the state. Until the transaction ends, no other sample is taken."""
    state = _state(engine, is_locked=True)
    assert state is not None, "`begin` was called"
    return state


@writes
def note_sample(now: int) -> Node:
    return GrowthState.update(sampled_at=now)


@writes
def note_trends(now: int) -> Node:
    return GrowthState.update(trends_at=now)


_KEY = [getattr(GrowthSeries, name) for name in ("scope", "service_type", "resource_name", "az")]
_ROWS = 5000
"""Of one statement."""


@mapping(SeriesKey, int)
def series_ids() -> Node:
    return GrowthSeries.select(*_KEY, GrowthSeries.id)


add_series = Insert(SeriesKey, GrowthSeries, *_KEY, key=4, keep=True, at_once=_ROWS)
"""Adds what was never sampled before."""
_figures = (getattr(GrowthHour, name) for name in Sample._fields)
_write_hours = Insert(
    tuple[Any, ...], GrowthHour, GrowthHour.series, GrowthHour.begins, *_figures, key=2, at_once=_ROWS
)


def write_hour(engine: Engine, hour: int, samples: Iterable[tuple[int, Sample]]) -> None:
    """Writes the samples of an hour, by series. They replace earlier ones of the same hour."""
    _write_hours(engine, [(id_, hour, *sample) for id_, sample in samples])


@writes
def _roll_up(begin: int, end: int, *, is_day: bool) -> Node:
    """The INSERT of what the hours that begin in a day, or the days of a month, say together. It reads and writes all
    series at once."""
    target: Any = GrowthDay if is_day else GrowthMonth
    source: Any = GrowthHour if is_day else GrowthDay
    samples, largest = (Value(1), source.usage) if is_day else (source.samples, source.usage_largest)
    last = source.alias("end")
    usage, committed = (last.usage, last.committed) if is_day else (last.usage_last, last.committed_last)

    def mean(field: Any) -> Any:
        # decimal, so that sums have no limit on PostgreSQL
        return quotient(fn.SUM(field.cast("NUMERIC") * samples), fn.SUM(samples)).cast("BIGINT")

    parts = (
        source.select(
            source.series,
            fn.MAX(source.begins).alias("last"),
            fn.SUM(samples).alias("samples"),
            mean(source.usage).alias("usage"),
            fn.MAX(largest).alias("largest"),
            mean(source.committed).alias("committed"),
        )
        .where(source.begins >= begin, source.begins < end)
        .group_by(source.series)
        .alias("parts")
    )
    found = last.select(
        *(parts.c.series_id, begin, parts.c.samples, parts.c.usage, parts.c.largest, parts.c.committed),
        *(usage, committed, last.quota, last.capacity),
    ).join(parts, on=(last.series == parts.c.series_id) & (last.begins == parts.c.last))
    key = (target.series, target.begins)
    fields = [target.samples, target.usage, target.usage_largest, target.committed]
    fields += [target.usage_last, target.committed_last, target.quota, target.capacity]
    insert: Node = target.insert_from(found, [*key, *fields]).on_conflict(conflict_target=key, preserve=fields)
    return insert


def roll_up(engine: Engine, day: int, month: int, next_month: int) -> None:
    """Writes what the hours of a day say together, and then the days of its month."""
    _roll_up(engine, day, day + DAY, is_day=True)
    _roll_up(engine, month, next_month, is_day=False)


@writes
def _delete(length: Granularity, time: int, *, is_future: bool) -> Node:
    model = MODELS[length]
    query: Node = model.delete().where(model.begins > time if is_future else model.begins < time)
    return query


def forget(engine: Engine, hours_before: int, days_before: int, months_before: int | None) -> None:
    for length, before in zip(LENGTHS, (hours_before, days_before, months_before), strict=True):
        if before is not None:
            _delete(engine, length, before, is_future=False)


def forget_future(engine: Engine, now: int) -> None:
    """Deletes what a clock that was ahead has written for times that are yet to come."""
    for length in LENGTHS:
        _delete(engine, length, now, is_future=True)
    _forget_future_quotas(engine, now)
    _reopen_quotas(engine, now)


@writes
def bring_forward(job: str, at: float, scope: str, resources: Collection[int], sampled_before: int) -> Node:
    """Lets the job run at this time at the latest, if one of these resources (ids) has no sample of an hour that began
    before `sampled_before`, in the domain (UUID) or the cloud (empty)."""
    is_same = (GrowthSeries.service_type == Service.type, GrowthSeries.resource_name == Resource.name)
    known = (
        GrowthSeries.select(Value(1))
        .join(GrowthHour, on=GrowthHour.series == GrowthSeries.id)
        .where(GrowthSeries.scope == scope, *is_same, GrowthSeries.az == "", GrowthHour.begins < sampled_before)
    )
    new = Resource.select(Value(1)).join(Service).where(any_of(Resource.id, resources), ~fn.EXISTS(known))
    return Job.update(next_run_at=at).where(Job.name == job, Job.next_run_at > at, fn.EXISTS(new))


# -- quotas of projects ------------------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """The projects whose UUIDs come after the one, up to the other (None: all that follow): these exist, by id."""

    after: str
    last: str | None
    projects: list[int]


@tuples(tuple[int, str])
def _projects_after(after: str, limit: int) -> Node:
    return Project.select(Project.id, Project.uuid).where(Project.uuid > after).order_by(Project.uuid).limit(limit)


def piece_after(engine: Engine, after: str, limit: int) -> Piece:
    """The next projects after this one, and the ones in between that are gone."""
    found = _projects_after(engine, after, limit)
    return Piece(after, found[-1][1] if len(found) == limit else None, [id_ for id_, _ in found])


@tuples(tuple[str, str, str, int | None, int | None, int | None])
def _changed_quotas(piece: Piece) -> Node:
    """Selects quotas that are not what they were: since when, the noted quota, and the present one; None: nothing. By
    adding both sides up, which takes as long as reading them. A join would take very long where the planner does not
    know yet how many there are."""
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
        *(row.project_uuid, row.service_type, row.resource_name), *(row.since, row.quota, nothing)
    ).where(row.until.is_null(), is_in_piece)
    parts = present.union_all(known).alias("parts")
    key = (parts.c.project, parts.c.service, parts.c.resource)
    figures = [fn.MAX(each) for each in (parts.c.since, parts.c.known, parts.c.present)]
    differs = fn.COALESCE(figures[1], -1) != fn.COALESCE(figures[2], -1)
    return Select([parts], [*key, *figures]).group_by(*key).having(differs)


# of two changes within the same second, the later one counts
_columns = ("project_uuid", "service_type", "resource_name", "since", "quota", "until")
_write = Insert(tuple[Any, ...], QuotaTime, *(getattr(QuotaTime, name) for name in _columns), key=4, at_once=_ROWS)


def note_changes(engine: Engine, now: int, piece: Piece) -> None:
    changed = _changed_quotas(engine, piece)
    _write(engine, [(*key, known, now) for *key, known, _ in changed if known is not None])
    _write(engine, [(*key, now, present, None) for *key, _, _, present in changed if present is not None])


@writes
def forget_quotas(before: int) -> Node:
    return QuotaTime.delete().where(QuotaTime.until < before)


@writes
def _forget_future_quotas(now: int) -> Node:
    return QuotaTime.delete().where(QuotaTime.since > now)


@writes
def _reopen_quotas(now: int) -> Node:
    return QuotaTime.update(until=None).where(QuotaTime.until > now)
