"""The process's copy of all providers, brought up to date at each read with one indexed query.

The promise
-----------
`ProviderIndex.current()` returns a `Cloud` with every transaction that was committed before the call began, on any
worker, and maybe later ones. So a read that follows an acknowledged write sees it. The cloud is one consistent state of
the database: never half a transaction.

Why nothing is missed
---------------------
A transaction that changes anything about a provider writes its *stamp* into that provider's `changed` column (or into a
tombstone, when it deletes the provider; `limes.placement.objects.change` is the writers' half of this contract).

On PostgreSQL the stamp is the transaction's number. Numbers are given out in ascending order, but transactions end in
any order, so "all stamps above the highest that I saw" would miss the one that commits late. Instead the index keeps
with each state the *mark*: the number after the newest stamp that it saw (`next`), and which transactions with smaller
numbers were open (`xip` of `pg_current_snapshot()`) in the very snapshot of the poll. Every other transaction with a
smaller number had ended: if it committed, that snapshot saw it, and if it failed, no snapshot ever will. So whatever
became visible since has `changed >= next` or `changed` in `xip`, and this is what the next poll asks for. It holds for
a transaction that stays open for hours, and such a transaction does not make the polls longer.

Why `next` is not simply the first number not given out (`xmax`): when a process of PostgreSQL crashes, numbers of
transactions that failed, or only read, may be given out again, because they were never written to disk. A number
that is visible as committed was written to disk before, with all smaller ones, so none below `next` comes twice.
(With `synchronous_commit = off` a crash loses commits that were seen, so Placement's database must not have that.)

A provider whose stamp the index already has is skipped. This is right because a stamp belongs to one
transaction, a transaction shows itself whole or not at all, and who writes to a provider holds the lock on its row
until the end: the same stamp is the same state.

A poll is one statement, which has one snapshot. When it finds something, a second poll and the reading of what changed
are done in one REPEATABLE READ transaction: they see one state, and the mark belongs to exactly that state.

On a standby `xip` is not known to be complete. There the mark falls back to `xmin`: everything below had ended.

On SQLite the stamp is a counter that each writing transaction increments, and there is one writer at a time. So stamps
become visible in ascending order, and the next poll asks for `changed` above the counter that was seen.

Starting afresh
---------------
All is read again when the mark cannot belong to this database: its numbers or the counter went back, the table of
providers was truncated or rewritten (its file changed), or the server was started again (so that a failover or a
restored database is never mixed with what was). The same happens if there was no poll for half the life of a tombstone.
Rows that are deleted by hand while workers run are not noticed; start the workers again after such a repair.

Threads and processes
---------------------
A state is never changed, only replaced, so readers take no lock. Polls that find something new queue for one lock, and
poll again once they have it: the second finds that the first has already loaded it. Nothing is held open between calls,
so a process may be forked at any time; the child gets a lock of its own.
"""

import logging
import os
import threading
from collections.abc import Callable, Collection
from typing import Any

import peewee
from msgspec import Struct, field
from peewee import Value, fn
from prometheus_client import Gauge, Histogram

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Node, tuples
from limes.kernel.system import Clock
from limes.placement.loading import Names, ProviderLoader, load_names
from limes.placement.models import ChangeCounter, Provider, ProviderTombstone, Vocabulary
from limes.placement.objects.change import TOMBSTONE_SECONDS
from limes.placement.search.model import Cloud

log = logging.getLogger(__name__)


class Mark(Struct, frozen=True):
    """How far a poll saw: all transactions with stamps below `next`, except those in `open`. On PostgreSQL `next`
    follows the newest stamp that was seen. Larger numbers, even if already given out, are asked for again, since
    PostgreSQL may give them out a second time after a crash."""

    next: int
    open: tuple[int, ...] = ()
    identity: str = ""
    """Differs from that of other tables, such as those of a restored database."""


BEGINNING = Mark(0)


class Changes(Struct, frozen=True):
    """What a poll saw: stamps of providers by id, ids of deleted providers, stamps of vocabularies by name."""

    mark: Mark
    providers: dict[int, int]
    gone: frozenset[int]
    vocabularies: dict[str, int]


_LAST = 2**63 - 1
_MARK, _PROVIDER, _GONE, _NAMES = "mark", "provider", "gone", "names"
"""What a row is about. Its other columns are an id, a stamp and a text, or None."""


def _with_changes(mark: peewee.Select, since: Callable[[peewee.Field], Node]) -> Node:
    """The mark, and below it everything with a stamp for which `since` holds: all of one snapshot."""
    return (
        mark
        + Provider.select(Value(_PROVIDER), Provider.id, Provider.changed, Value(None)).where(since(Provider.changed))
        + ProviderTombstone.select(
            Value(_GONE), ProviderTombstone.provider_id, ProviderTombstone.changed, Value(None)
        ).where(since(ProviderTombstone.changed))
        + Vocabulary.select(Value(_NAMES), Value(0), Vocabulary.changed, Vocabulary.name).where(
            since(Vocabulary.changed)
        )
    )


def _postgresql_mark() -> peewee.Select:
    # the file number of the table changes when it is truncated, rewritten or created again
    file_number = fn.pg_relation_filenode(Provider._meta.table_name).cast("bigint")
    in_recovery = fn.pg_is_in_recovery().cast("int").cast("bigint")
    snapshot, started = fn.pg_current_snapshot().cast("text"), fn.pg_postmaster_start_time().cast("text")
    return peewee.Select(columns=[Value(_MARK), file_number, in_recovery, snapshot.concat(" ").concat(started)])


# Nearly always no transaction is open. A range with two ends is expected to have few rows, so that one plan, made once,
# uses the index.
@tuples(tuple[str, int, int, Any], prepare=True)
def _on_postgresql(next_: int, last: int) -> Node:
    return _with_changes(_postgresql_mark(), lambda changed: changed.between(next_, last))


@tuples(tuple[str, int, int, Any])
def _on_postgresql_with_open(next_: int, open_: Collection[int]) -> Node:
    return _with_changes(_postgresql_mark(), lambda changed: (changed >= next_) | any_of(changed, open_))


@tuples(tuple[str, int, int, Any])
def _on_sqlite(next_: int) -> Node:
    mark = ChangeCounter.select(Value(_MARK), Value(0), ChangeCounter.value + 1, Value(None))
    return _with_changes(mark, lambda changed: changed >= next_)


def poll(engine: Engine, mark: Mark) -> Changes:
    """Returns everything that became visible since `mark`, and maybe something that was visible before."""
    if engine.dialect == "sqlite":
        rows = _on_sqlite(engine, mark.next)
    elif mark.open:
        rows = _on_postgresql_with_open(engine, mark.next, mark.open)
    else:
        rows = _on_postgresql(engine, mark.next, _LAST)
    new_mark = BEGINNING
    providers: dict[int, int] = {}
    gone: set[int] = set()
    vocabularies: dict[str, int] = {}
    for kind, key, changed, text in rows:
        if kind == _PROVIDER:
            providers[key] = changed
        elif kind == _GONE:
            gone.add(key)
        elif kind == _NAMES:
            vocabularies[text] = changed
        elif engine.dialect == "sqlite":
            new_mark = Mark(changed)
        else:
            new_mark = _postgresql_next(mark, [row[2] for row in rows if row[0] != _MARK], key, bool(changed), text)
    return Changes(new_mark, providers, frozenset(gone), vocabularies)


def _postgresql_next(mark: Mark, stamps: list[int], file_number: int, in_recovery: bool, text: str) -> Mark:
    """Returns the mark that follows `mark`. `text` is `xmin:xmax:open,open,... start of the server`."""
    snapshot, _, started = text.partition(" ")
    xmin, xmax, still_open = snapshot.split(":")
    identity = f"{file_number} {started}"
    if in_recovery:
        return Mark(int(xmin), (), identity)
    limit = int(xmax)
    newest = max((stamp for stamp in stamps if stamp < limit), default=0)
    after = min(limit, max(mark.next, newest + 1))
    return Mark(
        after, tuple([number for text in still_open.split(",") if text and (number := int(text)) < after]), identity
    )


# each worker has an index of its own
REFRESH = Histogram(
    "limes_placement_index_refresh_seconds",
    "Time to bring the index up to date; kind is changes or everything",
    ["kind"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
PROVIDERS = Gauge(
    "limes_placement_index_providers",
    "Resource providers in the index of the worker that has the most",
    multiprocess_mode="livemax",
)
for _kind in ("changes", "everything"):
    REFRESH.labels(_kind)


class _State(Struct):
    """One state of the database. Nothing in it changes, but for `polled_at`."""

    mark: Mark = BEGINNING
    cloud: Cloud = field(default_factory=Cloud)
    names: Names = field(default_factory=Names)
    name_stamps: dict[str, int] = field(default_factory=dict)
    polled_at: float = 0.0
    """Monotonic seconds: when the database was last asked."""

    def is_followed_by(self, changes: Changes, now: float) -> bool:
        fresh = now - self.polled_at < TOMBSTONE_SECONDS / 2
        same_database = changes.mark.identity == self.mark.identity and changes.mark.next >= self.mark.next
        return self.mark is not BEGINNING and fresh and same_database

    def has_all(self, changes: Changes) -> bool:
        return (
            all(self.has(key, changed) for key, changed in changes.providers.items())
            and all(self.name_stamps.get(name) == changed for name, changed in changes.vocabularies.items())
            and not any(key in self.cloud.by_id for key in changes.gone)
        )

    def has(self, provider_id: int, stamp: int) -> bool:
        provider = self.cloud.by_id.get(provider_id)
        return provider is not None and provider.stamp == stamp


class ProviderIndex:
    """All providers of one database, in memory. Safe to use from many threads, and after a fork."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine.primary  # a standby may lack an acknowledged write
        self._clock = clock
        self._loader = ProviderLoader(self._engine)
        self._state = _State()
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def heir(self, engine: Engine) -> "ProviderIndex":
        """Returns an index with connections of its own that begins with what this one has read last. For a process that
        was forked from the one that has read it: they share the memory of what does not change."""
        heir = ProviderIndex(engine, self._clock)
        heir._state = self._state
        return heir

    def load(self) -> None:
        """Reads everything, unless that has been done. Raises `Unavailable`."""
        if self._state.mark is BEGINNING:
            self.current()

    def current(self) -> Cloud:
        """Returns the cloud as it is now, with all that was committed before this call. Not inside a transaction."""
        if self._pid != os.getpid():
            self._lock, self._pid = threading.Lock(), os.getpid()
        state = self._state
        now = self._clock.monotonic()
        with self._engine.connection():
            changes = poll(self._engine, state.mark)
            if state.is_followed_by(changes, now) and state.has_all(changes):
                state.polled_at = now
                return state.cloud
            with self._lock:
                self._state = self._engine.snapshot(self._next_state)
                PROVIDERS.set(len(self._state.cloud.by_id))
                return self._state.cloud

    def _next_state(self) -> _State:
        state, now = self._state, self._clock.monotonic()
        changes = poll(self._engine, state.mark)
        if not state.is_followed_by(changes, now):
            if state.mark is not BEGINNING:
                log.warning("the provider index starts afresh: the database is another one, or was not polled for long")
            state = _State()
            changes = poll(self._engine, BEGINNING)
        names = state.names
        if any(state.name_stamps.get(name) != changed for name, changed in changes.vocabularies.items()):
            names = load_names(self._engine)
            if names.renames(state.names):
                state = _State()
                changes = poll(self._engine, BEGINNING)
        return self._apply(state, changes, names, now)

    def _apply(self, state: _State, changes: Changes, names: Names, now: float) -> _State:
        changed = [key for key, stamp in changes.providers.items() if not state.has(key, stamp)]
        everything = state.mark is BEGINNING
        started = self._clock.monotonic()
        providers = list(self._loader.load(names, None if everything else changed))
        cloud = state.cloud.replace(
            providers,
            changes.gone,
            traits={name: key for key, name in names.traits.items()},
            classes={name: key for key, name in names.classes.items()},
        )
        kind = "everything" if everything else "changes"
        REFRESH.labels(kind).observe(self._clock.monotonic() - started)
        return _State(changes.mark, cloud, names, {**state.name_stamps, **changes.vocabularies}, now)
