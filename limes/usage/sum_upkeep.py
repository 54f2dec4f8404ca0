"""Stored sums (docs/adr/0024): compares them with the rows of the projects, rebuilds and compacts them."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from peewee import AutoField, BooleanField

from limes.catalog.models import Resource
from limes.db import base, watch
from limes.db.engine import Engine
from limes.projects.models import ProjectResource
from limes.usage import project_sums
from limes.usage import sums as stored_sums
from limes.usage.models import ALL_DOMAINS, CommitmentSum, ProjectSum, SuspiciousResource
from limes.usage.sums import IS_SUSPICIOUS


class WrongSum(NamedTuple):
    """A kept sum that is not what it should be. None stands for nothing."""

    what: str
    key: tuple[Any, ...]
    """Domain id (0: all together), resource id, and what else it is about."""
    kept: tuple[Any, ...] | None
    computed: tuple[Any, ...] | None


def wrong_sums(engine: Engine, now: float) -> list[WrongSum]:
    """Returns the stored sums that are wrong, in one state of the database. Reads all rows of all projects."""
    return engine.snapshot(lambda: list(_differences(engine, now))) if stored_sums.are_stored(engine) else []


def disabled_triggers(engine: Engine) -> list[str]:
    """Returns the tables whose triggers for stored sums do not run."""
    # SQL text: PostgreSQL's catalogue has no models
    rows = engine.rows(
        "SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger"
        " WHERE NOT tgisinternal AND tgname LIKE 'limes_%%' AND tgenabled NOT IN ('O', 'A') ORDER BY 1"
    )
    return [table for (table,) in rows]


def rebuild_sums(engine: Engine) -> None:
    """Rebuilds all stored sums. Until that is done, writers wait; readers do not."""
    if stored_sums.are_stored(engine):

        def rebuild() -> None:
            with watch.unlimited(engine.db.connection()):
                # SQL text: a setting of the session, and a function of the schema
                engine.rows("SET LOCAL statement_timeout = 0; SELECT limes_rebuild_sums()")

        engine.atomic(rebuild)


def _differences(engine: Engine, now: float) -> Iterator[WrongSum]:
    resources = engine.column(Resource.select(Resource.id).order_by(Resource.id))
    readings: list[tuple[str, str, tuple[Any, ...], int]] = [
        (what, name, (*arguments, level, project_sums.ALL_PROJECTS), width)
        for what, name, arguments, width in (
            ("quota and usage", "resource_sums", (resources,), 2),
            ("usage by AZ", "az_usage_sums", (resources,), 0),
            ("commitments", "committed_sums", (resources, now), 0),
            ("unused commitments by AZ", "unused_commitments", (resources, now), 0),
        )
        for level in ("domain", "cluster")
    ]
    readings.append(("unused commitments in all AZs", "unused_commitments_overall", (resources, now), 0))
    for what, name, arguments, width in readings:
        kept, computed = (_by_key(getattr(way, name)(engine, *arguments), width) for way in (stored_sums, project_sums))
        for key in sorted(kept.keys() | computed.keys()):
            if kept.get(key) != computed.get(key):
                yield WrongSum(what, key, kept.get(key), computed.get(key))

    suspicious = ProjectResource.select(ProjectResource.project, ProjectResource.resource).where(IS_SUSPICIOUS)
    known = set(engine.tuples(SuspiciousResource.select(SuspiciousResource.project_id, SuspiciousResource.resource_id)))
    for key in sorted(known ^ set(engine.tuples(suspicious))):
        present = ((), None) if key in known else (None, ())
        yield WrongSum("suspicious resource of a project", key, *present)


def _by_key(found: Any, width: int) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Makes rows a mapping, whose keys have this many columns."""
    if width:
        return {row[:width]: row[width:] for row in found}

    def tuple_of(one: Any) -> tuple[Any, ...]:
        return tuple(one) if isinstance(one, tuple) else (one,)

    return {tuple_of(key): tuple_of(value) for key, value in found.items()}


# -- folding: several rows of a sum become one -------------------------------------------------------------------------


def compact_sums(engine: Engine) -> None:
    """Replaces the rows of each sum by one, or by none if they add up to nothing, and does so for all domains together.
    One statement writes what it deletes, so whatever others do at the same time, what the rows add up to never
    changes."""
    for text in _FOLDS:
        engine.atomic(partial(engine.execute, text))


def _fold(model: type[base.BaseModel], others: Sequence[str]) -> str:
    """`others` are the columns that a sum is by, besides the domain."""
    table, keys = model._meta.table_name, ("domain_id", *others)
    fields = [field for field in model._meta.sorted_fields if not isinstance(field, (AutoField, BooleanField))]
    figures = [field.column_name for field in fields if field.column_name not in keys]
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


_FOLDS = (_fold(ProjectSum, ("resource_id", "az")), _fold(CommitmentSum, ("resource_id", "az", "status", "duration")))
