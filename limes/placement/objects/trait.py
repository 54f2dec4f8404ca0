"""Traits in the database, and which providers have them. Ids grow in the order in which traits are listed."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from peewee import fn

from limes.db.compiled import any_of, keep, lock
from limes.db.engine import Engine
from limes.db.query import Insert, Node, distinct, exists, first, rows, writes, writes_for
from limes.placement import models
from limes.placement.errors import ConcurrentUpdate, InUse, InvalidValue, Missing
from limes.placement.models import ProviderTrait
from limes.placement.objects import change

_CHUNK = 400
_TRIES = 20
_FIRST_CUSTOM_ID = 100_000


class Trait(NamedTuple):
    """A trait. `updated` is in seconds since the epoch."""

    id: int
    name: str
    updated: float


_Trait = models.Trait
_COLUMNS = (_Trait.id, _Trait.name, _Trait.updated)
_ALL = _Trait.select(*_COLUMNS)


def select(
    engine: Engine, *, names: Collection[str] | None = None, prefix: str | None = None, associated: bool | None = None
) -> list[Trait]:
    """The traits by id: with these names, with the prefix, and that some provider has or none has."""
    query = _ALL.order_by(_Trait.id)
    if names is not None:
        query = query.where(any_of(_Trait.name, names))
    if prefix is not None:
        query = query.where(fn.substr(_Trait.name, 1, len(prefix)) == prefix)
    if associated is not None:
        has_provider = fn.EXISTS(ProviderTrait.select(ProviderTrait.trait).where(ProviderTrait.trait == _Trait.id))
        query = query.where(has_provider if associated else ~has_provider)
    return engine.all(query, Trait)


@first(Trait)
def _find(name: str, locked: bool) -> Node:
    query = _ALL.where(_Trait.name == name)
    return lock(query) if locked else query


def get(engine: Engine, name: str, *, locked: bool = False) -> Trait:
    """The trait of that name, locked until the transaction ends or not. Raises `Missing`."""
    trait = _find(engine, name, locked)
    if trait is None:
        raise Missing(f"No such trait(s): {name}.")
    return trait


@first(Trait)
def _insert(name: str, now: float) -> Node:
    return _Trait.insert(name=name, updated=now).on_conflict(action="nothing").returning(*_COLUMNS)


def ensure(engine: Engine, name: str, now: float) -> tuple[bool, Trait]:
    """Makes sure that there is a trait of that name. Returns whether it is new, and the trait.

    Raises `ConcurrentUpdate` if others keep creating and deleting it.
    """
    for _ in range(_TRIES):
        trait = _insert(engine, name, now)
        if trait is not None:
            change.stamp_vocabulary(engine, "traits")
            return True, trait
        # the transaction that blocked the insert may have deleted the trait, or it is deleted by now
        trait = _find(engine, name, locked=False)
        if trait is not None:
            return False, trait
    raise ConcurrentUpdate(f"The trait {name} keeps coming and going; try again.")


@exists
def _is_in_use(trait_id: int) -> Node:
    return ProviderTrait.select(ProviderTrait.provider).where(ProviderTrait.trait == trait_id).limit(1)


@writes
def _delete(trait_id: int) -> Node:
    return _Trait.delete().where(_Trait.id == trait_id)


def delete(engine: Engine, name: str) -> None:
    """Deletes a custom trait. Raises `Missing`, or `InUse` while a provider has it."""
    trait = get(engine, name, locked=True)
    if _is_in_use(engine, trait.id):
        raise InUse(f"The trait {name} is in use by a resource provider.")
    _delete(engine, trait.id)
    change.stamp_vocabulary(engine, "traits")


@rows(Trait, prepare=True)
def of_provider(provider_id: int) -> Node:
    """The traits of a provider by id."""
    query = _ALL.join(ProviderTrait, on=ProviderTrait.trait == _Trait.id)
    return query.where(ProviderTrait.provider == provider_id).order_by(_Trait.id)


@rows(Trait, skip_empty="names")
def _keep(names: Collection[str]) -> Node:
    return keep(_ALL.where(any_of(_Trait.name, names)))


def check_exist(engine: Engine, names: Collection[str]) -> list[Trait]:
    """The traits of these names, by id, kept from being deleted until the transaction ends. Raises `InvalidValue`
    naming all that do not exist."""
    traits = _keep(engine, names)
    unknown = set(names) - {trait.name for trait in traits}
    if unknown:
        raise InvalidValue(f"No such trait {', '.join(sorted(unknown))}")
    return sorted(traits, key=lambda trait: trait.id)


@distinct(int)
def _ids_of_provider(provider_id: int) -> Node:
    return ProviderTrait.select(ProviderTrait.trait).where(ProviderTrait.provider == provider_id)


@writes_for("trait_ids")
def _remove_from_provider(provider_id: int, trait_ids: Collection[int]) -> Node:
    return ProviderTrait.delete().where(ProviderTrait.provider == provider_id, any_of(ProviderTrait.trait, trait_ids))


_add_to_provider = Insert(tuple[int, int], ProviderTrait, ProviderTrait.provider, ProviderTrait.trait)


def replace_of_provider(engine: Engine, provider_id: int, traits: Sequence[Trait]) -> bool:
    """Makes these the traits of a provider, whose row has to be locked. Returns whether it had others before."""
    before = _ids_of_provider(engine, provider_id)
    after = {trait.id for trait in traits}
    if before == after:
        return False
    _remove_from_provider(engine, provider_id, before - after)
    _add_to_provider(engine, [(provider_id, trait_id) for trait_id in sorted(after - before)])
    return True


def add_standard(engine: Engine, names: Sequence[str], now: float) -> None:
    """Adds the standard traits that are missing, with ids below those of custom traits."""
    standard = _Trait.id < _FIRST_CUSTOM_ID
    known = set(engine.column(_Trait.select(_Trait.name).where(standard)))
    missing = [name for name in names if name not in known]
    if not missing:
        return
    # other workers wait here, so that no two take the same numbers
    change.stamp_vocabulary(engine, "traits")
    (last,) = engine.column(_Trait.select(fn.COALESCE(fn.MAX(_Trait.id), 0)).where(standard))
    rows = [(number, name, now) for number, name in enumerate(missing, last + 1)]
    for start in range(0, len(rows), _CHUNK):
        engine.write(_Trait.insert_many(rows[start : start + _CHUNK], fields=_COLUMNS).on_conflict(action="nothing"))
