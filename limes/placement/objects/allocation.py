"""Allocations in the database: what each consumer has of which provider.

How they are written is in `limes.placement.objects.allocation_write`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple

from peewee import JOIN

from limes.db.engine import Engine
from limes.db.query import Node, made, tuples
from limes.placement import models
from limes.placement.errors import provider_missing
from limes.placement.models import Provider, ResourceClass
from limes.placement.objects import consumer
from limes.placement.objects.consumer import Consumer, Ownership


class AnyGeneration(Enum):
    """For clients below microversion 1.28, without consumer generations. Not a number, so no client can send it."""

    ANY = "any"


ANY_GENERATION = AnyGeneration.ANY


@dataclass(frozen=True, slots=True)
class Claim:
    """What a consumer is to have, in place of what it has now."""

    owner: Ownership
    generation: int | AnyGeneration | None
    """The generation that the client saw; None if it saw no such consumer; or `ANY_GENERATION`."""
    resources: Mapping[str, Mapping[str, int]]
    """By provider UUID and class name: amounts above 0. If empty, the consumer loses everything."""

    def amounts(self) -> Iterator[tuple[str, str, int]]:
        """Yields provider UUID, class name and amount of each allocation."""
        for uuid, resources in self.resources.items():
            for class_name, amount in resources.items():
                yield uuid, class_name, amount


class Allocation(NamedTuple):
    """What a consumer has of one class of one provider. `updated` is in seconds since the epoch."""

    consumer_uuid: str
    consumer_generation: int
    provider_uuid: str
    provider_generation: int
    class_name: str
    used: int
    updated: float


_Allocation, _Consumer = models.Allocation, models.Consumer
_COLUMNS = (
    _Consumer.uuid,
    _Consumer.generation,
    Provider.uuid,
    Provider.generation,
    ResourceClass.name,
    _Allocation.used,
    _Allocation.updated,
)
_WIDTH: Final = 6
"""So many columns of the following are the consumer's."""


@tuples(tuple[int, str, int, str, str, str | None, str, int, str, int, str, int, float], prepare=True)
def _of_consumer(uuid: str) -> Node:
    query = (
        _Consumer.select(*consumer.COLUMNS, *_COLUMNS)
        .join(_Allocation, on=_Allocation.consumer == _Consumer.id)
        .join(Provider, on=Provider.id == _Allocation.provider)
        .join(ResourceClass, on=ResourceClass.id == _Allocation.resource_class)
    )
    return query.where(_Consumer.uuid == uuid).order_by(_Allocation.provider, _Allocation.resource_class)


def of_consumer(engine: Engine, uuid: str) -> tuple[Consumer | None, list[Allocation]]:
    """A consumer, if there is one of that UUID, and what it has."""
    rows = _of_consumer(engine, uuid)
    return (Consumer(*rows[0][:_WIDTH]) if rows else None), [Allocation(*row[_WIDTH:]) for row in rows]


@made(Allocation, Any, Any, str, int, Any, Any, Any, prepare=True)
def _of_provider(uuid: str) -> Node:
    query = (
        Provider.select(*_COLUMNS)
        .join(_Allocation, JOIN.LEFT_OUTER, on=_Allocation.provider == Provider.id)
        .join(_Consumer, JOIN.LEFT_OUTER, on=_Consumer.id == _Allocation.consumer)
        .join(ResourceClass, JOIN.LEFT_OUTER, on=ResourceClass.id == _Allocation.resource_class)
    )
    return query.where(Provider.uuid == uuid).order_by(_Allocation.consumer, _Allocation.resource_class)


def of_provider(engine: Engine, uuid: str) -> tuple[int, list[Allocation]]:
    """A provider's generation, and what all consumers have of it. Raises `Missing`."""
    held = _of_provider(engine, uuid)
    if not held:
        raise provider_missing(uuid, "Resource provider '{}' not found: ")
    return held[0].provider_generation, [one for one in held if one.consumer_uuid is not None]
