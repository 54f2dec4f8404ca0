"""What a test changed in the database: rows before against rows after, so that an unintended write fails the test."""

from collections import Counter, namedtuple
from collections.abc import Callable
from functools import cache
from typing import Any

from limes.app.models import MODELS
from limes.db.engine import Engine

Rows = dict[str, Counter[Any]]
"""By table. Rows are tuples; those of `all_rows` have the names of the table's columns."""


def all_rows(engine: Engine) -> Rows:
    """All rows of all tables of the Limes half, by table."""
    rows: Rows = {}
    with engine.connection():
        for model in MODELS:
            table = model._meta.table_name
            columns = tuple(field.column_name for field in model._meta.sorted_fields)
            make_row = _row_type(table, columns)
            rows[table] = Counter(map(make_row, engine.rows(f"SELECT {', '.join(columns)} FROM {table}")))
    return rows


@cache
def _row_type(table: str, columns: tuple[str, ...]) -> Callable[[Any], Any]:
    return namedtuple(table, columns)._make  # type: ignore[misc]  # the columns are known at run time only


def changes(before: Rows, after: Rows) -> dict[str, tuple[list[Any], list[Any]]]:
    """For each table that changed: the rows that are gone, and the rows that have come."""
    return {
        table: (_sorted(before[table] - after[table]), _sorted(after[table] - before[table]))
        for table in before
        if before[table] != after[table]
    }


def _sorted(rows: Counter[Any]) -> list[Any]:
    return sorted(rows.elements(), key=lambda row: [(value is None, value) for value in row])
