"""Resource classes in the database. Ids grow in the order in which classes are listed: the standard ones first."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from limes.db.engine import Engine, placeholders
from limes.placement.errors import ClassUnknown, Duplicate, InUse, InvalidValue, Missing
from limes.placement.objects import change

_MOST_NAMES = 5000


@dataclass(frozen=True, slots=True)
class ResourceClass:
    """A resource class. `updated` is in seconds since the epoch."""

    id: int
    name: str
    updated: float


def all_of(engine: Engine) -> list[ResourceClass]:
    """All classes by id."""
    rows = engine.rows("SELECT id, name, updated FROM placement_resource_classes ORDER BY id")
    return [ResourceClass(*row) for row in rows]


def get(engine: Engine, name: str) -> ResourceClass:
    """The class of that name. Raises `Missing`."""
    row = engine.row("SELECT id, name, updated FROM placement_resource_classes WHERE name = %s", [name])
    if row is None:
        raise Missing(f"No such resource class {name}.")
    return ResourceClass(*row)


def ids_of(engine: Engine, names: Collection[str]) -> dict[str, int]:
    """The ids of those names that exist."""
    return _ids(engine, names)


def hold(engine: Engine, names: Collection[str]) -> dict[str, int]:
    """As `ids_of`, and none of these is deleted or renamed until the transaction ends."""
    return _ids(engine, names, " FOR KEY SHARE" if engine.dialect == "postgresql" else "")


def _ids(engine: Engine, names: Collection[str], suffix: str = "") -> dict[str, int]:
    if not names:
        return {}
    if len(names) > _MOST_NAMES:
        raise InvalidValue(f"One request may name at most {_MOST_NAMES} resource classes.")
    sql = f"SELECT name, id FROM placement_resource_classes WHERE name IN ({placeholders(len(names))}){suffix}"
    return dict(engine.rows(sql, list(names)))


def check_exist(engine: Engine, names: Collection[str]) -> dict[str, int]:
    """The ids of all of the names, held as by `hold`. Raises `ClassUnknown` naming one that does not exist."""
    ids = hold(engine, names)
    for name in names:
        if name not in ids:
            raise ClassUnknown(f"No such resource class {name}.")
    return ids


def create(engine: Engine, name: str, now: float) -> bool:
    """Adds a custom class. Answers whether it is new."""
    sql = "INSERT INTO placement_resource_classes (name, updated) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING"
    if not engine.execute(sql, [name, now]):
        return False
    change.stamp_vocabulary(engine, "resource_classes")
    return True


def rename(engine: Engine, name: str, new_name: str, now: float) -> None:
    """Renames a custom class. Raises `Missing` or `Duplicate`. The providers that have it count as changed."""
    found = engine.row(f"SELECT id FROM placement_resource_classes WHERE name = %s{engine.for_update}", [name])
    if found is None:
        raise Missing(f"No such resource class {name}.")
    if name == new_name:
        return
    if ids_of(engine, [new_name]):
        raise Duplicate(f"Resource class already exists: {new_name}")
    sql = "UPDATE placement_resource_classes SET name = %s, updated = %s WHERE id = %s"
    engine.execute(sql, [new_name, now, *found])
    change.stamp_vocabulary(engine, "resource_classes")
    stamp = change.stamped(engine)
    engine.execute(
        f"UPDATE placement_providers SET changed = {stamp} WHERE id IN"
        " (SELECT provider_id FROM placement_inventories WHERE class_id = %s)",
        found,
    )


def delete(engine: Engine, name: str) -> None:
    """Deletes a custom class. Raises `Missing`, or `InUse` while there is inventory of it."""
    row = engine.row(f"SELECT id FROM placement_resource_classes WHERE name = %s{engine.for_update}", [name])
    if row is None:
        raise Missing(f"No such resource class {name}.")
    if engine.row("SELECT 1 FROM placement_inventories WHERE class_id = %s LIMIT 1", row):
        raise InUse(
            f"Error in delete resource class: Cannot delete resource class {name}. Class is in use in inventory."
        )
    engine.execute("DELETE FROM placement_resource_classes WHERE id = %s", row)
    change.stamp_vocabulary(engine, "resource_classes")


def add_standard(engine: Engine, classes: Sequence[tuple[int, str]], now: float) -> None:
    """Adds the (id, name) pairs whose names are missing."""
    known = ids_of(engine, [name for _, name in classes])
    missing = [(number, name) for number, name in classes if name not in known]
    if not missing:
        return
    engine.execute(
        "INSERT INTO placement_resource_classes (id, name, updated) VALUES "
        + ", ".join(["(%s, %s, %s)"] * len(missing))
        + " ON CONFLICT DO NOTHING",
        [value for number, name in missing for value in (number, name, now)],
    )
    change.stamp_vocabulary(engine, "resource_classes")
