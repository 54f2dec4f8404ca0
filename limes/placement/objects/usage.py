"""What is used, counted from the allocations: of one provider, by one project, and our extension: by project, consumer
type and group of providers.

One statement counts all groups, so an answer of any size costs the same number of queries. Rows come in the order in
which they are rendered, and are never all in memory.
"""

from collections import namedtuple
from collections.abc import Iterator
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from typing import Any

import peewee
from msgspec import Struct
from peewee import JOIN, Value, fn

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Node, mapping, tuples
from limes.placement.errors import provider_missing
from limes.placement.models import Allocation, Consumer, Inventory, Provider, ProviderAggregate, ResourceClass
from limes.placement.objects.inventory import USED


@tuples(tuple[int, str | None, int], prepare=True)
def _of_provider(uuid: str) -> Node:
    query = (
        Provider.select(Provider.generation, ResourceClass.name, USED)
        .join(Inventory, JOIN.LEFT_OUTER, on=Inventory.provider == Provider.id)
        .join(ResourceClass, JOIN.LEFT_OUTER, on=ResourceClass.id == Inventory.resource_class)
    )
    return query.where(Provider.uuid == uuid).order_by(Inventory.resource_class)


def of_provider(engine: Engine, uuid: str) -> tuple[int, dict[str, int]]:
    """A provider's generation, and what is used of each class with inventory, 0 included. Raises `Missing`."""
    rows = _of_provider(engine, uuid)
    if not rows:
        raise provider_missing(uuid)
    return rows[0][0], {name: used for _, name, used in rows if name is not None}


def _is_owner(project_id: str, user_id: str | None) -> peewee.ColumnBase:
    of_project = Consumer.project_id == project_id
    return of_project if user_id is None else of_project & (Consumer.user_id == user_id)


@mapping(str, int, prepare=True)
def of_project(project_id: str, user_id: str | None = None) -> Node:
    """What the consumers of a project, or of one user in it, use in total, by class name."""
    query = (
        Consumer.select(ResourceClass.name, fn.SUM(Allocation.used))
        .join(Allocation, on=Allocation.consumer == Consumer.id)
        .join(ResourceClass, on=ResourceClass.id == Allocation.resource_class)
    )
    query = query.where(_is_owner(project_id, user_id))
    return query.group_by(ResourceClass.id, ResourceClass.name).order_by(ResourceClass.id)


@tuples(tuple[str | None, str | None, int, int], prepare=True)
def _by_type(project_id: str, user_id: str | None) -> Node:
    """Rows of consumer type, class name, amount, class id; the number of consumers is a row without class."""
    selected = (
        Consumer.select(Consumer.consumer_type, Consumer.id, Allocation.resource_class, Allocation.used)
        .join(Allocation, on=Allocation.consumer == Consumer.id)
        .where(_is_owner(project_id, user_id))
        .cte("mine", columns=("consumer_type", "consumer_id", "class_id", "used"))
    )
    counts = peewee.Select(
        [selected], [selected.c.consumer_type, Value(None), fn.COUNT(selected.c.consumer_id.distinct()), Value(0)]
    ).group_by(selected.c.consumer_type)
    amounts = (
        peewee.Select(
            [selected], [selected.c.consumer_type, ResourceClass.name, fn.SUM(selected.c.used), ResourceClass.id]
        )
        .join(ResourceClass, on=ResourceClass.id == selected.c.class_id)
        .group_by(selected.c.consumer_type, ResourceClass.id, ResourceClass.name)
    )
    return counts.union_all(amounts).with_cte(selected)


def of_project_by_type(
    engine: Engine, project_id: str, user_id: str | None = None
) -> tuple[dict[str | None, dict[str, int]], dict[str | None, int]]:
    """By consumer type (None if unknown): the use of each class, and the number of consumers."""
    used: dict[str | None, dict[str, int]] = {}
    counts: dict[str | None, int] = {}
    for consumer_type, name, amount, _ in sorted(_by_type(engine, project_id, user_id), key=itemgetter(3)):
        if name is None:
            counts[consumer_type] = amount
        else:
            used.setdefault(consumer_type, {})[name] = amount
    return used, counts


Group = dict[str, Any]

UNKNOWN = "unknown"


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


class Filter(Struct, frozen=True):
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


def stream_groups(engine: Engine, filter_: Filter) -> Iterator[Group]:
    """Yields the groups, in order of projects. To be taken within a snapshot."""
    keys = _KEYS[filter_.group_by]
    classes: dict[int, str] = dict(engine.tuples(ResourceClass.select(ResourceClass.id, ResourceClass.name)))
    rows = engine.stream(_grouped(filter_), _ROWS[filter_.group_by])
    width = 2 + len(keys)
    for head, of_group in groupby(rows, key=itemgetter(slice(width))):
        project_id, consumer_type, *values = head
        yield {
            "project_id": project_id,
            "consumer_type": UNKNOWN if consumer_type is None else consumer_type,
            **dict(zip(keys, values, strict=True)),
            "resources": {classes[row.class_id]: int(row.amount) for row in of_group},
        }


def _grouped(filter_: Filter) -> peewee.Select:
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
