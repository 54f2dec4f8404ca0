"""Traits in the database, and which providers have them. Ids grow in the order in which traits are listed."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from peewee import fn

from limes.db.compiled import any_of, compiled, keep, lock
from limes.db.engine import Engine
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


_COLUMNS = (models.Trait.id, models.Trait.name, models.Trait.updated)

_BY_NAME = compiled(lambda p: models.Trait.select(*_COLUMNS).where(models.Trait.name == p.name))
_INSERT = compiled(
    lambda p: models.Trait.insert(name=p.name, updated=p.now).on_conflict(action="nothing").returning(*_COLUMNS)
)
_LOCK = compiled(lambda p: lock(models.Trait.select(*_COLUMNS).where(models.Trait.name == p.name)))
_KEEP = compiled(lambda p: keep(models.Trait.select(*_COLUMNS).where(any_of(models.Trait.name, p.names))))
_DELETE = compiled(lambda p: models.Trait.delete().where(models.Trait.id == p.id))
_USERS = compiled(lambda p: ProviderTrait.select(ProviderTrait.provider).where(ProviderTrait.trait == p.id).limit(1))
_OF_PROVIDER = compiled(
    lambda p: (
        models.Trait.select(*_COLUMNS)
        .join(ProviderTrait, on=ProviderTrait.trait == models.Trait.id)
        .where(ProviderTrait.provider == p.provider)
        .order_by(models.Trait.id)
    ),
    prepare=True,
)
_IDS_OF_PROVIDER = compiled(
    lambda p: ProviderTrait.select(ProviderTrait.trait).where(ProviderTrait.provider == p.provider)
)
_REMOVE_FROM_PROVIDER = compiled(
    lambda p: ProviderTrait.delete().where(ProviderTrait.provider == p.provider, any_of(ProviderTrait.trait, p.traits))
)


def select(
    engine: Engine, *, names: Collection[str] | None = None, prefix: str | None = None, associated: bool | None = None
) -> list[Trait]:
    """Returns the traits by id: with these names, with the prefix, and that some provider has or none has."""
    query = models.Trait.select(*_COLUMNS).order_by(models.Trait.id)
    if names is not None:
        query = query.where(any_of(models.Trait.name, names))
    if prefix is not None:
        query = query.where(fn.substr(models.Trait.name, 1, len(prefix)) == prefix)
    if associated is not None:
        has_provider = fn.EXISTS(
            ProviderTrait.select(ProviderTrait.trait).where(ProviderTrait.trait == models.Trait.id)
        )
        query = query.where(has_provider if associated else ~has_provider)
    return engine.all(query, Trait)


def get(engine: Engine, name: str) -> Trait:
    """Returns the trait of that name. Raises `Missing`."""
    trait = engine.first(_BY_NAME, Trait, name=name)
    if trait is None:
        raise Missing(f"No such trait(s): {name}.")
    return trait


def ensure(engine: Engine, name: str, now: float) -> tuple[bool, Trait]:
    """Makes sure that there is a trait of that name. Returns whether it is new, and the trait.

    Raises `ConcurrentUpdate` if others keep creating and deleting it.
    """
    for _ in range(_TRIES):
        trait = engine.first(_INSERT, Trait, name=name, now=now)
        if trait is not None:
            change.stamp_vocabulary(engine, "traits")
            return True, trait
        # the transaction that blocked the insert may have deleted the trait, or it is deleted by now
        trait = engine.first(_BY_NAME, Trait, name=name)
        if trait is not None:
            return False, trait
    raise ConcurrentUpdate(f"The trait {name} keeps coming and going; try again.")


def delete(engine: Engine, name: str) -> None:
    """Deletes a custom trait. Raises `Missing`, or `InUse` while a provider has it."""
    trait = engine.first(_LOCK, Trait, name=name)
    if trait is None:
        raise Missing(f"No such trait(s): {name}.")
    if engine.column(_USERS, id=trait.id):
        raise InUse(f"The trait {name} is in use by a resource provider.")
    engine.write(_DELETE, id=trait.id)
    change.stamp_vocabulary(engine, "traits")


def of_provider(engine: Engine, provider_id: int) -> list[Trait]:
    """Returns the traits of a provider by id."""
    return engine.all(_OF_PROVIDER, Trait, provider=provider_id)


def check_exist(engine: Engine, names: Collection[str]) -> list[Trait]:
    """Returns the traits of these names, kept from being deleted until the transaction ends. Raises `InvalidValue`
    naming all that do not exist."""
    if not names:
        return []
    traits = engine.all(_KEEP, Trait, names=names)
    unknown = set(names) - {trait.name for trait in traits}
    if unknown:
        raise InvalidValue(f"No such trait {', '.join(sorted(unknown))}")
    return sorted(traits, key=lambda trait: trait.id)


def replace_of_provider(engine: Engine, provider_id: int, traits: Sequence[Trait]) -> bool:
    """Makes these the traits of a provider, whose row has to be locked. Returns whether it had others before."""
    before = set(engine.column(_IDS_OF_PROVIDER, provider=provider_id))
    after = {trait.id for trait in traits}
    if before == after:
        return False
    if before - after:
        engine.write(_REMOVE_FROM_PROVIDER, provider=provider_id, traits=sorted(before - after))
    if after - before:
        rows = [(provider_id, trait_id) for trait_id in sorted(after - before)]
        engine.write(ProviderTrait.insert_many(rows, fields=[ProviderTrait.provider, ProviderTrait.trait]))
    return True


def add_standard(engine: Engine, names: Sequence[str], now: float) -> None:
    """Adds the standard traits that are missing, with ids below those of custom traits."""
    standard = models.Trait.id < _FIRST_CUSTOM_ID
    known = set(engine.column(models.Trait.select(models.Trait.name).where(standard)))
    missing = [name for name in names if name not in known]
    if not missing:
        return
    # other workers wait here, so that no two take the same numbers
    change.stamp_vocabulary(engine, "traits")
    (last,) = engine.column(models.Trait.select(fn.COALESCE(fn.MAX(models.Trait.id), 0)).where(standard))
    rows = [(number, name, now) for number, name in enumerate(missing, last + 1)]
    for start in range(0, len(rows), _CHUNK):
        engine.write(
            models.Trait.insert_many(rows[start : start + _CHUNK], fields=_COLUMNS).on_conflict(action="nothing")
        )
