"""Folds kept sums: several rows of a sum become one (docs/adr/0024)."""

from collections.abc import Sequence
from functools import partial

from peewee import AutoField, BooleanField, Field

from limes.db.base import BaseModel
from limes.db.engine import Engine
from limes.db.models.kept_sums import ALL_DOMAINS, CommitmentSum, ProjectSum


def fold_sums(engine: Engine) -> None:
    """Replaces the rows of each sum by one, or by none if they add up to nothing, and does so for all domains together.

    One statement writes what it deletes, so whatever others do at the same time, what the rows add up to never changes.
    """
    for text in _FOLDS:
        engine.atomic(partial(engine.execute, text))


def _fold(model: type[BaseModel], others: Sequence[str]) -> str:
    """`others` are the columns that a sum is by, besides the domain."""
    table, keys = model._meta.table_name, ("domain_id", *others)
    figures = [field.column_name for field in model._meta.sorted_fields if _is_figure(field, keys)]
    key, other, names = ", ".join(keys), ", ".join(others), ", ".join(figures)
    sums = ", ".join(f"SUM({name})" for name in figures)
    own, theirs = (", ".join(f"{source}.{name}" for name in keys) for source in (table, "several"))
    # SQL text: peewee has no words for a DELETE whose rows another statement reads
    return (
        f"WITH several AS (SELECT {key} FROM {table} GROUP BY {key} HAVING count(*) > 1 OR bool_or(is_change)"  # noqa: S608 - our own names
        f" UNION SELECT {ALL_DOMAINS}, {other} FROM {table} WHERE is_change),"
        f" gone AS (DELETE FROM {table} USING several WHERE ({own}) = ({theirs}) RETURNING {table}.*),"
        f" parts AS (SELECT {key}, {names} FROM gone"
        f" UNION ALL SELECT {ALL_DOMAINS}, {other}, {names} FROM gone WHERE is_change)"
        f" INSERT INTO {table} (is_change, {key}, {names}) SELECT FALSE, {key}, {sums} FROM parts GROUP BY {key}"
        f" HAVING ROW({sums}) <> ROW({', '.join('0' for _ in figures)})"
    )


def _is_figure(field: Field, keys: Sequence[str]) -> bool:
    return field.column_name not in keys and not isinstance(field, (AutoField, BooleanField))


_FOLDS = (
    _fold(ProjectSum, ("resource_id", "az")),
    _fold(CommitmentSum, ("resource_id", "az", "status", "duration")),
)
