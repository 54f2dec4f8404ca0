"""The one query that finds out what changed since a mark."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import peewee
from peewee import Value, fn

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Node, tuples
from limes.placement.models import ChangeCounter, Provider, ProviderTombstone, Vocabulary

_NOTHING_OPEN: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a poll saw: all transactions with stamps below `next`, except those in `open`.

    On PostgreSQL `next` follows the newest stamp that was seen. Larger numbers, even if already given out, are asked
    for again, since PostgreSQL may give them out a second time after a crash.
    """

    next: int
    open: tuple[int, ...] = _NOTHING_OPEN
    identity: str = ""
    """Differs from that of other tables, such as those of a restored database."""

    def may_follow(self, other: "Mark") -> bool:
        """Returns whether this mark can come after `other`, in the same database."""
        return self.identity == other.identity and self.next >= other.next


BEGINNING = Mark(0)


@dataclass(frozen=True, slots=True)
class Changes:
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
        return Mark(int(xmin), _NOTHING_OPEN, identity)
    limit = int(xmax)
    newest = max((stamp for stamp in stamps if stamp < limit), default=0)
    after = min(limit, max(mark.next, newest + 1))
    return Mark(
        after, tuple([number for text in still_open.split(",") if text and (number := int(text)) < after]), identity
    )
