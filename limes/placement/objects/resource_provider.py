"""Resource providers in the database: the tree they stand in, and the generation that guards each one's state.

Any change of a provider first locks its row (`lock`), several rows in order of id. A change of the
shape of a tree (adds, moves or deletes a provider) first locks all of its rows (`lock_trees`), the root's among them:
so a provider's root is right when it is written, and stays right.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from peewee import JOIN, Case

from limes.db import compiled
from limes.db.engine import Engine
from limes.db.query import Insert, Node, column, exists, first, first_value, rows, tuples, value, writes
from limes.placement import errors, models
from limes.placement.models import Allocation
from limes.placement.models import ProviderAggregate as Member
from limes.placement.objects import change
from limes.placement.search.model import Provider

_TRIES = 20
STALE = "Resource provider's generation already changed. Please update the generation and try again."
_LARGEST_GENERATION = 2**63 - 1
"""The largest number that a database can compare with."""


class LockedProvider(NamedTuple):
    id: int
    uuid: str
    generation: int
    root_id: int
    parent_id: int | None

    def check_generation(self, sent: int, message: str = "resource provider generation conflict") -> None:
        """Raises `ConcurrentUpdate` if the client saw another generation."""
        if sent != self.generation:
            raise errors.ConcurrentUpdate(message)


_Provider = models.Provider


@tuples(tuple[int, str, str, int, int | None, int, float, str, str | None], prepare=True)
def _of_uuid(uuid: str) -> Node:
    root, parent = _Provider.alias(), _Provider.alias()
    query = _Provider.select(
        *(_Provider.id, _Provider.uuid, _Provider.name, _Provider.root, _Provider.parent),
        *(_Provider.generation, _Provider.updated, root.uuid, parent.uuid),
    )
    query = query.join(root, on=root.id == _Provider.root)
    query = query.join(parent, JOIN.LEFT_OUTER, on=parent.id == _Provider.parent)
    return query.where(_Provider.uuid == uuid)


def get(engine: Engine, uuid: str) -> Provider:
    """The provider of that UUID, without what belongs to it. Raises `Missing`."""
    found = _of_uuid(engine, uuid)
    if not found:
        raise _missing(uuid)
    id_, _, name, root_id, parent_id, generation, updated, root_uuid, parent_uuid = found[0]
    provider = Provider(id_, uuid, name, root_id, parent_id, generation, updated_at=updated)
    provider.root_uuid, provider.parent_uuid = root_uuid, parent_uuid
    return provider


def _missing(uuid: str) -> errors.Missing:
    return errors.Missing(f"No resource provider with uuid {uuid} found")


@tuples(tuple[int, int], prepare=True)
def _identity(uuid: str) -> Node:
    return _Provider.select(_Provider.id, _Provider.generation).where(_Provider.uuid == uuid)


def identify(engine: Engine, uuid: str) -> tuple[int, int]:
    """The id and the generation of the provider of that UUID. Raises `Missing`. To be asked before the provider's state
    is read. If that changes in between, the generation is stale, and a write that rests on what was read is refused."""
    identities = _identity(engine, uuid)
    if not identities:
        raise _missing(uuid)
    return identities[0]


@first_value(str)
def find_holder(name: str, uuid: str = "") -> Node:
    """The UUID of the provider that has the name or the UUID, or None. If two do, it is the one with the UUID."""
    query = _Provider.select(_Provider.uuid).where((_Provider.name == name) | (_Provider.uuid == uuid))
    return query.order_by(_Provider.uuid != uuid).limit(1)


@exists
def has_allocations(provider_id: int) -> Node:
    return Allocation.select(Allocation.provider).where(Allocation.provider == provider_id).limit(1)


_LOCKED = (_Provider.id, _Provider.uuid, _Provider.generation, _Provider.root, _Provider.parent)


def lock(engine: Engine, uuid: str) -> LockedProvider:
    """The provider's row, locked until the transaction ends. Raises `Missing`."""
    provider = find_and_lock(engine, uuid)
    if provider is None:
        raise _missing(uuid)
    return provider


@first(LockedProvider, prepare=True)
def find_and_lock(uuid: str) -> Node:
    return compiled.lock(_Provider.select(*_LOCKED).where(_Provider.uuid == uuid))


@first(LockedProvider, prepare=True)
def _count_up_if(uuid: str, generation: int, now: float) -> Node:
    query = _Provider.update(generation=_Provider.generation + 1, updated=now, changed=change.STAMP)
    return query.where(_Provider.uuid == uuid, _Provider.generation == generation).returning(*_LOCKED)


def lock_for_change(engine: Engine, uuid: str, sent: int, now: float) -> LockedProvider:
    """Locks the provider's row and counts up its generation in one statement. For what changes its state in any case.
    The result has the new generation. Raises `Missing`, and `ConcurrentUpdate` if the client saw another generation
    than the `sent` one."""
    if abs(sent) <= _LARGEST_GENERATION:
        change.take_stamp(engine)
        provider = _count_up_if(engine, uuid, sent, now)
        if provider is not None:
            return provider
    lock(engine, uuid).check_generation(sent)
    # the generation was another one a moment ago, and is the sent one now
    raise errors.ConcurrentUpdate("resource provider generation conflict")


@rows(LockedProvider)
def _trees(uuids: Collection[str], locked: bool) -> Node:
    other = _Provider.alias()
    roots = other.select(other.root).where(compiled.any_of(other.uuid, uuids))
    query = _Provider.select(*_LOCKED).where(compiled.any_of(_Provider.root, roots)).order_by(_Provider.id)
    return compiled.lock(query) if locked else query


def lock_trees(engine: Engine, *uuids: str) -> dict[str, LockedProvider]:
    """Locks all rows of the trees of these providers, and returns them by UUID. Unknown UUIDs are left out."""
    for _ in range(_TRIES):
        locked = {provider.id for provider in _trees(engine, uuids, locked=True)}
        # every change of these trees locks their roots, so once all their rows are locked, no row can join them
        tree = _trees(engine, uuids, locked=False)
        if locked.issuperset(provider.id for provider in tree):
            return {provider.uuid: provider for provider in tree}
    raise errors.ConcurrentUpdate("The provider tree keeps changing; try again.")


@first_value(int)
def _insert(uuid: str, name: str, parent_id: int | None, root_id: int, now: float) -> Node:
    place = {"parent": parent_id, "root": root_id}
    query = _Provider.insert(uuid=uuid, name=name, generation=0, **place, updated=now, changed=change.STAMP)
    return query.on_conflict(action="nothing").returning(_Provider.id)


@writes
def _make_root(provider_id: int) -> Node:
    return _Provider.update(root=_Provider.id).where(_Provider.id == provider_id)


def insert(engine: Engine, uuid: str, name: str, parent: LockedProvider | None, now: float) -> int | None:
    """Adds a provider below a locked parent, or as a root, and returns its id. None if name or UUID are taken."""
    change.take_stamp(engine)
    parent_id, root_id = (parent.id, parent.root_id) if parent else (None, 0)
    id_ = _insert(engine, uuid, name, parent_id, root_id, now)
    if id_ is not None and parent is None:
        _make_root(engine, id_)
    return id_


@change.stamped
def rename(provider_id: int, name: str, now: float) -> Node:
    """Gives a locked provider another name, which no other has."""
    return _Provider.update(name=name, updated=now, changed=change.STAMP).where(_Provider.id == provider_id)


@change.stamped
def _move(moved_id: int, parent_id: int | None, root_id: int, subtree: Collection[int], now: float) -> Node:
    parent = Case(None, [(_Provider.id == moved_id, parent_id)], _Provider.parent)
    query = _Provider.update(parent=parent, root=root_id, updated=now, changed=change.STAMP)
    return query.where(compiled.any_of(_Provider.id, subtree))


def move(
    engine: Engine, moved: LockedProvider, parent: LockedProvider | None, tree: Collection[LockedProvider], now: float
) -> None:
    """Moves a provider with all below it to a new parent, or makes it a root. Both trees have to be locked."""
    parent_id, root_id = (parent.id, parent.root_id) if parent else (None, moved.id)
    _move(engine, moved.id, parent_id, root_id, subtree_ids(moved.id, tree), now)


def subtree_ids(provider_id: int, tree: Collection[LockedProvider]) -> list[int]:
    children: dict[int | None, list[int]] = {}
    for provider in tree:
        children.setdefault(provider.parent_id, []).append(provider.id)
    ids = [provider_id]
    for parent_id in ids:
        ids.extend(children.get(parent_id, ()))
    return ids


@writes
def _delete(provider_id: int) -> Node:
    return _Provider.delete().where(_Provider.id == provider_id)


def delete(engine: Engine, provider_id: int, now: float) -> None:
    """Deletes a locked provider with its inventory, traits and aggregates."""
    change.leave_tombstone(engine, provider_id, now)
    _delete(engine, provider_id)


@value(int, prepare=True)
def _next_generation(provider_id: int, now: float) -> Node:
    query = _Provider.update(generation=_Provider.generation + 1, updated=now, changed=change.STAMP)
    return query.where(_Provider.id == provider_id).returning(_Provider.generation)


def next_generation(engine: Engine, provider_id: int, now: float) -> int:
    """Counts up the generation of a locked provider, as each change of its state does."""
    change.take_stamp(engine)
    return _next_generation(engine, provider_id, now)


@change.stamped
def touch(provider_id: int, now: float) -> Node:
    """Notes a change of a locked provider that leaves its generation alone."""
    return _Provider.update(updated=now, changed=change.STAMP).where(_Provider.id == provider_id)


# -- aggregates: nothing but UUIDs that providers are members of -------------------------------------------------------


@column(str, prepare=True)
def aggregates_of(provider_id: int) -> Node:
    return Member.select(Member.aggregate_uuid).where(Member.provider == provider_id).order_by(Member.aggregate_uuid)


@writes
def _leave_aggregates(provider_id: int) -> Node:
    return Member.delete().where(Member.provider == provider_id)


_join = Insert(tuple[int, str], Member, Member.provider, Member.aggregate_uuid)


def replace_aggregates(engine: Engine, provider_id: int, uuids: Sequence[str]) -> None:
    _leave_aggregates(engine, provider_id)
    _join(engine, [(provider_id, uuid) for uuid in uuids])
