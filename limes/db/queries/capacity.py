"""Capacity by resource and AZ, and how the last scrape of each capacitor went."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from peewee import fn

from limes.db.compiled import any_of, compiled, compiled_insert, lock, lock_but_not_key
from limes.db.engine import Engine
from limes.db.models import AZResource, Capacitor, Resource


class CapacityRow(NamedTuple):
    """Raw capacity of a resource in one AZ. `subcapacities` is a JSON list."""

    az: str
    raw_capacity: int
    usage: int | None
    subcapacities: str


class AZCapacityRow(NamedTuple):
    """The same with its resource."""

    resource_id: int
    az: str
    raw_capacity: int
    usage: int | None
    subcapacities: str


_LOCK_RESOURCES = compiled(
    lambda p: lock_but_not_key(
        Resource.select(Resource.id).where(any_of(Resource.id, p.resources)).order_by(Resource.id)
    )
)
_CAPACITIES = compiled(
    lambda p: AZResource.select(
        AZResource.resource, AZResource.az, AZResource.raw_capacity, AZResource.usage, AZResource.subcapacities
    ).where(any_of(AZResource.resource, p.resources))
)
_RAW_CAPACITIES = compiled(
    lambda p: (
        AZResource.select(AZResource.resource, fn.SUM(AZResource.raw_capacity))
        .where(any_of(AZResource.resource, p.resources))
        .group_by(AZResource.resource)
    )
)


class KeptCapacity(NamedTuple):
    """Raw capacity of a resource in one AZ, and when an answer was first seen that has much less."""

    resource_id: int
    az: str
    raw_capacity: int
    drop_seen_at: float | None


_KEPT = compiled(
    lambda p: (
        AZResource.select(AZResource.resource, AZResource.az, AZResource.raw_capacity, Resource.capacity_drop_seen_at)
        .join(Resource)
        .where(any_of(AZResource.resource, p.resources))
    )
)


def lock_resources(engine: Engine, resources: Sequence[int]) -> None:
    """Until the transaction ends, nobody else decides on cluster-wide sums of these resources.

    Others may go on adding rows that refer to them. A scrape does so, and also when it changes a row twice: while it
    has locked rows that a computation of quota waits for, which has locked the resource.
    """
    engine.column(_LOCK_RESOURCES, resources=resources)


def capacities(engine: Engine, resources: Sequence[int]) -> list[AZCapacityRow]:
    """Returns capacity of each of these resources in each AZ."""
    return engine.all(_CAPACITIES, AZCapacityRow, resources=resources) if resources else []


def kept_capacity(engine: Engine, resources: Sequence[int]) -> list[KeptCapacity]:
    """Returns what a new answer is compared with. Lock the resources first."""
    return engine.all(_KEPT, KeptCapacity, resources=resources) if resources else []


def raw_capacities(engine: Engine, resources: Sequence[int]) -> dict[int, int]:
    """Returns raw capacity over all AZs, by resource id."""
    return dict(engine.tuples(_RAW_CAPACITIES, resources=resources))


_LOCK_CAPACITOR = compiled(lambda p: lock(Capacitor.select(Capacitor.next_scrape_at).where(Capacitor.id == p.id)))


def lock_capacitor(engine: Engine, id_: int) -> float | None:
    """Locks the row and returns the time of the next scrape; None if the capacitor is gone."""
    times = engine.column(_LOCK_CAPACITOR, id=id_)
    return times[0] if times else None


_RESOURCES_OF = compiled(lambda p: Resource.select(Resource.id).where(Resource.capacitor == p.capacitor))


def resources_of(engine: Engine, capacitor_id: int) -> set[int]:
    """Returns the resources whose capacity comes from this capacitor."""
    return set(engine.column(_RESOURCES_OF, capacitor=capacitor_id))


_FIGURES = [getattr(AZResource, name) for name in CapacityRow._fields if name != "az"]
_ASSIGN = compiled(
    lambda p: Resource.update(capacitor=p.capacitor, capacity_drop_seen_at=None).where(Resource.id == p.resource)
)
_KEEP = compiled(
    lambda p: Resource.update(capacitor=p.capacitor, capacity_drop_seen_at=p.now).where(
        any_of(Resource.id, p.resources)
    )
)
_DELETE_OTHER_AZS = compiled(
    lambda p: AZResource.delete().where(AZResource.resource == p.resource, ~any_of(AZResource.az, p.azs))
)
_WRITE_AZS = compiled_insert(
    AZResource,
    AZResource.resource,
    AZResource.az,
    *_FIGURES,
    finish=lambda insert: insert.on_conflict(conflict_target=[AZResource.resource, AZResource.az], preserve=_FIGURES),
)


def replace_capacity(engine: Engine, capacitor_id: int, capacity: Mapping[int, Sequence[CapacityRow]]) -> None:
    """Assigns these resources to the capacitor, with exactly these AZs."""
    for resource, rows in sorted(capacity.items()):
        engine.write(_ASSIGN, capacitor=capacitor_id, resource=resource)
        engine.write(_DELETE_OTHER_AZS, resource=resource, azs=[row.az for row in rows])
        if rows:
            engine.write(_WRITE_AZS, rows=[(resource, *row) for row in rows])


def drop_capacity(engine: Engine, resources: Collection[int]) -> None:
    """Deletes the capacity of resources that no capacitor reports any more."""
    for resource in sorted(resources):
        engine.write(_DELETE_OTHER_AZS, resource=resource, azs=())
        engine.write(_ASSIGN, capacitor=None, resource=resource)


def keep_capacity(engine: Engine, capacitor_id: int, resources: Collection[int], now: float) -> None:
    """Assigns these resources to the capacitor, but keeps their capacity until its next answer."""
    if resources:
        engine.write(_KEEP, capacitor=capacitor_id, resources=sorted(resources), now=now)


_RECORD_SUCCESS = compiled(
    lambda p: Capacitor.update(
        scraped_at=p.now,
        checked_at=p.now,
        next_scrape_at=p.next_scrape_at,
        scrape_duration=p.duration,
        scrape_error="",
    ).where(Capacitor.id == p.id)
)
_RECORD_FAILURE = compiled(
    lambda p: Capacitor.update(checked_at=p.now, next_scrape_at=p.next_scrape_at, scrape_error=p.error).where(
        Capacitor.id == p.id
    )
)


def record_scrape(engine: Engine, id_: int, now: float, next_scrape_at: float, duration: float) -> None:
    """Records that a scrape has succeeded."""
    engine.write(_RECORD_SUCCESS, id=id_, now=now, next_scrape_at=next_scrape_at, duration=duration)


def record_failed_scrape(engine: Engine, id_: int, now: float, next_scrape_at: float, error: str) -> None:
    """Records that a scrape has failed. The figures of the last success stay."""
    engine.write(_RECORD_FAILURE, id=id_, now=now, next_scrape_at=next_scrape_at, error=error)
