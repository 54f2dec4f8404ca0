"""Capacity by resource and AZ, and how the last scrape of each capacitor went."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from peewee import fn

from limes.db.compiled import any_of, lock, lock_but_not_key
from limes.db.engine import Engine
from limes.db.models import AZResource, Capacitor, Resource
from limes.db.query import Insert, Node, column, first_value, mapping, rows, writes, writes_for


class AZCapacityRow(NamedTuple):
    """Raw capacity of a resource in one AZ. `subcapacities` is a JSON list."""

    resource_id: int
    az: str
    raw_capacity: int
    usage: int | None
    subcapacities: str


class KeptCapacity(NamedTuple):
    """Raw capacity of a resource in one AZ, and when an answer was first seen that has much less."""

    resource_id: int
    az: str
    raw_capacity: int
    drop_seen_at: float | None


@column(int, skip_empty="resources")
def lock_resources(resources: Sequence[int]) -> Node:
    """Until the transaction ends, nobody else decides on cluster-wide sums of these resources.

    Others may go on adding rows that refer to them. A scrape does so, and also when it changes a row twice: while it
    has locked rows that a computation of quota waits for, which has locked the resource.
    """
    return lock_but_not_key(Resource.select(Resource.id).where(any_of(Resource.id, resources)).order_by(Resource.id))


@rows(AZCapacityRow, skip_empty="resources")
def capacities(resources: Sequence[int]) -> Node:
    """Capacity of each of these resources in each AZ."""
    row = AZResource
    query = row.select(row.resource, row.az, row.raw_capacity, row.usage, row.subcapacities)
    return query.where(any_of(row.resource, resources))


@rows(KeptCapacity, skip_empty="resources")
def kept_capacity(resources: Sequence[int]) -> Node:
    """What a new answer is compared with. Lock the resources first."""
    row = AZResource
    query = row.select(row.resource, row.az, row.raw_capacity, Resource.capacity_drop_seen_at).join(Resource)
    return query.where(any_of(row.resource, resources))


@mapping(int, int)
def raw_capacities(resources: Sequence[int]) -> Node:
    """Raw capacity over all AZs, by resource id."""
    row = AZResource
    query = row.select(row.resource, fn.SUM(row.raw_capacity)).where(any_of(row.resource, resources))
    return query.group_by(row.resource)


@first_value(float)
def lock_capacitor(id_: int) -> Node:
    """Locks the row. Gives the time of the next scrape; None if the capacitor is gone."""
    return lock(Capacitor.select(Capacitor.next_scrape_at).where(Capacitor.id == id_))


@column(int)
def resources_of(capacitor_id: int) -> Node:
    return Resource.select(Resource.id).where(Resource.capacitor == capacitor_id)


@writes
def _assign(resource: int, capacitor: int | None) -> Node:
    return Resource.update(capacitor=capacitor, capacity_drop_seen_at=None).where(Resource.id == resource)


@writes
def _delete_other_azs(resource: int, azs: Collection[str]) -> Node:
    return AZResource.delete().where(AZResource.resource == resource, ~any_of(AZResource.az, azs))


_write_azs = Insert(AZCapacityRow, AZResource, key=2)


def replace_capacity(engine: Engine, capacitor_id: int, capacity: Mapping[int, Sequence[AZCapacityRow]]) -> None:
    """Assigns these resources to the capacitor, with exactly these AZs."""
    for resource, new in sorted(capacity.items()):
        _assign(engine, resource, capacitor_id)
        _delete_other_azs(engine, resource, [row.az for row in new])
        _write_azs(engine, new)


def drop_capacity(engine: Engine, resources: Collection[int]) -> None:
    """Deletes the capacity of resources that no capacitor reports any more."""
    for resource in sorted(resources):
        _delete_other_azs(engine, resource, ())
        _assign(engine, resource, None)


@writes_for("resources")
def keep_capacity(capacitor_id: int, resources: Collection[int], now: float) -> Node:
    """Assigns these resources to the capacitor, but keeps their capacity until its next answer."""
    kept = Resource.update(capacitor=capacitor_id, capacity_drop_seen_at=now)
    return kept.where(any_of(Resource.id, resources))


@writes
def record_scrape(id_: int, now: float, next_scrape_at: float, duration: float) -> Node:
    return Capacitor.update(
        scraped_at=now, checked_at=now, next_scrape_at=next_scrape_at, scrape_duration=duration, scrape_error=""
    ).where(Capacitor.id == id_)


@writes
def record_failed_scrape(id_: int, now: float, next_scrape_at: float, error: str) -> Node:
    """Records that a scrape has failed. The figures of the last success stay."""
    failed = Capacitor.update(checked_at=now, next_scrape_at=next_scrape_at, scrape_error=error)
    return failed.where(Capacitor.id == id_)
