"""Reads how usage, quota, commitments and capacity have grown (docs/adr/0033)."""

from functools import cache
from typing import Any, NamedTuple

from limes.core.metering.calendar import Granularity
from limes.db.compiled import Compiled, compiled
from limes.db.engine import Engine
from limes.db.models import GrowthDay, GrowthHour, GrowthMonth, GrowthSeries, QuotaTime


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
