"""Traits in the database, and which providers have them. Ids grow in the order in which traits are listed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from limes.db.engine import Engine, placeholders
from limes.placement.errors import ConcurrentUpdate, InUse, InvalidValue, Missing
from limes.placement.objects import change

_CHUNK = 400
_TRIES = 20
_FIRST_CUSTOM_ID = 100_000


@dataclass(frozen=True, slots=True)
class Trait:
    """A trait. `updated` is in seconds since the epoch."""

    id: int
    name: str
    updated: float


def select(
    engine: Engine, *, names: Collection[str] | None = None, prefix: str | None = None, associated: bool | None = None
) -> list[Trait]:
    """The traits by id: those of the names, with the prefix, that some provider has or that none has."""
    conditions: list[str] = ["1 = 1"]
    params: list[str | int] = []
    if names is not None:
        conditions.append(f"name IN ({placeholders(len(names))})")
        params += list(names)
    if prefix is not None:
        conditions.append("substr(name, 1, %s) = %s")
        params += [len(prefix), prefix]
    if associated is not None:
        exists = "EXISTS (SELECT 1 FROM placement_provider_traits WHERE trait_id = placement_traits.id)"
        conditions.append(exists if associated else f"NOT {exists}")
    sql = f"SELECT id, name, updated FROM placement_traits WHERE {' AND '.join(conditions)} ORDER BY id"
    return [Trait(*row) for row in engine.rows(sql, params)]


def get(engine: Engine, name: str) -> Trait:
    """The trait of that name. Raises `Missing`."""
    row = engine.row("SELECT id, name, updated FROM placement_traits WHERE name = %s", [name])
    if row is None:
        raise Missing(f"No such trait(s): {name}.")
    return Trait(*row)


def ensure(engine: Engine, name: str, now: float) -> tuple[bool, Trait]:
    """Sees to it that there is a trait of that name. Answers whether it is new, and the trait.

    Raises `ConcurrentUpdate` if others go on creating and deleting it.
    """
    insert = (
        "INSERT INTO placement_traits (name, updated) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING"
        " RETURNING id, name, updated"
    )
    for _ in range(_TRIES):
        row = engine.row(insert, [name, now])
        if row is not None:
            change.stamp_vocabulary(engine, "traits")
            return True, Trait(*row)
        # who made the insert wait may have deleted the trait, or may have it deleted by now
        row = engine.row("SELECT id, name, updated FROM placement_traits WHERE name = %s", [name])
        if row is not None:
            return False, Trait(*row)
    raise ConcurrentUpdate(f"The trait {name} keeps coming and going; try again.")


def delete(engine: Engine, name: str) -> None:
    """Deletes a custom trait. Raises `Missing`, or `InUse` while a provider has it."""
    row = engine.row(f"SELECT id FROM placement_traits WHERE name = %s{engine.for_update}", [name])
    if row is None:
        raise Missing(f"No such trait(s): {name}.")
    if engine.row("SELECT 1 FROM placement_provider_traits WHERE trait_id = %s LIMIT 1", row):
        raise InUse(f"The trait {name} is in use by a resource provider.")
    engine.execute("DELETE FROM placement_traits WHERE id = %s", row)
    change.stamp_vocabulary(engine, "traits")


def of_provider(engine: Engine, provider_id: int) -> list[Trait]:
    """The traits of a provider by id."""
    rows = engine.read(
        "SELECT t.id, t.name, t.updated FROM placement_traits t"
        " JOIN placement_provider_traits pt ON pt.trait_id = t.id WHERE pt.provider_id = %s ORDER BY t.id",
        [provider_id],
    )
    return [Trait(*row) for row in rows]


def check_exist(engine: Engine, names: Collection[str]) -> list[Trait]:
    """The traits of these names, kept from being deleted until the transaction ends. Raises `InvalidValue` naming all
    that do not exist."""
    if not names:
        return []
    share = " FOR KEY SHARE" if engine.dialect == "postgresql" else ""
    marks = placeholders(len(names))
    rows = engine.rows(f"SELECT id, name, updated FROM placement_traits WHERE name IN ({marks}){share}", list(names))
    unknown = set(names) - {row[1] for row in rows}
    if unknown:
        raise InvalidValue(f"No such trait(s): {', '.join(sorted(unknown))}.")
    return sorted((Trait(*row) for row in rows), key=lambda trait: trait.id)


def replace_of_provider(engine: Engine, provider_id: int, traits: Sequence[Trait]) -> bool:
    """Makes these the traits of a provider, whose row has to be locked. Answers whether it had others before."""
    rows = engine.rows("SELECT trait_id FROM placement_provider_traits WHERE provider_id = %s", [provider_id])
    before, after = {row[0] for row in rows}, {trait.id for trait in traits}
    if before == after:
        return False
    if before - after:
        engine.execute(
            "DELETE FROM placement_provider_traits WHERE provider_id = %s"
            f" AND trait_id IN ({placeholders(len(before - after))})",
            [provider_id, *sorted(before - after)],
        )
    if after - before:
        engine.execute(
            "INSERT INTO placement_provider_traits (provider_id, trait_id) VALUES "
            + ", ".join(["(%s, %s)"] * len(after - before)),
            [value for trait_id in sorted(after - before) for value in (provider_id, trait_id)],
        )
    return True


def add_standard(engine: Engine, names: Sequence[str], now: float) -> None:
    """Adds the standard traits that are missing, with ids below those of custom traits."""
    known = {row[0] for row in engine.rows("SELECT name FROM placement_traits WHERE id < %s", [_FIRST_CUSTOM_ID])}
    missing = [name for name in names if name not in known]
    if not missing:
        return
    # whoever changes the vocabulary next waits here, so that no two workers take the same numbers
    change.stamp_vocabulary(engine, "traits")
    row = engine.row("SELECT COALESCE(MAX(id), 0) FROM placement_traits WHERE id < %s", [_FIRST_CUSTOM_ID])
    first = (row[0] if row else 0) + 1
    numbered = list(enumerate(missing, first))
    for start in range(0, len(numbered), _CHUNK):
        part = numbered[start : start + _CHUNK]
        engine.execute(
            "INSERT INTO placement_traits (id, name, updated) VALUES "
            + ", ".join(["(%s, %s, %s)"] * len(part))
            + " ON CONFLICT (name) DO NOTHING",
            [value for number, name in part for value in (number, name, now)],
        )
