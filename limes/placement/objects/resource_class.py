"""Resource classes in the database. Ids grow in the order in which classes are listed: the standard ones first."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from limes.db.compiled import Compiled, any_of, compiled, keep, lock
from limes.db.engine import Engine
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
_COLUMNS = (_Class.id, _Class.name, _Class.updated)

_ALL = compiled(lambda _: _Class.select(*_COLUMNS).order_by(_Class.id), prepare=True)
_BY_NAME = compiled(lambda p: _Class.select(*_COLUMNS).where(_Class.name == p.name))
_IDS = compiled(lambda p: _Class.select(_Class.name, _Class.id).where(any_of(_Class.name, p.names)))
_KEEP_IDS = compiled(lambda p: keep(_Class.select(_Class.name, _Class.id).where(any_of(_Class.name, p.names))))
_LOCK = compiled(lambda p: lock(_Class.select(_Class.id).where(_Class.name == p.name)))
_INSERT = compiled(lambda p: _Class.insert(name=p.name, updated=p.now).on_conflict(action="nothing"))
_RENAME = compiled(lambda p: _Class.update(name=p.name, updated=p.now).where(_Class.id == p.id))
_DELETE = compiled(lambda p: _Class.delete().where(_Class.id == p.id))
_USERS = compiled(lambda p: Inventory.select(Inventory.provider).where(Inventory.resource_class == p.id).limit(1))
_STAMP_USERS = compiled(
    lambda p: Provider.update(changed=change.STAMP).where(
        any_of(Provider.id, Inventory.select(Inventory.provider).where(Inventory.resource_class == p.id))
    )
)


def all_of(engine: Engine) -> list[ResourceClass]:
    """Returns all classes by id."""
    return engine.all(_ALL, ResourceClass)


def get(engine: Engine, name: str) -> ResourceClass:
    """Returns the class of that name. Raises `Missing`."""
    resource_class = engine.first(_BY_NAME, ResourceClass, name=name)
    if resource_class is None:
        raise _missing(name)
    return resource_class


def ids_of(engine: Engine, names: Collection[str]) -> dict[str, int]:
    """Returns the ids of those names that exist."""
    return _ids(engine, _IDS, names)


def keep_ids_of(engine: Engine, names: Collection[str]) -> dict[str, int]:
    """As `ids_of`, and none of these is deleted or renamed until the transaction ends."""
    return _ids(engine, _KEEP_IDS, names)


def _ids(engine: Engine, query: Compiled, names: Collection[str]) -> dict[str, int]:
    if len(names) > _MOST_NAMES:
        raise InvalidValue(f"One request may name at most {_MOST_NAMES} resource classes.")
    return dict(engine.tuples(query, names=names)) if names else {}


def check_exist(engine: Engine, names: Collection[str]) -> dict[str, int]:
    """Returns the ids of all names, kept as by `keep_ids_of`. Raises `ClassUnknown` naming one that does not exist."""
    ids = keep_ids_of(engine, names)
    for name in names:
        if name not in ids:
            raise ClassUnknown(f"No such resource class {name}.")
    return ids


def create(engine: Engine, name: str, now: float) -> bool:
    """Adds a custom class. Returns whether it is new."""
    if not engine.write(_INSERT, name=name, now=now):
        return False
    change.stamp_vocabulary(engine, "resource_classes")
    return True


def rename(engine: Engine, name: str, new_name: str, now: float) -> None:
    """Renames a custom class. Raises `Missing` or `Duplicate`. The providers that have it count as changed."""
    class_id = _lock(engine, name)
    if name == new_name:
        return
    if ids_of(engine, [new_name]):
        raise Duplicate(f"Resource class already exists: {new_name}")
    engine.write(_RENAME, name=new_name, now=now, id=class_id)
    change.stamp_vocabulary(engine, "resource_classes")
    change.take_stamp(engine)
    engine.write(_STAMP_USERS, id=class_id)


def delete(engine: Engine, name: str) -> None:
    """Deletes a custom class. Raises `Missing`, or `InUse` while there is inventory of it."""
    class_id = _lock(engine, name)
    if engine.column(_USERS, id=class_id):
        raise InUse(
            f"Error in delete resource class: Cannot delete resource class {name}. Class is in use in inventory."
        )
    engine.write(_DELETE, id=class_id)
    change.stamp_vocabulary(engine, "resource_classes")


def _lock(engine: Engine, name: str) -> int:
    ids = engine.column(_LOCK, name=name)
    if not ids:
        raise _missing(name)
    return int(ids[0])


def _missing(name: str) -> Missing:
    return Missing(f"No such resource class {name}.")


def add_standard(engine: Engine, classes: Sequence[tuple[int, str]], now: float) -> None:
    """Adds the (id, name) pairs whose names are missing."""
    known = ids_of(engine, [name for _, name in classes])
    rows = [(class_id, name, now) for class_id, name in classes if name not in known]
    if rows:
        engine.write(_Class.insert_many(rows, fields=_COLUMNS).on_conflict(action="nothing"))
        change.stamp_vocabulary(engine, "resource_classes")
