"""Resource providers in the database: the tree they stand in, and the generation that guards each one's state.

Whoever changes anything about a provider first locks its row (`lock`), several rows in order of id. Whoever changes the
shape of a tree (adds, moves or deletes a provider) first locks all of its rows (`lock_trees`), the root's among them:
so a provider's root is right when it is written, and stays right.
"""

from collections.abc import Collection
from typing import NamedTuple

import peewee
from peewee import JOIN, Case

from limes.db.compiled import any_of, compiled
from limes.db.compiled import lock as lock_rows
from limes.db.engine import Engine
from limes.placement import models
from limes.placement.errors import ConcurrentUpdate, Missing
from limes.placement.models import Allocation
from limes.placement.objects import change

_TRIES = 20
_LARGEST_GENERATION = 2**63 - 1
"""The largest number that a database can compare with."""


class Provider(NamedTuple):
    """A provider as clients see it. `updated` is in seconds since the epoch."""

    id: int
    uuid: str
    name: str
    generation: int
    updated: float
    root_id: int
    root_uuid: str
    parent_id: int | None
    parent_uuid: str | None


class LockedProvider(NamedTuple):
    """The row of a provider that this transaction has locked."""

    id: int
    uuid: str
    generation: int
    root_id: int
    parent_id: int | None

    def check_generation(self, sent: int, message: str = "resource provider generation conflict") -> None:
        """Raises `ConcurrentUpdate` if the client saw another generation."""
        if sent != self.generation:
            raise ConcurrentUpdate(message)


class Identity(NamedTuple):
    """What a request about a provider asks first."""

    id: int
    generation: int


class NameHolder(NamedTuple):
    """The provider that has a name or a UUID already."""

    uuid: str
    name: str


# -- reading -----------------------------------------------------------------------------------------------------------

_Provider = models.Provider
_Root, _Parent = _Provider.alias(), _Provider.alias()
_BY_UUID = compiled(
    lambda p: (
        _Provider.select(
            *(_Provider.id, _Provider.uuid, _Provider.name, _Provider.generation, _Provider.updated),
            *(_Provider.root, _Root.uuid, _Provider.parent, _Parent.uuid),
        )
        .join(_Root, on=_Root.id == _Provider.root)
        .join(_Parent, JOIN.LEFT_OUTER, on=_Parent.id == _Provider.parent)
        .where(_Provider.uuid == p.uuid)
    ),
    prepare=True,
)
_IDENTITY = compiled(lambda p: _Provider.select(_Provider.id, _Provider.generation).where(_Provider.uuid == p.uuid))
_HOLDER = compiled(
    lambda p: (
        _Provider.select(_Provider.uuid, _Provider.name)
        .where((_Provider.name == p.name) | (_Provider.uuid == p.uuid))
        .order_by(_Provider.uuid != p.uuid)
        .limit(1)
    )
)
_ALLOCATIONS = compiled(
    lambda p: Allocation.select(Allocation.provider).where(Allocation.provider == p.provider).limit(1)
)


def get(engine: Engine, uuid: str, message: str = "No resource provider with uuid {} found") -> Provider:
    """Returns the provider of that UUID. Raises `Missing` with the message."""
    providers = engine.all(_BY_UUID, Provider, uuid=uuid)
    if not providers:
        raise Missing(message.format(uuid))
    return providers[0]


def identify(engine: Engine, uuid: str) -> Identity:
    """Returns the id and the generation of the provider of that UUID. Raises `Missing`.

    To be asked before the provider's state is read. If that changes in between, the generation is stale, and a write
    that rests on what was read is refused.
    """
    identity = engine.first(_IDENTITY, Identity, uuid=uuid)
    if identity is None:
        raise Missing(f"No resource provider with uuid {uuid} found")
    return identity


def find_holder(engine: Engine, name: str, uuid: str | None) -> NameHolder | None:
    """Returns the provider that has the name or the UUID, or None. If two do, it is the one with the UUID."""
    return engine.first(_HOLDER, NameHolder, name=name, uuid=uuid or "")


def has_allocations(engine: Engine, provider_id: int) -> bool:
    """Returns whether any consumer has allocations against the provider."""
    return bool(engine.column(_ALLOCATIONS, provider=provider_id))


# -- locking -----------------------------------------------------------------------------------------------------------

_LOCKED = (_Provider.id, _Provider.uuid, _Provider.generation, _Provider.root, _Provider.parent)
_LOCK = compiled(lambda p: lock_rows(_Provider.select(*_LOCKED).where(_Provider.uuid == p.uuid)))
_COUNT_UP_IF = compiled(
    lambda p: (
        _Provider.update(generation=_Provider.generation + 1, updated=p.now, changed=change.STAMP)
        .where(_Provider.uuid == p.uuid, _Provider.generation == p.generation)
        .returning(*_LOCKED)
    )
)
_TREES = compiled(lambda p: _trees(p.uuids))
_LOCK_TREES = compiled(lambda p: lock_rows(_trees(p.uuids)))


def _trees(uuids: peewee.Value) -> peewee.Query:
    roots = _Root.select(_Root.root).where(any_of(_Root.uuid, uuids))
    return _Provider.select(*_LOCKED).where(any_of(_Provider.root, roots)).order_by(_Provider.id)


def lock(engine: Engine, uuid: str, message: str = "No resource provider with uuid {} found") -> LockedProvider:
    """Returns the provider's row, locked until the transaction ends. Raises `Missing`."""
    provider = find_and_lock(engine, uuid)
    if provider is None:
        raise Missing(message.format(uuid))
    return provider


def find_and_lock(engine: Engine, uuid: str) -> LockedProvider | None:
    """Returns the provider's row, locked until the transaction ends, or None."""
    return engine.first(_LOCK, LockedProvider, uuid=uuid)


def lock_for_change(engine: Engine, uuid: str, sent: int, now: float) -> LockedProvider:
    """Locks the provider's row and counts up its generation in one statement. For what changes its state in any case.
    The result has the new generation.

    Raises `Missing`, and `ConcurrentUpdate` if the client saw another generation than the `sent` one.
    """
    if abs(sent) <= _LARGEST_GENERATION:
        change.take_stamp(engine)
        provider = engine.first(_COUNT_UP_IF, LockedProvider, now=now, uuid=uuid, generation=sent)
        if provider is not None:
            return provider
    lock(engine, uuid).check_generation(sent)
    # the generation was another one a moment ago, and is the sent one now
    raise ConcurrentUpdate("resource provider generation conflict")


def lock_trees(engine: Engine, *uuids: str) -> dict[str, LockedProvider]:
    """Locks all rows of the trees of these providers, and returns them by UUID. Unknown UUIDs are left out."""
    for _ in range(_TRIES):
        locked = {provider.id for provider in engine.all(_LOCK_TREES, LockedProvider, uuids=uuids)}
        # every change of these trees locks their roots, so once all their rows are locked, no row can join them
        tree = engine.all(_TREES, LockedProvider, uuids=uuids)
        if locked.issuperset(provider.id for provider in tree):
            return {provider.uuid: provider for provider in tree}
    raise ConcurrentUpdate("The provider tree keeps changing; try again.")


# -- writing -----------------------------------------------------------------------------------------------------------

_INSERT = compiled(
    lambda p: (
        _Provider.insert(
            uuid=p.uuid, name=p.name, generation=0, parent=p.parent, root=p.root, updated=p.now, changed=change.STAMP
        )
        .on_conflict(action="nothing")
        .returning(_Provider.id)
    )
)
_MAKE_ROOT = compiled(lambda p: _Provider.update(root=_Provider.id).where(_Provider.id == p.id))
_RENAME = compiled(
    lambda p: _Provider.update(name=p.name, updated=p.now, changed=change.STAMP).where(_Provider.id == p.id)
)
_MOVE = compiled(
    lambda p: _Provider.update(
        parent=Case(None, [(_Provider.id == p.moved, p.parent)], _Provider.parent),
        root=p.root,
        updated=p.now,
        changed=change.STAMP,
    ).where(any_of(_Provider.id, p.subtree))
)
_DELETE = compiled(lambda p: _Provider.delete().where(_Provider.id == p.id))
_NEXT_GENERATION = compiled(
    lambda p: (
        _Provider.update(generation=_Provider.generation + 1, updated=p.now, changed=change.STAMP)
        .where(_Provider.id == p.id)
        .returning(_Provider.generation)
    )
)
_TOUCH = compiled(lambda p: _Provider.update(updated=p.now, changed=change.STAMP).where(_Provider.id == p.id))


def insert(engine: Engine, uuid: str, name: str, parent: LockedProvider | None, now: float) -> int | None:
    """Adds a provider below a locked parent, or as a root, and returns its id. None if name or UUID are taken."""
    change.take_stamp(engine)
    parent_id, root_id = (parent.id, parent.root_id) if parent else (None, 0)
    ids = engine.column(_INSERT, uuid=uuid, name=name, parent=parent_id, root=root_id, now=now)
    if not ids:
        return None
    if parent is None:
        engine.write(_MAKE_ROOT, id=ids[0])
    return int(ids[0])


def rename(engine: Engine, provider_id: int, name: str, now: float) -> None:
    """Gives a locked provider another name, which nobody else has."""
    change.take_stamp(engine)
    engine.write(_RENAME, name=name, now=now, id=provider_id)


def move(
    engine: Engine, moved: LockedProvider, parent: LockedProvider | None, tree: Collection[LockedProvider], now: float
) -> None:
    """Moves a provider with all below it to a new parent, or makes it a root. Both trees have to be locked."""
    change.take_stamp(engine)
    parent_id, root_id = (parent.id, parent.root_id) if parent else (None, moved.id)
    subtree = subtree_ids(moved.id, tree)
    engine.write(_MOVE, moved=moved.id, parent=parent_id, root=root_id, now=now, subtree=subtree)


def subtree_ids(provider_id: int, tree: Collection[LockedProvider]) -> list[int]:
    """Returns the ids of a provider and of all below it."""
    children: dict[int | None, list[int]] = {}
    for provider in tree:
        children.setdefault(provider.parent_id, []).append(provider.id)
    ids = [provider_id]
    for parent_id in ids:
        ids.extend(children.get(parent_id, ()))
    return ids


def delete(engine: Engine, provider_id: int, now: float) -> None:
    """Deletes a locked provider with its inventory, traits and aggregates."""
    change.leave_tombstone(engine, provider_id, now)
    engine.write(_DELETE, id=provider_id)


def next_generation(engine: Engine, provider_id: int, now: float) -> int:
    """Counts up the generation of a locked provider, as each change of its state does."""
    change.take_stamp(engine)
    (generation,) = engine.column(_NEXT_GENERATION, now=now, id=provider_id)
    return int(generation)


def touch(engine: Engine, provider_id: int, now: float) -> None:
    """Notes a change of a locked provider that leaves its generation alone."""
    change.take_stamp(engine)
    engine.write(_TOUCH, now=now, id=provider_id)
