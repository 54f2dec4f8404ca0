"""Aggregates in the database. An aggregate is nothing but a UUID that providers are members of."""

from collections.abc import Sequence

from limes.db.compiled import compiled, compiled_insert
from limes.db.engine import Engine
from limes.placement.models import ProviderAggregate

_OF_PROVIDER = compiled(
    lambda p: (
        ProviderAggregate.select(ProviderAggregate.aggregate_uuid)
        .where(ProviderAggregate.provider == p.provider)
        .order_by(ProviderAggregate.aggregate_uuid)
    ),
    prepare=True,
)
_DELETE = compiled(lambda p: ProviderAggregate.delete().where(ProviderAggregate.provider == p.provider))
_INSERT = compiled_insert(ProviderAggregate, ProviderAggregate.provider, ProviderAggregate.aggregate_uuid)


def of_provider(engine: Engine, provider_id: int) -> list[str]:
    """Returns the UUIDs of a provider's aggregates, in order."""
    return engine.column(_OF_PROVIDER, provider=provider_id)


def replace_of_provider(engine: Engine, provider_id: int, uuids: Sequence[str]) -> None:
    """Makes these the aggregates of a provider, whose row has to be locked."""
    engine.write(_DELETE, provider=provider_id)
    if uuids:
        engine.write(_INSERT, rows=[(provider_id, uuid) for uuid in uuids])
