"""What is used, counted from the allocations: of one provider, and by one project.

Usage of many projects in groups is in `limes.placement.objects.usage_group`.
"""

from operator import itemgetter

import peewee
from peewee import JOIN, Value, fn

from limes.db.compiled import compiled
from limes.db.engine import Engine
from limes.placement.errors import provider_missing
from limes.placement.models import Allocation, Consumer, Inventory, Provider, ResourceClass
from limes.placement.objects.inventory import USED

_OF_PROVIDER = compiled(
    lambda p: (
        Provider.select(Provider.generation, ResourceClass.name, USED)
        .join(Inventory, JOIN.LEFT_OUTER, on=Inventory.provider == Provider.id)
        .join(ResourceClass, JOIN.LEFT_OUTER, on=ResourceClass.id == Inventory.resource_class)
        .where(Provider.uuid == p.uuid)
        .order_by(Inventory.resource_class)
    ),
    prepare=True,
)
_IN_PROJECT = compiled(lambda p: _by_class(Consumer.project_id == p.project), prepare=True)
_BY_USER = compiled(
    lambda p: _by_class((Consumer.project_id == p.project) & (Consumer.user_id == p.user)), prepare=True
)
_IN_PROJECT_BY_TYPE = compiled(lambda p: _by_type(Consumer.project_id == p.project), prepare=True)
_BY_USER_AND_TYPE = compiled(
    lambda p: _by_type((Consumer.project_id == p.project) & (Consumer.user_id == p.user)), prepare=True
)


def of_provider(engine: Engine, uuid: str) -> tuple[int, dict[str, int]]:
    """Returns a provider's generation, and what is used of each class of which it has inventory, 0 included, by class
    name.

    Raises `Missing`.
    """
    rows = engine.tuples(_OF_PROVIDER, uuid=uuid)
    if not rows:
        raise provider_missing(uuid)
    return rows[0][0], {name: used for _, name, used in rows if name is not None}


def of_project(engine: Engine, project_id: str, user_id: str | None = None) -> dict[str, int]:
    """Returns, by class name, what the consumers of a project, or of one user in it, use in total."""
    query = _IN_PROJECT if user_id is None else _BY_USER
    return {name: int(used) for name, used in engine.tuples(query, project=project_id, user=user_id)}


def of_project_by_type(
    engine: Engine, project_id: str, user_id: str | None = None
) -> tuple[dict[str | None, dict[str, int]], dict[str | None, int]]:
    """Returns, by consumer type (None if unknown), the use of each class, and the number of consumers."""
    query = _IN_PROJECT_BY_TYPE if user_id is None else _BY_USER_AND_TYPE
    used: dict[str | None, dict[str, int]] = {}
    counts: dict[str | None, int] = {}
    rows = engine.tuples(query, project=project_id, user=user_id)
    for consumer_type, name, amount, _ in sorted(rows, key=itemgetter(3)):
        if name is None:
            counts[consumer_type] = int(amount)
        else:
            used.setdefault(consumer_type, {})[name] = int(amount)
    return used, counts


def _by_class(condition: peewee.Node) -> peewee.Query:
    return (
        Consumer.select(ResourceClass.name, fn.SUM(Allocation.used))
        .join(Allocation, on=Allocation.consumer == Consumer.id)
        .join(ResourceClass, on=ResourceClass.id == Allocation.resource_class)
        .where(condition)
        .group_by(ResourceClass.id, ResourceClass.name)
        .order_by(ResourceClass.id)
    )


def _by_type(condition: peewee.Node) -> peewee.Query:
    """Returns rows of consumer type, class name, amount, class id; the number of consumers is a row without class."""
    selected = (
        Consumer.select(Consumer.consumer_type, Consumer.id, Allocation.resource_class, Allocation.used)
        .join(Allocation, on=Allocation.consumer == Consumer.id)
        .where(condition)
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
