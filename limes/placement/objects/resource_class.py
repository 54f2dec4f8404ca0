"""Resource classes in the database. Ids grow in the order in which classes are listed: the standard ones first."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from limes.db.compiled import any_of, keep, lock
from limes.db.engine import Engine
from limes.db.query import Node, exists, first, mapping, rows, writes
from limes.placement import models
from limes.placement.errors import ClassUnknown, Duplicate, InUse, InvalidValue, Missing
from limes.placement.models import Inventory, Provider
from limes.placement.objects import change

_MOST_NAMES = 5000


class ResourceClass(NamedTuple):
    """A resource class. `updated` is in seconds since the epoch."""

    id: int
    name: str
    updated: float


_Class = models.ResourceClass
_ALL = _Class.select(_Class.id, _Class.name, _Class.updated)


@rows(ResourceClass, prepare=True)
def all_of() -> Node:
    """All classes by id."""
    return _ALL.order_by(_Class.id)


@first(ResourceClass)
def _find(name: str, locked: bool) -> Node:
    query = _ALL.where(_Class.name == name)
    return lock(query) if locked else query


def get(engine: Engine, name: str, *, locked: bool = False) -> ResourceClass:
    """The class of that name, locked until the transaction ends or not. Raises `Missing`."""
    resource_class = _find(engine, name, locked)
    if resource_class is None:
        raise Missing(f"No such resource class {name}.")
    return resource_class


@mapping(str, int, skip_empty="names")
def _ids_of(names: Collection[str], kept: bool) -> Node:
    query = _Class.select(_Class.name, _Class.id).where(any_of(_Class.name, names))
    return keep(query) if kept else query


def ids_of(engine: Engine, names: Collection[str], *, kept: bool = False) -> dict[str, int]:
    """The ids of those names that exist. If `kept`, none is deleted or renamed until the transaction ends.

    Raises `InvalidValue` if there are too many names.
    """
    if len(names) > _MOST_NAMES:
        raise InvalidValue(f"One request may name at most {_MOST_NAMES} resource classes.")
    return _ids_of(engine, names, kept)


def check_exist(engine: Engine, names: Collection[str]) -> dict[str, int]:
    """The ids of all names, kept until the transaction ends. Raises `ClassUnknown` naming one that does not exist."""
    ids = ids_of(engine, names, kept=True)
    for name in names:
        if name not in ids:
            raise ClassUnknown(f"No such resource class {name}.")
    return ids


@writes
def _insert(name: str, now: float) -> Node:
    return _Class.insert(name=name, updated=now).on_conflict(action="nothing")


def create(engine: Engine, name: str, now: float) -> bool:
    """Adds a custom class. Returns whether it is new."""
    if not _insert(engine, name, now):
        return False
    change.stamp_vocabulary(engine, "resource_classes")
    return True


@writes
def _rename(class_id: int, name: str, now: float) -> Node:
    return _Class.update(name=name, updated=now).where(_Class.id == class_id)


@change.stamped
def _stamp_providers_with(class_id: int) -> Node:
    with_it = Inventory.select(Inventory.provider).where(Inventory.resource_class == class_id)
    return Provider.update(changed=change.STAMP).where(any_of(Provider.id, with_it))


def rename(engine: Engine, name: str, new_name: str, now: float) -> None:
    """Renames a custom class. Raises `Missing` or `Duplicate`. The providers that have it count as changed."""
    class_id = get(engine, name, locked=True).id
    if name == new_name:
        return
    if ids_of(engine, [new_name]):
        raise Duplicate(f"Resource class already exists: {new_name}")
    _rename(engine, class_id, new_name, now)
    change.stamp_vocabulary(engine, "resource_classes")
    _stamp_providers_with(engine, class_id)


@exists
def _is_in_use(class_id: int) -> Node:
    return Inventory.select(Inventory.provider).where(Inventory.resource_class == class_id).limit(1)


@writes
def _delete(class_id: int) -> Node:
    return _Class.delete().where(_Class.id == class_id)


def delete(engine: Engine, name: str) -> None:
    """Deletes a custom class. Raises `Missing`, or `InUse` while there is inventory of it."""
    class_id = get(engine, name, locked=True).id
    if _is_in_use(engine, class_id):
        raise InUse(
            f"Error in delete resource class: Cannot delete resource class {name}. Class is in use in inventory."
        )
    _delete(engine, class_id)
    change.stamp_vocabulary(engine, "resource_classes")


def add_standard(engine: Engine, classes: Sequence[tuple[int, str]], now: float) -> None:
    """Adds the (id, name) pairs whose names are missing."""
    known = ids_of(engine, [name for _, name in classes])
    rows = [(class_id, name, now) for class_id, name in classes if name not in known]
    if rows:
        fields = (_Class.id, _Class.name, _Class.updated)
        engine.write(_Class.insert_many(rows, fields=fields).on_conflict(action="nothing"))
        change.stamp_vocabulary(engine, "resource_classes")
