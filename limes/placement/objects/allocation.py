"""Consumers, such as servers and migrations, and their allocations of each provider.

A consumer comes with its first allocations, with generation 1, and goes with its last. How allocations are written:
`limes.placement.objects.allocation_write`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

import peewee
from msgspec import Struct
from peewee import EXCLUDED, JOIN, fn

from limes.db import compiled
from limes.db.compiled_rows import compiled_insert
from limes.db.engine import Engine
from limes.db.query import Node, keyed, made, tuples, writes_for
from limes.placement import errors, models
from limes.placement.models import Provider, ResourceClass


class Consumer(NamedTuple):
    """A consumer. `consumer_type` is None for one that was written below microversion 1.38."""

    id: int
    uuid: str
    generation: int
    project_id: str
    user_id: str
    consumer_type: str | None


class Ownership(NamedTuple):
    """Whom a consumer is to belong to. If `consumer_type` is None, the consumer keeps its type."""

    uuid: str
    project_id: str
    user_id: str
    consumer_type: str | None


_Consumer = models.Consumer
_OF_CONSUMER = tuple(getattr(_Consumer, name) for name in Consumer._fields)


@keyed(str, "uuid", Consumer)
def lock_consumers(uuids: Collection[str]) -> Node:
    """The consumers that exist, by UUID, locked until the transaction ends."""
    return compiled.lock(
        _Consumer.select(*_OF_CONSUMER).where(compiled.any_of(_Consumer.uuid, uuids)).order_by(_Consumer.uuid)
    )


def _count_up_if_known(insert: peewee.Insert) -> Node:
    return insert.on_conflict(
        conflict_target=[_Consumer.uuid],
        update={
            _Consumer.generation: _Consumer.generation + 1,
            _Consumer.project_id: EXCLUDED.project_id,
            _Consumer.user_id: EXCLUDED.user_id,
            _Consumer.consumer_type: fn.COALESCE(EXCLUDED.consumer_type, _Consumer.consumer_type),
            _Consumer.updated: EXCLUDED.updated,
        },
    ).returning(*_OF_CONSUMER)


_WRITE = compiled_insert(
    _Consumer,
    *(_Consumer.uuid, _Consumer.project_id, _Consumer.user_id, _Consumer.consumer_type),
    *(_Consumer.generation, _Consumer.updated),
    finish=_count_up_if_known,
    prepare=True,
)


def write_consumers(engine: Engine, owners: Sequence[Ownership], now: float) -> dict[str, Consumer]:
    """Makes or updates consumers and leaves them locked. Returns them by UUID. New ones have generation 1, others count
    up. This is one statement, in order of UUID: so two writers of the same consumers wait for each other, and never
    both take a consumer for new."""
    rows = [(*owner, 1, now) for owner in sorted(owners, key=lambda owner: owner.uuid)]
    return {consumer.uuid: consumer for consumer in engine.all(_WRITE, Consumer, rows=rows)}


@writes_for("consumer_ids", prepare=True)
def delete_consumers(consumer_ids: Collection[int]) -> Node:
    """Deletes consumers that have no allocations any more."""
    return _Consumer.delete().where(compiled.any_of(_Consumer.id, consumer_ids))


class AnyGeneration(Enum):
    """For clients below microversion 1.28, without consumer generations. Not a number, so no client can send it."""

    ANY = "any"


ANY_GENERATION = AnyGeneration.ANY


class Claim(Struct, frozen=True):
    """What a consumer is to have, in place of what it has now."""

    owner: Ownership
    generation: int | AnyGeneration | None
    """The generation that the client saw; None if it saw no such consumer; or `ANY_GENERATION`."""
    resources: Mapping[str, Mapping[str, int]]
    """By provider UUID and class name: amounts above 0. If empty, the consumer loses everything."""

    def amounts(self) -> Iterator[tuple[str, str, int]]:
        for uuid, resources in self.resources.items():
            for class_name, amount in resources.items():
                yield uuid, class_name, amount


class Allocation(NamedTuple):
    """What a consumer has of one class of one provider. `updated` is in seconds since the epoch."""

    consumer_uuid: str
    consumer_generation: int
    provider_uuid: str
    provider_generation: int
    class_name: str
    used: int
    updated: float


_Allocation = models.Allocation
_COLUMNS = (
    _Consumer.uuid,
    _Consumer.generation,
    Provider.uuid,
    Provider.generation,
    ResourceClass.name,
    _Allocation.used,
    _Allocation.updated,
)
_WIDTH: Final = 6
"""The number of leading columns of the following that are the consumer's."""


@tuples(tuple[int, str, int, str, str, str | None, str, int, str, int, str, int, float], prepare=True)
def _of_consumer(uuid: str) -> Node:
    query = (
        _Consumer.select(*_OF_CONSUMER, *_COLUMNS)
        .join(_Allocation, on=_Allocation.consumer == _Consumer.id)
        .join(Provider, on=Provider.id == _Allocation.provider)
        .join(ResourceClass, on=ResourceClass.id == _Allocation.resource_class)
    )
    return query.where(_Consumer.uuid == uuid).order_by(_Allocation.provider, _Allocation.resource_class)


def of_consumer(engine: Engine, uuid: str) -> tuple[Consumer | None, list[Allocation]]:
    """A consumer, if there is one of that UUID, and what it has."""
    rows = _of_consumer(engine, uuid)
    return (Consumer(*rows[0][:_WIDTH]) if rows else None), [Allocation(*row[_WIDTH:]) for row in rows]


@made(Allocation, Any, Any, str, int, Any, Any, Any, prepare=True)
def _of_provider(uuid: str) -> Node:
    query = (
        Provider.select(*_COLUMNS)
        .join(_Allocation, JOIN.LEFT_OUTER, on=_Allocation.provider == Provider.id)
        .join(_Consumer, JOIN.LEFT_OUTER, on=_Consumer.id == _Allocation.consumer)
        .join(ResourceClass, JOIN.LEFT_OUTER, on=ResourceClass.id == _Allocation.resource_class)
    )
    return query.where(Provider.uuid == uuid).order_by(_Allocation.consumer, _Allocation.resource_class)


def of_provider(engine: Engine, uuid: str) -> tuple[int, list[Allocation]]:
    """A provider's generation, and what all consumers have of it. Raises `Missing`."""
    held = _of_provider(engine, uuid)
    if not held:
        raise errors.provider_missing(uuid, "Resource provider '{}' not found: ")
    return held[0].provider_generation, [one for one in held if one.consumer_uuid is not None]
