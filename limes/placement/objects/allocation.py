"""Allocations in the database: what each consumer has of which provider.

How they are written is in `limes.placement.objects.allocation_write`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from limes.db.engine import Engine
from limes.placement.errors import provider_missing
from limes.placement.objects.consumer import Consumer, Ownership


class AnyGeneration(Enum):
    """For clients below microversion 1.28, which know nothing of consumer generations. No number, so that no client
    can send it."""

    ANY = "any"


ANY_GENERATION = AnyGeneration.ANY


@dataclass(frozen=True, slots=True)
class Claim:
    """What a consumer is to have from now on, in place of what it has."""

    owner: Ownership
    generation: int | AnyGeneration | None
    """The generation that the client saw; None if it saw no such consumer; or `ANY_GENERATION`."""
    resources: Mapping[str, Mapping[str, int]]
    """By provider UUID and class name: amounts above 0. Empty takes everything away."""

    def amounts(self) -> Iterator[tuple[str, str, int]]:
        """Provider UUID, class name and amount of all that is claimed."""
        for uuid, resources in self.resources.items():
            for class_name, amount in resources.items():
                yield uuid, class_name, amount


@dataclass(frozen=True, slots=True)
class Allocation:
    """What a consumer has of one class of one provider. `updated` is in seconds since the epoch."""

    consumer_uuid: str
    consumer_generation: int
    provider_uuid: str
    provider_generation: int
    class_name: str
    used: int
    updated: float


_COLUMNS = "c.uuid, c.generation, p.uuid, p.generation, rc.name, a.used, a.updated"


def of_consumer(engine: Engine, uuid: str) -> tuple[Consumer | None, list[Allocation]]:
    """A consumer, if there is one of that UUID, and what it has."""
    rows = engine.read(
        f"SELECT c.id, c.uuid, c.generation, c.project_id, c.user_id, c.consumer_type, {_COLUMNS}"
        " FROM placement_consumers c JOIN placement_allocations a ON a.consumer_id = c.id"
        " JOIN placement_providers p ON p.id = a.provider_id"
        " JOIN placement_resource_classes rc ON rc.id = a.class_id"
        " WHERE c.uuid = %s ORDER BY a.provider_id, a.class_id",
        [uuid],
    )
    return (Consumer(*rows[0][:6]) if rows else None), [Allocation(*row[6:]) for row in rows]


def of_provider(engine: Engine, uuid: str) -> tuple[int, list[Allocation]]:
    """A provider's generation, and what all consumers have of it. Raises `Missing`."""
    rows = engine.read(
        f"SELECT {_COLUMNS} FROM placement_providers p LEFT JOIN placement_allocations a ON a.provider_id = p.id"
        " LEFT JOIN placement_consumers c ON c.id = a.consumer_id"
        " LEFT JOIN placement_resource_classes rc ON rc.id = a.class_id"
        " WHERE p.uuid = %s ORDER BY a.consumer_id, a.class_id",
        [uuid],
    )
    if not rows:
        raise provider_missing(uuid, "Resource provider '{}' not found: ")
    return rows[0][3], [Allocation(*row) for row in rows if row[0] is not None]
