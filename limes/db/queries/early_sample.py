"""Asks for a sample of growth that is not due yet (limes.actions.growth.early_sample)."""

from collections.abc import Collection
from typing import Any

from peewee import Value, fn

from limes.db.compiled import any_of, compiled
from limes.db.engine import Engine
from limes.db.models import GrowthHour, GrowthSeries, Job, Resource, Service


def _build(p: Any) -> Any:
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


_BRING_FORWARD = compiled(_build)


def bring_forward(
    engine: Engine, job: str, at: float, scope: str, resources: Collection[int], sampled_before: int
) -> bool:
    """Lets the job run at this time at the latest, if one of these resources (ids) has no sample of an hour that began
    before `sampled_before`, in the domain (UUID) or the cloud (empty). Returns whether that changed anything."""
    values = {"job": job, "scope": scope, "resources": sorted(resources), "sampled_before": sampled_before}
    return engine.write(_BRING_FORWARD, at=at, **values) == 1
