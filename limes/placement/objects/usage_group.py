"""What is used by project, consumer type and group of providers: our extension.

One statement counts everything from the allocations, so an answer of any size costs the same number of queries. Rows
come in the order in which they are rendered, and are never all in memory.
"""

from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from typing import Any

import peewee
from peewee import JOIN, fn

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.placement.models import Allocation, Consumer, Provider, ProviderAggregate, ResourceClass

Group = dict[str, Any]

_UNKNOWN = "unknown"


class GroupBy(StrEnum):
    """What makes a group. Each use is in exactly one, except that by aggregate it is in each of its aggregates."""

    PROVIDER = "resource_provider"
    ROOT = "root_provider"
    AGGREGATE = "aggregate"
    CONSUMER = "consumer"


_Root = Provider.alias()
_Above = ProviderAggregate.alias()

_MEMBERS = (
    ProviderAggregate.select(ProviderAggregate.provider, ProviderAggregate.aggregate_uuid)
    | Provider.select(Provider.id, _Above.aggregate_uuid)
    .join(_Above, on=_Above.provider == Provider.root)
    .where(Provider.parent.is_null(False))
).cte("members", columns=("provider_id", "aggregate_uuid"))
"""Each provider with its aggregates and those of its root provider."""

_KEYS = {
    GroupBy.PROVIDER: {"resource_provider_uuid": Provider.uuid, "root_provider_uuid": _Root.uuid},
    GroupBy.ROOT: {"root_provider_uuid": _Root.uuid},
    GroupBy.AGGREGATE: {"aggregate_uuid": _MEMBERS.c.aggregate_uuid},
    GroupBy.CONSUMER: {
        "consumer_uuid": Consumer.uuid,
        "resource_provider_uuid": Provider.uuid,
        "root_provider_uuid": _Root.uuid,
    },
}
"""What identifies a group beside project and consumer type: names, and the columns they come from."""
_ROWS: dict[GroupBy, Any] = {
    group_by: namedtuple("_Usage", ["project_id", "consumer_type", *keys, "class_id", "amount"])
    for group_by, keys in _KEYS.items()
}


@dataclass(frozen=True, slots=True)
class Filter:
    """Which usage is asked for. Empty collections and None mean all."""

    group_by: GroupBy = GroupBy.PROVIDER
    project_id: str | None = None
    class_ids: tuple[int, ...] = ()
    aggregates: tuple[str, ...] = ()
    """Only usage of providers that are in one of these, directly or through their root provider."""
    after: str | None = None
    """Only projects whose id comes after this one."""
    up_to: str | None = None
    """Only projects whose id does not come after this one."""


def last_of_page(engine: Engine, after: str | None, limit: int) -> str | None:
    """Returns the id of the last of `limit` projects with consumers; None if no other project comes after these."""
    projects = Consumer.select(Consumer.project_id).distinct().order_by(Consumer.project_id).limit(limit + 1)
    if after is not None:
        projects = projects.where(Consumer.project_id > after)
    project_ids = engine.column(projects)
    return str(project_ids[limit - 1]) if len(project_ids) > limit else None


def stream(engine: Engine, filter_: Filter) -> Iterator[Group]:
    """Yields the groups, in order of projects. To be taken within a snapshot."""
    keys = _KEYS[filter_.group_by]
    classes: dict[int, str] = dict(engine.tuples(ResourceClass.select(ResourceClass.id, ResourceClass.name)))
    rows = engine.stream(_usage(filter_), _ROWS[filter_.group_by])
    width = 2 + len(keys)
    for head, of_group in groupby(rows, key=itemgetter(slice(width))):
        project_id, consumer_type, *values = head
        yield {
            "project_id": project_id,
            "consumer_type": _UNKNOWN if consumer_type is None else consumer_type,
            **dict(zip(keys, values, strict=True)),
            "resources": {classes[row.class_id]: int(row.amount) for row in of_group},
        }


def _usage(filter_: Filter) -> peewee.Select:
    """Returns rows of project, consumer type, what identifies the group, class id and amount, in this order."""
    columns = [
        *(Consumer.project_id, Consumer.consumer_type),
        *_KEYS[filter_.group_by].values(),
        Allocation.resource_class,
    ]
    query = (
        Consumer.select(*columns, fn.SUM(Allocation.used))
        .join(Allocation, on=Allocation.consumer == Consumer.id)
        .join(Provider, on=Provider.id == Allocation.provider)
        .join(_Root, on=_Root.id == Provider.root)
        .group_by(*columns)
        .order_by(*columns)
    )
    for value, condition in (
        (filter_.project_id, Consumer.project_id == filter_.project_id),
        (filter_.after, Consumer.project_id > filter_.after),
        (filter_.up_to, Consumer.project_id <= filter_.up_to),
    ):
        if value is not None:
            query = query.where(condition)
    if filter_.class_ids:
        query = query.where(any_of(Allocation.resource_class, filter_.class_ids))
    return _of_members(query, filter_)


def _of_members(query: peewee.Select, filter_: Filter) -> peewee.Select:
    by_aggregate = filter_.group_by is GroupBy.AGGREGATE
    if not by_aggregate and not filter_.aggregates:
        return query
    query = query.with_cte(_MEMBERS)
    is_asked_for = any_of(_MEMBERS.c.aggregate_uuid, filter_.aggregates)
    if by_aggregate:
        query = query.join(_MEMBERS, JOIN.LEFT_OUTER, on=_MEMBERS.c.provider_id == Provider.id)
        return query.where(is_asked_for) if filter_.aggregates else query
    members = peewee.Select([_MEMBERS], [_MEMBERS.c.provider_id]).where(is_asked_for)
    return query.where(Provider.id.in_(members))
