"""Rows that mirror the configuration: services, resources, capacitors.

A service that has left the configuration is marked as vanished, restored when it returns, and deleted in the end.
"""

from collections.abc import Collection, Iterable, Sequence

from peewee import JOIN

from limes.core.catalog import Ref
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.models import AZResource, Capacitor, Resource, Service
from limes.db.query import Insert, Node, column, first_value, mapping, tuples, writes, writes_for

# -- what there is -----------------------------------------------------------------------------------------------------


@mapping(str, int)
def service_ids() -> Node:
    """The id of each service, by type."""
    return Service.select(Service.type, Service.id)


@mapping(tuple[str, str], int)
def resource_ids() -> Node:
    return Resource.select(Service.type, Resource.name, Resource.id).join(Service)


@first_value(int)
def _resource_id(service: str, name: str) -> Node:
    return Resource.select(Resource.id).join(Service).where(Service.type == service, Resource.name == name)


def resource_id(engine: Engine, ref: Ref) -> int:
    """Returns the id of a resource that is in the configuration, or was. Raises `KeyError` if there is no such row."""
    id_ = _resource_id(engine, *ref)
    if id_ is None:
        raise KeyError(ref)
    return id_


@mapping(int, tuple[str, str], skip_empty="ids")
def refs_by_id(ids: Collection[int]) -> Node:
    return Resource.select(Resource.id, Service.type, Resource.name).join(Service).where(any_of(Resource.id, ids))


@mapping(str, int)
def service_resource_ids(service_id: int) -> Node:
    """The id of each resource of a service that its backend still offers, by name."""
    return Resource.select(Resource.name, Resource.id).where(Resource.service == service_id, Resource.is_known)


@tuples(tuple[int, str, int | None, str | None])
def _services_and_resources() -> Node:
    return Service.select(Service.id, Service.type, Resource.id, Resource.name).join(Resource, JOIN.LEFT_OUTER)


def all_ids(engine: Engine) -> tuple[dict[int, str], dict[Ref, int]]:
    """Returns the types of services by id, and the ids of resources, in one query."""
    found = _services_and_resources(engine)
    resources = {(type_, name): id_ for _, type_, id_, name in found if id_ is not None and name is not None}
    return {id_: type_ for id_, type_, *_ in found}, resources


# -- following the configuration ---------------------------------------------------------------------------------------

_add_services = Insert(tuple[str], Service, Service.type, key=1, keep=True)
_add_resources = Insert(
    tuple[int, str, bool], Resource, Resource.service, Resource.name, Resource.is_known, key=2, keep=True
)
_add_capacitors = Insert(
    tuple[str, float, str],
    Capacitor,
    *(Capacitor.name, Capacitor.next_scrape_at, Capacitor.scrape_error),
    key=1,
    keep=True,
)


def add_services(engine: Engine, types: Iterable[str]) -> None:
    """Adds the services that are missing."""
    _add_services(engine, [(type_,) for type_ in types])


def add_resources(engine: Engine, refs: Iterable[Ref]) -> None:
    """Adds the resources that are missing, of services that are there."""
    services = service_ids(engine)
    _add_resources(engine, [(services[service_type], name, True) for service_type, name in refs])


def add_capacitors(engine: Engine, names: Iterable[str], now: float) -> None:
    """Adds the capacitors that are missing. They are due at once."""
    _add_capacitors(engine, [(name, now, "") for name in names])


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
def _delete_other_capacitors(names: Collection[str]) -> Node:
    return Capacitor.delete().where(~any_of(Capacitor.name, names))


@writes
def _delete_unreported() -> Node:
    unreported = Resource.select(Resource.id).where(Resource.capacitor.is_null())
    return AZResource.delete().where(AZResource.resource.in_(unreported))


def delete_other_capacitors(engine: Engine, names: Collection[str]) -> None:
    """Deletes all capacitors but these, and the capacity that no capacitor reports any more."""
    _delete_other_capacitors(engine, names)
    _delete_unreported(engine)


# -- vanished services -------------------------------------------------------------------------------------------------


@column(str)
def restore_services(configured: Sequence[str]) -> Node:
    """Takes the mark from services of these types. Gives those that had it."""
    marked = Service.vanished_at.is_null(False)
    return Service.update(vanished_at=None).where(marked, any_of(Service.type, configured)).returning(Service.type)


@column(str)
def mark_vanished_services(configured: Sequence[str], now: float) -> Node:
    """Marks services of other types. Gives those that had no mark yet."""
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
