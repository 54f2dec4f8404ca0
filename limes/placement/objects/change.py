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

from limes.db.compiled import compiled
from limes.db.engine import Engine
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
"""This transaction's stamp, as the value of a column. Call `take_stamp` before each statement that has it."""

_COUNT_UP = compiled(lambda _: ChangeCounter.update(value=ChangeCounter.value + 1))
_STAMP_VOCABULARY = compiled(lambda p: Vocabulary.update(changed=STAMP).where(Vocabulary.name == p.name))
_FORGET_TOMBSTONES = compiled(lambda p: ProviderTombstone.delete().where(ProviderTombstone.deleted_at < p.before))
_BURY = compiled(lambda p: ProviderTombstone.insert(provider_id=p.provider, changed=STAMP, deleted_at=p.now))


def take_stamp(engine: Engine) -> None:
    """Counts up the stamp on SQLite, which has no numbers of transactions."""
    if engine.dialect == "sqlite":
        engine.write(_COUNT_UP)


def leave_tombstone(engine: Engine, provider_id: int, now: float) -> None:
    """Leaves a tombstone for a provider that this transaction deletes, and clears away old ones."""
    engine.write(_FORGET_TOMBSTONES, before=now - TOMBSTONE_SECONDS)
    take_stamp(engine)
    engine.write(_BURY, provider=provider_id, now=now)


def stamp_vocabulary(engine: Engine, name: str) -> None:
    """Notes that a resource class or a trait came or went; `name` is one of `VOCABULARIES`."""
    take_stamp(engine)
    engine.write(_STAMP_VOCABULARY, name=name)


def repair_stamps(engine: Engine) -> None:
    """Lowers stamps that are above the present one, as in a database restored on another PostgreSQL server.

    That server would not reach them for a long time, so the index would read these rows again and again.
    To be called at start.
    """
    if engine.dialect != "postgresql":
        return

    def work() -> None:
        for model in (Provider, ProviderTombstone, Vocabulary):
            engine.write(model.update(changed=STAMP).where(model.changed > STAMP))

    engine.atomic(work)
