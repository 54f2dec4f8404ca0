"""Rows that mirror the configuration: services, resources, capacitors.

A service that has left the configuration is marked as vanished, restored when it returns, and deleted in the end.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from peewee import JOIN

from limes.core.catalog import Ref
from limes.db.compiled import any_of, compiled, compiled_insert
from limes.db.engine import Engine
from limes.db.models import AZResource, Capacitor, Resource, Service

# -- what there is -----------------------------------------------------------------------------------------------------


class _ResourceRow(NamedTuple):
    id: int
    service_type: str
    name: str


class _ServiceRow(NamedTuple):
    """A resource of a service; without the last two for a service that has none."""

    id: int
    type: str
    resource_id: int | None
    resource_name: str | None


_SERVICES = compiled(lambda p: Service.select(Service.type, Service.id))
_RESOURCES = compiled(lambda p: Resource.select(Resource.id, Service.type, Resource.name).join(Service))
_RESOURCE_ID = compiled(
    lambda p: Resource.select(Resource.id).join(Service).where(Service.type == p.service, Resource.name == p.name)
)
_RESOURCES_BY_ID = compiled(
    lambda p: Resource.select(Resource.id, Service.type, Resource.name).join(Service).where(any_of(Resource.id, p.ids))
)
_KNOWN_RESOURCES = compiled(
    lambda p: Resource.select(Resource.name, Resource.id).where(Resource.service == p.service, Resource.is_known)
)
_ALL = compiled(
    lambda p: Service.select(Service.id, Service.type, Resource.id, Resource.name).join(Resource, JOIN.LEFT_OUTER)
)


def service_ids(engine: Engine) -> dict[str, int]:
    """Returns the id of each service, by type."""
    return dict(engine.tuples(_SERVICES))


def resource_ids(engine: Engine) -> dict[Ref, int]:
    """Returns the id of each resource."""
    return {(row.service_type, row.name): row.id for row in engine.all(_RESOURCES, _ResourceRow)}


def resource_id(engine: Engine, ref: Ref) -> int:
    """Returns the id of a resource that is in the configuration, or was. Raises `KeyError` if there is no such row."""
    service, name = ref
    for id_ in engine.column(_RESOURCE_ID, service=service, name=name):
        return int(id_)
    raise KeyError(ref)


def refs_by_id(engine: Engine, ids: Collection[int]) -> dict[int, Ref]:
    """Returns the resources with these ids, by id."""
    rows = engine.all(_RESOURCES_BY_ID, _ResourceRow, ids=ids) if ids else []
    return {row.id: (row.service_type, row.name) for row in rows}


def service_resource_ids(engine: Engine, service_id: int) -> dict[str, int]:
    """Returns the id of each resource of a service that its backend still offers, by name."""
    return dict(engine.tuples(_KNOWN_RESOURCES, service=service_id))


def all_ids(engine: Engine) -> tuple[dict[int, str], dict[Ref, int]]:
    """Returns the types of services by id, and the ids of resources, in one query."""
    rows = engine.all(_ALL, _ServiceRow)
    resources = {
        (row.type, row.resource_name): row.resource_id
        for row in rows
        if row.resource_id is not None and row.resource_name is not None
    }
    return {row.id: row.type for row in rows}, resources


# -- following the configuration ---------------------------------------------------------------------------------------

_ADD_SERVICES = compiled_insert(
    Service, Service.type, finish=lambda insert: insert.on_conflict("NOTHING", conflict_target=[Service.type])
)
_ADD_RESOURCES = compiled_insert(
    Resource,
    *(Resource.service, Resource.name, Resource.is_known),
    finish=lambda insert: insert.on_conflict("NOTHING", conflict_target=[Resource.service, Resource.name]),
)
_ADD_CAPACITORS = compiled_insert(
    Capacitor,
    *(Capacitor.name, Capacitor.next_scrape_at, Capacitor.scrape_error),
    finish=lambda insert: insert.on_conflict("NOTHING", conflict_target=[Capacitor.name]),
)


def add_services(engine: Engine, types: Iterable[str]) -> None:
    """Adds the services that are missing."""
    if rows := [(type_,) for type_ in types]:
        engine.write(_ADD_SERVICES, rows=rows)


def add_resources(engine: Engine, refs: Iterable[Ref]) -> None:
    """Adds the resources that are missing, of services that are there."""
    services = service_ids(engine)
    if rows := [(services[service_type], name, True) for service_type, name in refs]:
        engine.write(_ADD_RESOURCES, rows=rows)


def add_capacitors(engine: Engine, names: Iterable[str], now: float) -> None:
    """Adds the capacitors that are missing. They are due at once."""
    if rows := [(name, now, "") for name in names]:
        engine.write(_ADD_CAPACITORS, rows=rows)


def show_only(engine: Engine, refs: Collection[Ref]) -> dict[int, str]:
    """Hides all other resources, and shows these again. Returns the types of services of those that are hidden, by
    resource id."""
    ids = resource_ids(engine)
    known = [id_ for ref, id_ in ids.items() if ref in refs]
    others = [id_ for ref, id_ in ids.items() if ref not in refs]
    engine.write(Resource.update(is_known=True).where(any_of(Resource.id, known), ~Resource.is_known))
    engine.write(Resource.update(is_known=False).where(any_of(Resource.id, others), Resource.is_known))
    return {id_: ref[0] for ref, id_ in ids.items() if ref not in refs}


def delete_other_capacitors(engine: Engine, names: Collection[str]) -> None:
    """Deletes all capacitors but these, and the capacity that no capacitor reports any more."""
    engine.write(Capacitor.delete().where(~any_of(Capacitor.name, names)))
    unreported = Resource.select(Resource.id).where(Resource.capacitor.is_null())
    engine.write(AZResource.delete().where(AZResource.resource.in_(unreported)))


# -- vanished services -------------------------------------------------------------------------------------------------


def restore_services(engine: Engine, configured: Sequence[str]) -> list[str]:
    """Takes the mark from services of these types. Returns those that had it."""
    marked = Service.update(vanished_at=None).where(
        Service.vanished_at.is_null(False), any_of(Service.type, configured)
    )
    return sorted(engine.column(marked.returning(Service.type)))


def mark_vanished_services(engine: Engine, configured: Sequence[str], now: float) -> list[str]:
    """Marks services of other types. Returns those that had no mark yet."""
    others = Service.update(vanished_at=now).where(Service.vanished_at.is_null(), ~any_of(Service.type, configured))
    return sorted(engine.column(others.returning(Service.type)))


def services_vanished_before(engine: Engine, time: float) -> list[str]:
    """Returns the types of services that were marked by then."""
    return engine.column(Service.select(Service.type).where(Service.vanished_at <= time).order_by(Service.type))


def resources_of_services(engine: Engine, types: Sequence[str], marked_by: float) -> list[int]:
    """Returns the resources of services that are about to be deleted."""
    query = Resource.select(Resource.id).join(Service)
    return engine.column(query.where(Service.vanished_at <= marked_by, any_of(Service.type, types))) if types else []


def delete_services(engine: Engine, types: Sequence[str], marked_by: float) -> None:
    """Deletes services with all that hangs on them, unless they were restored meanwhile."""
    if types:
        engine.write(Service.delete().where(Service.vanished_at <= marked_by, any_of(Service.type, types)))
