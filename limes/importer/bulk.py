"""Many rows with few statements."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from limes.db.engine import Engine

_VALUES = 15_000
"""The most parameters of one statement; SQLite takes 32 766."""


def insert(engine: Engine, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Inserts all rows, in their order, and answers how many there were."""
    size = _VALUES // len(columns)
    source, count = iter(rows), 0
    while some := list(islice(source, size)):
        marks = f"({', '.join(['%s'] * len(columns))})"
        engine.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([marks] * len(some))}",
            [value for row in some for value in row],
        )
        count += len(some)
    return count
