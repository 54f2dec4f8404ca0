"""The one query that finds out what changed since a mark."""

from dataclasses import dataclass

from limes.db.engine import Engine

_NOTHING_OPEN: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a look ended: it saw all transactions with stamps below `next`, except those in `open`."""

    next: int
    open: tuple[int, ...] = _NOTHING_OPEN
    identity: str = ""
    """Changes when the tables are others than before."""

    def may_follow(self, other: "Mark") -> bool:
        """Whether this mark can come after `other`, in the same database."""
        return self.identity == other.identity and self.next >= other.next


@dataclass(frozen=True, slots=True)
class Look:
    """What was found: stamps of providers by id, ids of deleted providers, stamps of vocabularies by name."""

    mark: Mark
    providers: dict[int, int]
    gone: frozenset[int]
    vocabularies: dict[str, int]


_CHANGES = """
UNION ALL SELECT 'provider', id, changed, NULL FROM placement_providers WHERE {since}
UNION ALL SELECT 'gone', provider_id, changed, NULL FROM placement_provider_tombstones WHERE {since}
UNION ALL SELECT 'names', 0, changed, name FROM placement_vocabularies WHERE {since}
"""

# The file number of the table changes when it is truncated, rewritten or created anew.
_MARK = """
SELECT 'mark', pg_relation_filenode('placement_providers')::bigint,
       CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END::bigint,
       pg_current_snapshot()::text || ' ' || pg_postmaster_start_time()::text
"""
# Nearly always no transaction is open. A range with two ends is expected to have few rows, so that one plan, made once,
# uses the index.
_POSTGRESQL = _MARK + _CHANGES.format(since="changed BETWEEN %s AND %s")
_POSTGRESQL_OPEN = _MARK + _CHANGES.format(since="(changed >= %s OR changed = ANY(%s))")
_LAST = 2**63 - 1

_SQLITE = "SELECT 'mark', 0, value + 1, NULL FROM placement_change_counter" + _CHANGES.format(since="changed >= %s")

BEGINNING = Mark(0)


def look(engine: Engine, mark: Mark) -> Look:
    """Everything that became visible since `mark`, and maybe some that was visible before."""
    if engine.dialect == "postgresql":
        if mark.open:
            rows = engine.rows(_POSTGRESQL_OPEN, [mark.next, list(mark.open)] * 3)
        else:
            rows = engine.read(_POSTGRESQL, [mark.next, _LAST] * 3)
    else:
        rows = engine.rows(_SQLITE, [mark.next] * 3)
    new_mark = Mark(0)
    providers: dict[int, int] = {}
    gone: set[int] = set()
    vocabularies: dict[str, int] = {}
    for kind, key, changed, text in rows:
        if kind == "provider":
            providers[key] = changed
        elif kind == "gone":
            gone.add(key)
        elif kind == "names":
            vocabularies[text] = changed
        elif engine.dialect == "postgresql":
            new_mark = _postgresql_mark(key, bool(changed), text)
        else:
            new_mark = Mark(changed)
    return Look(new_mark, providers, frozenset(gone), vocabularies)


def _postgresql_mark(table_file: int, in_recovery: bool, text: str) -> Mark:
    """`text` is `xmin:xmax:open,open,... start of the server`."""
    snapshot, _, started = text.partition(" ")
    xmin, xmax, still_open = snapshot.split(":")
    identity = f"{table_file} {started}"
    if in_recovery:
        return Mark(int(xmin), _NOTHING_OPEN, identity)
    return Mark(int(xmax), tuple(int(number) for number in still_open.split(",") if number), identity)
