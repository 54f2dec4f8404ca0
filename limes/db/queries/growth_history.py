"""Reads how usage, quota, commitments and capacity have grown (docs/adr/0033)."""

from functools import cache
from typing import Any, NamedTuple

from peewee import Select, fn

from limes.core.catalog import Ref
from limes.core.metering.calendar import DAY, Granularity, day_of, month_of
from limes.db.compiled import Compiled, compiled
from limes.db.engine import Engine
from limes.db.models import CommitmentUse, GrowthDay, GrowthHour, GrowthMonth, GrowthSeries, QuotaTime


class GrowthRow(NamedTuple):
    """What was sampled in an hour, a day or a month. Usage and commitments are averages."""

    service: str
    resource: str
    az: str
    begins: int
    used: int
    committed: int
    largest: int
    last: int
    quota: int | None
    capacity: int | None


_MODELS: dict[Granularity, Any] = {
    Granularity.HOUR: GrowthHour,
    Granularity.DAY: GrowthDay,
    Granularity.MONTH: GrowthMonth,
}


@cache
def _history(granularity: Granularity, every_az: bool) -> Compiled:
    model = _MODELS[granularity]
    is_hour = model is GrowthHour
    largest, last = (model.usage, model.usage) if is_hour else (model.usage_largest, model.usage_last)
    query = (
        GrowthSeries.select(
            *(GrowthSeries.service_type, GrowthSeries.resource_name, GrowthSeries.az),
            *(model.begins, model.usage, model.committed, largest, last, model.quota, model.capacity),
        )
        .join(model, on=model.series == GrowthSeries.id)
        .order_by(GrowthSeries.id, model.begins)
    )

    def build(p: Any) -> Any:
        az = GrowthSeries.az != "" if every_az else GrowthSeries.az == ""
        return query.where(GrowthSeries.scope == p.scope, az, model.begins >= p.begin, model.begins < p.end)

    return compiled(build)


def growth_history(
    engine: Engine, scope: str, granularity: Granularity, begin: int, end: int, *, every_az: bool
) -> list[GrowthRow]:
    """Returns what was sampled of the cluster (`scope` is empty) or a domain (UUID): of all AZs together, or of each
    single one."""
    return engine.all(_history(granularity, every_az), GrowthRow, scope=scope, begin=begin, end=end)


def _first_of(model: Any) -> Any:
    return model.select(fn.MIN(model.begins)).where(model.series == GrowthSeries.id)


_FIRST_SAMPLES = compiled(
    lambda p: GrowthSeries.select(
        *(GrowthSeries.service_type, GrowthSeries.resource_name),
        *(_first_of(model) for model in (GrowthMonth, GrowthDay, GrowthHour)),
    ).where(GrowthSeries.scope == p.scope, GrowthSeries.az == "")
)
_FIRST_TIMES = compiled(
    lambda p: Select(
        columns=[
            model.select(fn.MIN(time))
            for model, time in ((GrowthMonth, GrowthMonth.begins), (GrowthDay, GrowthDay.begins))
        ]
        + [CommitmentUse.select(fn.MIN(CommitmentUse.day))]
    )
)


class FirstTimes(NamedTuple):
    """When the oldest data of all begin: samples (exactly or in that month), and the use of commitments."""

    sample: int | None
    commitment_use: int | None


def first_times(engine: Engine) -> FirstTimes:
    """Returns when the oldest data begin."""
    ((month, day, used_on),) = engine.tuples(_FIRST_TIMES)
    return FirstTimes(_exact(month, day, None), None if used_on is None else used_on * DAY)


def first_samples(engine: Engine, scope: str) -> dict[Ref, int]:
    """Returns since when each resource of the cluster (`scope` is empty) or a domain (UUID) is sampled: as exactly as
    samples are kept."""
    found = {}
    for service, resource, *firsts in engine.tuples(_FIRST_SAMPLES, scope=scope):
        first = _exact(*firsts)
        if first is not None:
            found[service, resource] = first
    return found


def _exact(month: int | None, day: int | None, hour: int | None) -> int | None:
    """Returns the first time of three that begin in each other, as far as they do."""
    first = month
    for later, begin in ((day, month_of), (hour, day_of)):
        if later is not None and (first is None or begin(later) <= first):
            first = later
    return first


class QuotaRow(NamedTuple):
    """From when to when a project had a quota; `until` is None for the present one."""

    service: str
    resource: str
    since: int
    until: int | None
    quota: int


_QUOTAS = compiled(
    lambda p: (
        QuotaTime.select(
            QuotaTime.service_type, QuotaTime.resource_name, QuotaTime.since, QuotaTime.until, QuotaTime.quota
        )
        .where(
            QuotaTime.project_uuid == p.project,
            QuotaTime.since < p.end,
            QuotaTime.until.is_null() | (QuotaTime.until > p.begin),
        )
        .order_by(QuotaTime.since)
    )
)


def quotas_of_project(engine: Engine, project: str, begin: int, end: int) -> list[QuotaRow]:
    """Returns the quotas that a project (UUID) had in this time, in order."""
    return engine.all(_QUOTAS, QuotaRow, project=project, begin=begin, end=end)
