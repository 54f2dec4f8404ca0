"""How projects' usage has changed of late, by AZ (`limes.core.recent_usage`)."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import orjson

from limes.core.recent_usage import UsageChange
from limes.db.compiled import any_of, compiled, compiled_insert
from limes.db.engine import Engine
from limes.db.models import UsageChanges


class ChangesRow(NamedTuple):
    """The changes in one AZ, as they are stored."""

    resource_id: int
    az: str
    changes: str


_OF_PROJECT = compiled(
    lambda p: UsageChanges.select(UsageChanges.resource_id, UsageChanges.az, UsageChanges.changes).where(
        UsageChanges.project_id == p.project, any_of(UsageChanges.resource_id, p.resources)
    )
)
_FIGURES: list[Any] = [UsageChanges.changes, UsageChanges.changed_at]
_KEY: list[Any] = [UsageChanges.project_id, UsageChanges.resource_id, UsageChanges.az]
_WRITE = compiled_insert(
    UsageChanges, *_KEY, *_FIGURES, finish=lambda insert: insert.on_conflict(conflict_target=_KEY, preserve=_FIGURES)
)


def usage_changes(
    engine: Engine, project_id: int, resources: Collection[int]
) -> dict[tuple[int, str], list[UsageChange]]:
    """Returns a project's changes by resource id and AZ."""
    rows = engine.all(_OF_PROJECT, ChangesRow, project=project_id, resources=resources)
    return {(row.resource_id, row.az): parse_changes(row.changes) for row in rows}


def write_usage_changes(engine: Engine, project_id: int, changes: Mapping[tuple[int, str], list[UsageChange]]) -> None:
    """Writes these changes of a project. There is at least one of each."""
    rows = [
        (project_id, resource, az, orjson.dumps([*map(tuple, each)]).decode(), each[-1].at)
        for (resource, az), each in sorted(changes.items())
    ]
    engine.write(_WRITE, rows=rows)


def parse_changes(text: str) -> list[UsageChange]:
    """Reads a stored list."""
    return list(map(UsageChange._make, orjson.loads(text)))
