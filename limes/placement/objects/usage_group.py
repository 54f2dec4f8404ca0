"""What is used by project, consumer type and group of providers: our extension.

All is counted from the allocations by one statement, so an answer of any size costs the same number of queries. Rows
come in the order in which they are rendered, and need not be in memory together.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any

from limes.db.engine import Engine, placeholders

Group = dict[str, Any]

_UNKNOWN = "unknown"


class GroupBy(StrEnum):
    """What one group is. Each use is in exactly one, except that by aggregate it is in each of its aggregates."""

    PROVIDER = "resource_provider"
    ROOT = "root_provider"
    AGGREGATE = "aggregate"
    CONSUMER = "consumer"


_COLUMNS = {
    GroupBy.PROVIDER: {"resource_provider_uuid": "p.uuid", "root_provider_uuid": "r.uuid"},
    GroupBy.ROOT: {"root_provider_uuid": "r.uuid"},
    GroupBy.AGGREGATE: {"aggregate_uuid": "m.aggregate_uuid"},
    GroupBy.CONSUMER: {
        "consumer_uuid": "c.uuid",
        "resource_provider_uuid": "p.uuid",
        "root_provider_uuid": "r.uuid",
    },
}
"""The names of what identifies a group beside project and consumer type, and where it comes from."""

_MEMBERS = (
    "SELECT provider_id, aggregate_uuid FROM placement_provider_aggregates"
    " UNION SELECT child.id, above.aggregate_uuid FROM placement_providers child"
    " JOIN placement_provider_aggregates above ON above.provider_id = child.root_id WHERE child.parent_id IS NOT NULL"
)
"""Each provider with its aggregates and those of its root provider."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for. Empty collections and None ask for all."""

    group_by: GroupBy = GroupBy.PROVIDER
    project_id: str | None = None
    class_ids: tuple[int, ...] = ()
    aggregates: tuple[str, ...] = ()
    """Only use of providers in one of these, themselves or by their root provider."""
    after: str | None = None
    """Only projects whose id comes after this one."""
    up_to: str | None = None
    """Only projects whose id does not come after this one."""


def last_of_page(engine: Engine, after: str | None, limit: int) -> str | None:
    """The id of the last of `limit` projects that have consumers; None if no other project comes after these."""
    where = "" if after is None else "WHERE project_id > %s "
    rows = engine.rows(
        f"SELECT DISTINCT project_id FROM placement_consumers {where}ORDER BY project_id LIMIT %s",
        [*([] if after is None else [after]), limit + 1],
    )
    return str(rows[limit - 1][0]) if len(rows) > limit else None


def stream(engine: Engine, wanted: Wanted) -> Iterator[Group]:
    """The groups by project, one after the other. To be taken within a snapshot."""
    names = list(_COLUMNS[wanted.group_by])
    classes: dict[int, str] = dict(engine.rows("SELECT id, name FROM placement_resource_classes"))
    sql, params = _statement(wanted)
    width = 2 + len(names)
    for head, rows in groupby(engine.stream_text(sql, params), key=lambda row: row[:width]):
        project_id, consumer_type, *keys = head
        yield {
            "project_id": project_id,
            "consumer_type": _UNKNOWN if consumer_type is None else consumer_type,
            **dict(zip(names, keys, strict=True)),
            "resources": {classes[class_id]: int(amount) for *_, class_id, amount in rows},
        }


def _statement(wanted: Wanted) -> tuple[str, list[Any]]:
    columns = ", ".join(_COLUMNS[wanted.group_by].values())
    joins, conditions, params = _conditions(wanted)
    members = f"WITH members AS ({_MEMBERS}) " if joins or wanted.aggregates else ""
    by = f"c.project_id, c.consumer_type, {columns}, a.class_id"
    sql = (
        f"{members}SELECT {by}, SUM(a.used) FROM placement_consumers c"
        " JOIN placement_allocations a ON a.consumer_id = c.id JOIN placement_providers p ON p.id = a.provider_id"
        f" JOIN placement_providers r ON r.id = p.root_id{joins}"
        f"{' WHERE ' if conditions else ''}{' AND '.join(conditions)} GROUP BY {by} ORDER BY {by}"
    )
    return sql, params


def _conditions(wanted: Wanted) -> tuple[str, list[str], list[Any]]:
    joins, conditions, params = "", [], list[Any]()
    for text, value in (("= %s", wanted.project_id), ("> %s", wanted.after), ("<= %s", wanted.up_to)):
        if value is not None:
            conditions.append(f"c.project_id {text}")
            params.append(value)
    if wanted.class_ids:
        conditions.append(f"a.class_id IN ({placeholders(len(wanted.class_ids))})")
        params += wanted.class_ids
    if wanted.group_by is GroupBy.AGGREGATE:
        joins = " LEFT JOIN members m ON m.provider_id = p.id"
    if wanted.aggregates:
        marks = placeholders(len(wanted.aggregates))
        among = f"m.aggregate_uuid IN ({marks})"
        if wanted.group_by is not GroupBy.AGGREGATE:
            among = f"p.id IN (SELECT m.provider_id FROM members m WHERE {among})"
        conditions.append(among)
        params += wanted.aggregates
    return joins, conditions, params
