"""Writes samples of usage, quota, commitments and capacity, and what hours and days say together (docs/adr/0033)."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from peewee import Value, fn

from limes.core.metering.calendar import DAY
from limes.db.compiled import any_of, compiled, compiled_insert, lock, quotient
from limes.db.engine import Engine
from limes.db.models import (
    GrowthDay,
    GrowthHour,
    GrowthMonth,
    GrowthSeries,
    GrowthState,
    Job,
    Resource,
    Service,
)


class State(NamedTuple):
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


_ROWS = 5000
"""Of one statement."""

# -- the state ---------------------------------------------------------------------------------------------------------

_BEGIN = compiled(
    lambda p: GrowthState.insert(id=1, sampled_at=0, trends_at=0).on_conflict(
        "NOTHING", conflict_target=[GrowthState.id]
    )
)
_STATE = compiled(lambda p: GrowthState.select(GrowthState.sampled_at, GrowthState.trends_at))
_LOCK = compiled(lambda p: lock(GrowthState.select(GrowthState.sampled_at, GrowthState.trends_at)))
_SAMPLED = compiled(lambda p: GrowthState.update(sampled_at=p.now))
_COMPUTED = compiled(lambda p: GrowthState.update(trends_at=p.now))


def begin(engine: Engine) -> None:
    """Adds the row of the state, unless it is there."""
    engine.write(_BEGIN)


def state(engine: Engine) -> State:
    """Returns the state."""
    return engine.first(_STATE, State) or State(0, 0)


def lock_state(engine: Engine) -> State:
    """Returns the state. Until the transaction ends, nobody else takes a sample."""
    state = engine.first(_LOCK, State)
    assert state is not None, "`begin` was called"
    return state


def note_sample(engine: Engine, now: int) -> None:
    """Notes that a sample was taken."""
    engine.write(_SAMPLED, now=now)


def note_trends(engine: Engine, now: int) -> None:
    """Notes that trends were computed."""
    engine.write(_COMPUTED, now=now)


# -- hours -------------------------------------------------------------------------------------------------------------

_KEY = [getattr(GrowthSeries, name) for name in ("scope", "service_type", "resource_name", "az")]
_SERIES = compiled(lambda p: GrowthSeries.select(*_KEY, GrowthSeries.id))
_ADD_SERIES = compiled_insert(
    GrowthSeries, *_KEY, finish=lambda insert: insert.on_conflict("NOTHING", conflict_target=_KEY)
)
_HOUR_KEY = (GrowthHour.series, GrowthHour.begins)
_FIGURES = [getattr(GrowthHour, name) for name in Sample._fields]
_WRITE_HOURS = compiled_insert(
    GrowthHour,
    *_HOUR_KEY,
    *_FIGURES,
    finish=lambda insert: insert.on_conflict(conflict_target=_HOUR_KEY, preserve=_FIGURES),
)


def series_ids(engine: Engine) -> dict[SeriesKey, int]:
    """Returns the ids of all that was ever sampled."""
    return {SeriesKey(*key): id_ for *key, id_ in engine.tuples(_SERIES)}


def add_series(engine: Engine, keys: Sequence[SeriesKey]) -> None:
    """Adds what was never sampled before."""
    for rows in _batches(keys):
        engine.write(_ADD_SERIES, rows=rows)


def write_hour(engine: Engine, hour: int, samples: Iterable[tuple[int, Sample]]) -> None:
    """Writes the samples of an hour, by series. They replace earlier ones of the same hour."""
    for rows in _batches([(id_, hour, *sample) for id_, sample in samples]):
        engine.write(_WRITE_HOURS, rows=rows)


def _batches(rows: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS))


# -- days and months ---------------------------------------------------------------------------------------------------


def _as_decimal(amount: Any) -> Any:
    """So that sums have no limit on PostgreSQL."""
    return amount.cast("NUMERIC")


def _roll_up(target: Any, source: Any, samples: Any, largest: Any, lasts: dict[Any, Any]) -> Any:
    """Returns the INSERT of what the rows of `source` that begin in a time say together. `lasts` are the fields of
    `target` that are taken from the last of these rows. It reads and writes all series at once."""

    def mean(field: Any) -> Any:
        return quotient(fn.SUM(_as_decimal(field) * samples), fn.SUM(samples)).cast("BIGINT")

    def build(p: Any) -> Any:
        parts = (
            source.select(
                source.series,
                fn.MAX(source.begins).alias("last"),
                fn.SUM(samples).alias("samples"),
                mean(source.usage).alias("usage"),
                fn.MAX(largest).alias("largest"),
                mean(source.committed).alias("committed"),
            )
            .where(source.begins >= p.begin, source.begins < p.end)
            .group_by(source.series)
            .alias("parts")
        )
        end = source.alias("end")
        rows = end.select(
            *(parts.c.series_id, p.begin, parts.c.samples, parts.c.usage, parts.c.largest, parts.c.committed),
            *(getattr(end, field.name) for field in lasts.values()),
        ).join(parts, on=(end.series == parts.c.series_id) & (end.begins == parts.c.last))
        key = (target.series, target.begins)
        fields = [target.samples, target.usage, target.usage_largest, target.committed, *lasts]
        return target.insert_from(rows, [*key, *fields]).on_conflict(conflict_target=key, preserve=fields)

    return compiled(build)


_DAY = _roll_up(
    GrowthDay,
    GrowthHour,
    Value(1),
    GrowthHour.usage,
    {
        GrowthDay.usage_last: GrowthHour.usage,
        GrowthDay.committed_last: GrowthHour.committed,
        GrowthDay.quota: GrowthHour.quota,
        GrowthDay.capacity: GrowthHour.capacity,
    },
)
_MONTH = _roll_up(
    GrowthMonth,
    GrowthDay,
    GrowthDay.samples,
    GrowthDay.usage_largest,
    {
        getattr(GrowthMonth, name): getattr(GrowthDay, name)
        for name in ("usage_last", "committed_last", "quota", "capacity")
    },
)


def roll_up(engine: Engine, day: int, month: int, next_month: int) -> None:
    """Writes what the hours of a day say together, and then the days of its month."""
    engine.write(_DAY, begin=day, end=day + DAY)
    engine.write(_MONTH, begin=month, end=next_month)


# -- what is too old, or not yet ---------------------------------------------------------------------------------------

_MODELS: tuple[Any, ...] = (GrowthHour, GrowthDay, GrowthMonth)


def _delete(model: Any) -> tuple[Any, Any]:
    return (
        compiled(lambda p: model.delete().where(model.begins < p.time)),
        compiled(lambda p: model.delete().where(model.begins > p.time)),
    )


_DELETES = {model: _delete(model) for model in _MODELS}


def forget(engine: Engine, hours_before: int, days_before: int, months_before: int | None) -> None:
    """Deletes what began before these times."""
    for model, before in zip(_MODELS, (hours_before, days_before, months_before), strict=True):
        if before is not None:
            engine.write(_DELETES[model][0], time=before)


def forget_future(engine: Engine, now: int) -> None:
    """Deletes what a clock that was ahead has written for times that are yet to come."""
    for model in _MODELS:
        engine.write(_DELETES[model][1], time=now)


# -- samples that are not due yet --------------------------------------------------------------------------------------


def _bring_forward(p: Any) -> Any:
    known = (
        GrowthSeries.select(Value(1))
        .join(GrowthHour, on=GrowthHour.series == GrowthSeries.id)
        .where(
            *(GrowthSeries.scope == p.scope, GrowthSeries.service_type == Service.type),
            *(GrowthSeries.resource_name == Resource.name, GrowthSeries.az == "", GrowthHour.begins < p.sampled_before),
        )
    )
    new = Resource.select(Value(1)).join(Service).where(any_of(Resource.id, p.resources), ~fn.EXISTS(known))
    return Job.update(next_run_at=p.at).where(Job.name == p.job, Job.next_run_at > p.at, fn.EXISTS(new))


_BRING_FORWARD = compiled(_bring_forward)


def bring_forward(
    engine: Engine, job: str, at: float, scope: str, resources: Collection[int], sampled_before: int
) -> bool:
    """Lets the job run at this time at the latest, if one of these resources (ids) has no sample of an hour that began
    before `sampled_before`, in the domain (UUID) or the cloud (empty). Returns whether that changed anything."""
    values = {"job": job, "scope": scope, "resources": sorted(resources), "sampled_before": sampled_before}
    return engine.write(_BRING_FORWARD, at=at, **values) == 1
