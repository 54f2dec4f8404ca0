"""Which providers changed, so that an in-memory index can follow the database with one indexed query.

The invariant: a transaction that changes anything about a provider, be it its name, generation, parent, root,
inventory, traits, aggregates or allocations, sets `placement_providers.changed` of that provider to the transaction's
stamp; one that deletes the provider leaves a row with its stamp in `placement_provider_tombstones`; one that creates or
deletes a resource class or a trait sets the stamp of that row of `placement_vocabularies`.

On PostgreSQL the stamp is the number of the transaction, on SQLite a counter that each writing transaction increments.
`limes.placement.index` says how a reader follows the stamps, and why it misses nothing.

A tombstone is kept for a day. A reader that has not polled for `TOMBSTONE_SECONDS / 2` has to start afresh.
"""

import peewee
from peewee import fn

from limes.db import compiled, transactions
from limes.db.engine import Engine
from limes.db.query import Build, Node, P, Query, Values, writes
from limes.placement.models import ChangeCounter, Provider, ProviderTombstone, Vocabulary

TOMBSTONE_SECONDS = 86_400.0

VOCABULARIES = ("resource_classes", "traits")


class _Stamp(peewee.ColumnBase):
    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        if ctx.state.dialect == "sqlite":
            ctx.sql(ChangeCounter.select(ChangeCounter.value))
        else:
            ctx.sql(fn.pg_current_xact_id().cast("text").cast("bigint"))
        return ctx


STAMP = _Stamp()
"""This transaction's stamp, as the value of a column. A writer takes it first: `stamped`, or `take_stamp`."""


@writes
def _count_up() -> Node:
    return ChangeCounter.update(value=ChangeCounter.value + 1)


def take_stamp(engine: Engine) -> None:
    """Counts up the stamp on SQLite, which has no numbers of transactions."""
    if engine.dialect == "sqlite":
        _count_up(engine)


def stamped(build: Build[P]) -> Query[P, int]:
    """As `writes`, for a small statement with `STAMP` in it, which is taken first."""

    def write(engine: Engine, query: compiled.Compiled, values: Values) -> int:
        take_stamp(engine)
        return engine.write(query, **values)

    return Query(build, write, None, prepare=True)


@writes
def _forget_tombstones(before: float) -> Node:
    return ProviderTombstone.delete().where(ProviderTombstone.deleted_at < before)


@stamped
def _bury(provider_id: int, now: float) -> Node:
    return ProviderTombstone.insert(provider_id=provider_id, changed=STAMP, deleted_at=now)


def leave_tombstone(engine: Engine, provider_id: int, now: float) -> None:
    """Leaves a tombstone for a provider that this transaction deletes, and clears away old ones."""
    _forget_tombstones(engine, now - TOMBSTONE_SECONDS)
    _bury(engine, provider_id, now)


@stamped
def stamp_vocabulary(name: str) -> Node:
    """Notes that a resource class or a trait came or went; `name` is one of `VOCABULARIES`."""
    return Vocabulary.update(changed=STAMP).where(Vocabulary.name == name)


@transactions.atomic
def repair_stamps(engine: Engine) -> None:
    """Lowers stamps that are above the present one, as in a database restored on another PostgreSQL server. That server
    would not reach them for a long time, so the index would read these rows again and again. To be called at start."""
    if engine.dialect == "postgresql":
        for model in (Provider, ProviderTombstone, Vocabulary):
            engine.write(model.update(changed=STAMP).where(model.changed > STAMP))
