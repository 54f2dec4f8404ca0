"""Consumers in the database: those that have allocations, such as servers and migrations, and no others.

A consumer comes with its first allocations, with generation 1, and goes with its last.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import peewee
from peewee import EXCLUDED, fn

from limes.db.compiled import any_of, compiled_insert
from limes.db.compiled import lock as lock_rows
from limes.db.engine import Engine
from limes.db.query import Node, keyed, writes_for
from limes.placement import models


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
COLUMNS = (
    _Consumer.id,
    _Consumer.uuid,
    _Consumer.generation,
    _Consumer.project_id,
    _Consumer.user_id,
    _Consumer.consumer_type,
)


@keyed(str, "uuid", Consumer)
def lock(uuids: Collection[str]) -> Node:
    """The consumers that exist, by UUID, locked until the transaction ends."""
    return lock_rows(_Consumer.select(*COLUMNS).where(any_of(_Consumer.uuid, uuids)).order_by(_Consumer.uuid))


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
    ).returning(*COLUMNS)


_WRITE = compiled_insert(
    _Consumer,
    *(_Consumer.uuid, _Consumer.project_id, _Consumer.user_id, _Consumer.consumer_type),
    *(_Consumer.generation, _Consumer.updated),
    finish=_count_up_if_known,
)


def write(engine: Engine, owners: Sequence[Ownership], now: float) -> dict[str, Consumer]:
    """Makes or updates consumers and leaves them locked. Returns them by UUID. New ones have generation 1, others count
    up.

    This is one statement, in order of UUID: so two writers of the same consumers wait for each other, and never both
    take a consumer for new.
    """
    rows = [(*owner, 1, now) for owner in sorted(owners, key=lambda owner: owner.uuid)]
    return {consumer.uuid: consumer for consumer in engine.all(_WRITE, Consumer, rows=rows)}


@writes_for("consumer_ids")
def delete(consumer_ids: Collection[int]) -> Node:
    """Deletes consumers that have no allocations any more."""
    return _Consumer.delete().where(any_of(_Consumer.id, consumer_ids))
