"""Allocations in the database: what each consumer has of which provider.

How they are written is in `limes.placement.objects.allocation_write`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from limes.db.engine import Engine
from limes.placement.objects.consumer import Ownership

ANY_GENERATION = -1
"""For clients below microversion 1.28, which know nothing of consumer generations."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a consumer is to have from now on, in place of what it has."""

    owner: Ownership
    generation: int | None
    """The generation that the client saw; None if it saw no such consumer; or `ANY_GENERATION`."""
    resources: Mapping[str, Mapping[str, int]]
    """By provider UUID and class name: amounts above 0. Empty takes everything away."""


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


_SELECT = """
SELECT c.uuid, c.generation, p.uuid, p.generation, rc.name, a.used, a.updated
FROM placement_allocations a
JOIN placement_consumers c ON c.id = a.consumer_id
JOIN placement_providers p ON p.id = a.provider_id
JOIN placement_resource_classes rc ON rc.id = a.class_id
"""


def of_consumer(engine: Engine, consumer_id: int) -> list[Allocation]:
    """What a consumer has."""
    rows = engine.rows(_SELECT + "WHERE a.consumer_id = %s ORDER BY a.provider_id, a.class_id", [consumer_id])
    return [Allocation(*row) for row in rows]


def of_provider(engine: Engine, provider_id: int) -> list[Allocation]:
    """What all consumers have of a provider."""
    rows = engine.rows(_SELECT + "WHERE a.provider_id = %s ORDER BY a.consumer_id, a.class_id", [provider_id])
    return [Allocation(*row) for row in rows]
