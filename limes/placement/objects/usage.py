"""What is used, counted from the allocations: of one provider, and by one project.

Usage of many projects in groups is in `limes.placement.objects.usage_group`.
"""

from operator import itemgetter

import peewee
from peewee import JOIN, Value, fn

from limes.db.engine import Engine
from limes.db.query import Node, mapping, tuples
from limes.placement.errors import provider_missing
from limes.placement.models import Allocation, Consumer, Inventory, Provider, ResourceClass
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
