"""Rows that mirror the configuration: services, resources, capacitors; and the capacity that these report.

A service that has left the configuration is marked as vanished, restored when it returns, and finally deleted.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from peewee import JOIN, fn

from limes.catalog.catalog import Ref
from limes.catalog.models import AZResource, Capacitor, Resource, Service
from limes.db.compiled import any_of, lock, lock_but_not_key
from limes.db.engine import Engine
from limes.db.query import Insert, Node, column, first_value, mapping, nested, rows, tuples, writes, writes_for

# -- services and resources --------------------------------------------------------------------------------------------


@mapping(str, int, prepare=True)
def service_ids() -> Node:
    return Service.select(Service.type, Service.id)


@mapping(tuple[str, str], int, prepare=True)
def resource_ids() -> Node:
    return Resource.select(Service.type, Resource.name, Resource.id).join(Service)


@first_value(int, prepare=True)
def _resource_id(service: str, name: str) -> Node:
    return Resource.select(Resource.id).join(Service).where(Service.type == service, Resource.name == name)


def resource_id(engine: Engine, ref: Ref) -> int:
    """Returns the id of a resource that is in the configuration, or was. Raises `KeyError` if there is no such row."""
    id_ = _resource_id(engine, *ref)
    if id_ is None:
        raise KeyError(ref)
    return id_


@mapping(int, tuple[str, str], skip_empty="ids", prepare=True)
def refs_by_id(ids: Collection[int]) -> Node:
    return Resource.select(Resource.id, Service.type, Resource.name).join(Service).where(any_of(Resource.id, ids))


@mapping(str, int)
def service_resource_ids(service_id: int) -> Node:
    """The id of each resource of a service that its backend still offers, by name."""
    return Resource.select(Resource.name, Resource.id).where(Resource.service == service_id, Resource.is_known)


@tuples(tuple[int, str, int | None, str | None], prepare=True)
def _services_and_resources() -> Node:
    return Service.select(Service.id, Service.type, Resource.id, Resource.name).join(Resource, JOIN.LEFT_OUTER)


def all_ids(engine: Engine) -> tuple[dict[int, str], dict[Ref, int]]:
    """Returns the types of services by id, and the ids of resources, in one query."""
    found = _services_and_resources(engine)
    resources = {(type_, name): id_ for _, type_, id_, name in found if id_ is not None and name is not None}
    return {id_: type_ for id_, type_, *_ in found}, resources


# -- following the configuration ---------------------------------------------------------------------------------------

add_services = Insert(tuple[str], Service, Service.type, key=1, keep=True)
"""Adds the services that are missing; likewise the others."""
add_resources = Insert(
    tuple[int, str, bool], Resource, Resource.service, Resource.name, Resource.is_known, key=2, keep=True
)
_DUE = (Capacitor.name, Capacitor.next_scrape_at, Capacitor.scrape_error)
add_capacitors = Insert(tuple[str, float, str], Capacitor, *_DUE, key=1, keep=True)


@writes
def _show(ids: Collection[int], is_known: bool) -> Node:
    is_other = ~Resource.is_known if is_known else Resource.is_known
    return Resource.update(is_known=is_known).where(any_of(Resource.id, ids), is_other)


def show_only(engine: Engine, refs: Collection[Ref]) -> dict[int, str]:
    """Hides all other resources, and shows these again. Returns the types of services of those that are hidden, by
    resource id."""
    ids = resource_ids(engine)
    hidden = {id_: ref[0] for ref, id_ in ids.items() if ref not in refs}
    _show(engine, set(ids.values()) - hidden.keys(), True)
    _show(engine, hidden.keys(), False)
    return hidden


@writes
def delete_other_capacitors(names: Collection[str]) -> Node:
    return Capacitor.delete().where(~any_of(Capacitor.name, names))


@writes
def delete_unreported() -> Node:
    """Deletes the capacity that no capacitor reports any more."""
    unreported = Resource.select(Resource.id).where(Resource.capacitor.is_null())
    return AZResource.delete().where(AZResource.resource.in_(unreported))


# -- vanished services -------------------------------------------------------------------------------------------------


@column(str)
def restore_services(configured: Sequence[str]) -> Node:
    """Takes the mark from services of these types. Returns the ones that had it."""
    marked = Service.vanished_at.is_null(False)
    return Service.update(vanished_at=None).where(marked, any_of(Service.type, configured)).returning(Service.type)


@column(str)
def mark_vanished_services(configured: Sequence[str], now: float) -> Node:
    """Marks services of other types. Returns the ones that had no mark yet."""
    others = (Service.vanished_at.is_null(), ~any_of(Service.type, configured))
    return Service.update(vanished_at=now).where(*others).returning(Service.type)


@column(str)
def services_vanished_before(time: float) -> Node:
    """The types of services that were marked by then."""
    return Service.select(Service.type).where(Service.vanished_at <= time).order_by(Service.type)


@column(int, skip_empty="types")
def resources_of_services(types: Sequence[str], marked_by: float) -> Node:
    """The resources of services that are about to be deleted."""
    query = Resource.select(Resource.id).join(Service)
    return query.where(Service.vanished_at <= marked_by, any_of(Service.type, types))


@writes_for("types")
def delete_services(types: Sequence[str], marked_by: float) -> Node:
    """Deletes services with all that hangs on them, unless they were restored meanwhile."""
    return Service.delete().where(Service.vanished_at <= marked_by, any_of(Service.type, types))


class AZCapacityRow(NamedTuple):
    """Raw capacity of a resource in one AZ. `subcapacities` is a JSON list."""

    resource_id: int
    az: str
    raw_capacity: int
    usage: int | None
    subcapacities: str


@column(int, skip_empty="resources")
def lock_resources(resources: Sequence[int]) -> Node:
    """Until the transaction ends, no other one decides on cluster-wide sums of these resources. Others may go on adding
    rows that refer to them. A scrape does so, and also when it changes a row twice: while it has locked rows that a
    computation of quota waits for, which has locked the resource."""
    return lock_but_not_key(Resource.select(Resource.id).where(any_of(Resource.id, resources)).order_by(Resource.id))


@rows(AZCapacityRow, skip_empty="resources", prepare=True)
def capacities(resources: Sequence[int]) -> Node:
    row = AZResource
    query = row.select(row.resource, row.az, row.raw_capacity, row.usage, row.subcapacities)
    return query.where(any_of(row.resource, resources))


@nested(int, str, int, skip_empty="resources")
def kept_capacity(resources: Sequence[int]) -> Node:
    """Raw capacity by resource and AZ that a new answer is compared with: unless the last one had much less already.
    Lock the resources first."""
    row = AZResource
    query = row.select(row.resource, row.az, row.raw_capacity).join(Resource)
    return query.where(any_of(row.resource, resources), Resource.capacity_drop_seen_at.is_null())


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


def replace_capacity(engine: Engine, capacitor_id: int | None, capacity: Mapping[int, Sequence[AZCapacityRow]]) -> None:
    """Assigns these resources to the capacitor, with exactly these AZs. None: no capacitor reports them any more."""
    for resource, new in sorted(capacity.items()):
        _assign(engine, resource, capacitor_id)
        _delete_other_azs(engine, resource, [row.az for row in new])
        _write_azs(engine, new)


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
