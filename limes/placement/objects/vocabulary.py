"""The names that all providers share, resource classes and traits; and which traits each provider has.

Ids grow in the order in which names are listed: the standard ones first.
"""

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

import os_resource_classes
import os_traits
import peewee
from peewee import fn

from limes.db import compiled, transactions
from limes.db.compiled import any_of, keep
from limes.db.engine import Engine
from limes.db.query import Insert, Node, distinct, exists, first, mapping, rows, writes, writes_for
from limes.kernel.system import Clock
from limes.placement.errors import ClassUnknown, ConcurrentUpdate, InvalidValue, Missing, NameConflict
from limes.placement.models import Inventory, Named, Provider, ProviderTrait, ResourceClass, Trait
from limes.placement.objects import change

Kind = Literal["resource_classes", "traits"]

_CHUNK = 400
_TRIES = 20
_MOST_NAMES = 5000
_FIRST_CUSTOM_TRAIT = 100_000

_MODELS: dict[Kind, type[Named]] = {"resource_classes": ResourceClass, "traits": Trait}
_USES: dict[Kind, peewee.Field] = {"resource_classes": Inventory.resource_class, "traits": ProviderTrait.trait}
_MISSING: dict[Kind, str] = {"resource_classes": "No such resource class {}.", "traits": "No such trait(s): {}."}
_STANDARD: dict[Kind, str] = {
    "resource_classes": "Cannot delete standard resource class {}.",
    "traits": "Cannot delete standard trait {}.",
}
_IN_USE: dict[Kind, str] = {
    "resource_classes": "Cannot delete resource class {}. Class is in use in inventory.",
    "traits": "The trait {} is in use by a resource provider.",
}


class Name(NamedTuple):
    """A resource class or a trait. `updated` is in seconds since the epoch."""

    id: int
    name: str
    updated: float


def _columns(kind: Kind) -> tuple[peewee.Field, ...]:
    model = _MODELS[kind]
    return model.id, model.name, model.updated


def _all(kind: Kind) -> peewee.Select:
    return _MODELS[kind].select(*_columns(kind))


@first(Name)
def _find(kind: Kind, name: str, locked: bool) -> Node:
    query = _all(kind).where(_MODELS[kind].name == name)
    return compiled.lock(query) if locked else query


def get(engine: Engine, kind: Kind, name: str, *, locked: bool = False) -> Name:
    """What has that name, locked until the transaction ends or not. Raises `Missing`."""
    known = _find(engine, kind, name, locked)
    if known is None:
        raise Missing(_MISSING[kind].format(name))
    return known


@first(Name)
def _insert(kind: Kind, name: str, now: float) -> Node:
    return _MODELS[kind].insert(name=name, updated=now).on_conflict(action="nothing").returning(*_columns(kind))


def create(engine: Engine, kind: Kind, name: str, now: float) -> Name | None:
    """Adds a custom name; None if there is one already."""
    new = _insert(engine, kind, name, now)
    if new is not None:
        change.stamp_vocabulary(engine, kind)
    return new


@exists
def _is_in_use(kind: Kind, id_: int) -> Node:
    use = _USES[kind]
    query: peewee.Select = use.model.select(use.model.provider).where(use == id_)
    return query.limit(1)


@writes
def _delete(kind: Kind, id_: int) -> Node:
    return _MODELS[kind].delete().where(_MODELS[kind].id == id_)


def delete(engine: Engine, kind: Kind, name: str) -> None:
    """Deletes a custom name. Raises `Missing`, `InvalidValue` for a standard one, or `NameConflict`."""
    get(engine, kind, name)
    if not name.startswith("CUSTOM_"):
        raise InvalidValue(_STANDARD[kind].format(name))
    id_ = get(engine, kind, name, locked=True).id
    if _is_in_use(engine, kind, id_):
        raise NameConflict(_IN_USE[kind].format(name))
    _delete(engine, kind, id_)
    change.stamp_vocabulary(engine, kind)


# -- resource classes --------------------------------------------------------------------------------------------------


@rows(Name, prepare=True)
def all_classes() -> Node:
    return _all("resource_classes").order_by(ResourceClass.id)


@mapping(str, int, skip_empty="names")
def _class_ids(names: Collection[str], kept: bool) -> Node:
    query = ResourceClass.select(ResourceClass.name, ResourceClass.id).where(any_of(ResourceClass.name, names))
    return keep(query) if kept else query


def class_ids(engine: Engine, names: Collection[str], *, kept: bool = False) -> dict[str, int]:
    """The ids of those names that exist. If `kept`, none is deleted or renamed until the transaction ends. Raises
    `InvalidValue` if there are too many names."""
    if len(names) > _MOST_NAMES:
        raise InvalidValue(f"One request may name at most {_MOST_NAMES} resource classes.")
    return _class_ids(engine, names, kept)


def check_classes(engine: Engine, names: Collection[str]) -> dict[str, int]:
    """The ids of all names, kept until the transaction ends. Raises `ClassUnknown` naming one that does not exist."""
    ids = class_ids(engine, names, kept=True)
    for name in names:
        if name not in ids:
            raise ClassUnknown(f"No such resource class {name}.")
    return ids


@writes
def _rename(class_id: int, name: str, now: float) -> Node:
    return ResourceClass.update(name=name, updated=now).where(ResourceClass.id == class_id)


@change.stamped
def _stamp_providers_with(class_id: int) -> Node:
    with_it = Inventory.select(Inventory.provider).where(Inventory.resource_class == class_id)
    return Provider.update(changed=change.STAMP).where(any_of(Provider.id, with_it))


def rename_class(engine: Engine, name: str, new_name: str, now: float) -> None:
    """Renames a custom class. Raises `Missing` or `NameConflict`. The providers that have it count as changed."""
    class_id = get(engine, "resource_classes", name, locked=True).id
    if name == new_name:
        return
    if class_ids(engine, [new_name]):
        raise NameConflict(f"Resource class already exists: {new_name}")
    _rename(engine, class_id, new_name, now)
    change.stamp_vocabulary(engine, "resource_classes")
    _stamp_providers_with(engine, class_id)


# -- traits ------------------------------------------------------------------------------------------------------------


def select_traits(
    engine: Engine, *, names: Collection[str] | None = None, prefix: str | None = None, associated: bool | None = None
) -> list[Name]:
    """The traits by id: with these names, with the prefix, and that some provider has or none has."""
    query = _all("traits").order_by(Trait.id)
    if names is not None:
        query = query.where(any_of(Trait.name, names))
    if prefix is not None:
        query = query.where(fn.substr(Trait.name, 1, len(prefix)) == prefix)
    if associated is not None:
        has_provider = fn.EXISTS(ProviderTrait.select(ProviderTrait.trait).where(ProviderTrait.trait == Trait.id))
        query = query.where(has_provider if associated else ~has_provider)
    return engine.all(query, Name)


def ensure_trait(engine: Engine, name: str, now: float) -> tuple[bool, Name]:
    """Makes sure that there is a trait of that name. Returns whether it is new, and the trait. Raises
    `ConcurrentUpdate` if others keep creating and deleting it."""
    for _ in range(_TRIES):
        trait = create(engine, "traits", name, now)
        if trait is not None:
            return True, trait
        # the transaction that blocked the insert may have deleted the trait, or it is deleted by now
        trait = _find(engine, "traits", name, locked=False)
        if trait is not None:
            return False, trait
    raise ConcurrentUpdate(f"The trait {name} keeps coming and going; try again.")


@rows(Name, prepare=True)
def traits_of(provider_id: int) -> Node:
    query = _all("traits").join(ProviderTrait, on=ProviderTrait.trait == Trait.id)
    return query.where(ProviderTrait.provider == provider_id).order_by(Trait.id)


@rows(Name, skip_empty="names")
def _keep_traits(names: Collection[str]) -> Node:
    return keep(_all("traits").where(any_of(Trait.name, names)))


def check_traits(engine: Engine, names: Collection[str]) -> list[Name]:
    """The traits of these names, by id, kept from being deleted until the transaction ends. Raises `InvalidValue`
    naming all that do not exist."""
    traits = _keep_traits(engine, names)
    unknown = set(names) - {trait.name for trait in traits}
    if unknown:
        raise InvalidValue(f"No such trait {', '.join(sorted(unknown))}")
    return sorted(traits, key=lambda trait: trait.id)


@distinct(int)
def _trait_ids_of(provider_id: int) -> Node:
    return ProviderTrait.select(ProviderTrait.trait).where(ProviderTrait.provider == provider_id)


@writes_for("trait_ids")
def _remove_traits(provider_id: int, trait_ids: Collection[int]) -> Node:
    return ProviderTrait.delete().where(ProviderTrait.provider == provider_id, any_of(ProviderTrait.trait, trait_ids))


_add_traits = Insert(tuple[int, int], ProviderTrait, ProviderTrait.provider, ProviderTrait.trait)


def replace_traits(engine: Engine, provider_id: int, traits: Sequence[Name]) -> bool:
    """Makes these the traits of a provider, whose row has to be locked. Returns whether it had others before."""
    before = _trait_ids_of(engine, provider_id)
    after = {trait.id for trait in traits}
    if before == after:
        return False
    _remove_traits(engine, provider_id, before - after)
    _add_traits(engine, [(provider_id, trait_id) for trait_id in sorted(after - before)])
    return True


# -- standard names ----------------------------------------------------------------------------------------------------


def prepare(engine: Engine, clock: Clock) -> None:
    """Makes a database ready for requests: with valid stamps and up-to-date standard names. Any number of workers may
    do this at once."""
    _add_standard_names(engine, clock.now().timestamp())
    change.repair_stamps(engine)


@transactions.atomic
def _add_standard_names(engine: Engine, now: float) -> None:
    """Adds the standard resource classes and traits of the installed libraries that the database lacks. A class has the
    library's number as its id; traits are numbered in the order in which they were added, in the library's alphabetical
    order, below custom traits. Names that a newer library has dropped stay."""
    classes = os_resource_classes.STANDARDS
    known = set(class_ids(engine, classes))
    if missing := [(id_, name, now) for id_, name in enumerate(classes) if name not in known]:
        _add_standard(engine, "resource_classes", missing)
        change.stamp_vocabulary(engine, "resource_classes")
    standard = Trait.id < _FIRST_CUSTOM_TRAIT
    known = set(engine.column(Trait.select(Trait.name).where(standard)))
    if names := [name for name in sorted(os_traits.get_traits()) if name not in known]:
        # other workers wait here, so that no two take the same numbers
        change.stamp_vocabulary(engine, "traits")
        (last,) = engine.column(Trait.select(fn.COALESCE(fn.MAX(Trait.id), 0)).where(standard))
        _add_standard(engine, "traits", [(id_, name, now) for id_, name in enumerate(names, last + 1)])


def _add_standard(engine: Engine, kind: Kind, new: Sequence[tuple[int, str, float]]) -> None:
    for start in range(0, len(new), _CHUNK):
        query = _MODELS[kind].insert_many(new[start : start + _CHUNK], fields=_columns(kind))
        engine.write(query.on_conflict(action="nothing"))
