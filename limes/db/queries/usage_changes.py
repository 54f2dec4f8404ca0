"""How projects' usage has changed of late, by AZ (`limes.core.recent_usage`)."""

from collections.abc import Collection, Mapping

import orjson

from limes.core.recent_usage import UsageChange
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.models import UsageChanges
from limes.db.query import Insert, Node, mapping


@mapping(tuple[int, str], str)
def _changes(project_id: int, resources: Collection[int]) -> Node:
    row = UsageChanges
    query = row.select(row.resource_id, row.az, row.changes)
    return query.where(row.project_id == project_id, any_of(row.resource_id, resources))


def usage_changes(
    engine: Engine, project_id: int, resources: Collection[int]
) -> dict[tuple[int, str], list[UsageChange]]:
    """A project's changes by resource id and AZ."""
    return {place: parse_changes(changes) for place, changes in _changes(engine, project_id, resources).items()}


_write = Insert(
    tuple[int, int, str, str, float],
    UsageChanges,
    *(UsageChanges.project_id, UsageChanges.resource_id, UsageChanges.az),
    *(UsageChanges.changes, UsageChanges.changed_at),
    key=3,
)


def write_usage_changes(engine: Engine, project_id: int, changes: Mapping[tuple[int, str], list[UsageChange]]) -> None:
    """Writes these changes of a project. There is at least one of each."""
    new = [
        (project_id, *place, orjson.dumps([*map(tuple, each)]).decode(), each[-1].at)
        for place, each in sorted(changes.items())
    ]
    _write(engine, new)


def parse_changes(text: str) -> list[UsageChange]:
    """Reads a stored list."""
    return list(map(UsageChange._make, orjson.loads(text)))
