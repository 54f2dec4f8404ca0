"""Aggregates in the database. An aggregate is nothing but a UUID that providers are members of."""

from collections.abc import Sequence

from limes.db.engine import Engine
from limes.db.query import Insert, Node, column, writes
from limes.placement.models import ProviderAggregate as Member


@column(str, prepare=True)
def of_provider(provider_id: int) -> Node:
    """The UUIDs of a provider's aggregates, in order."""
    return Member.select(Member.aggregate_uuid).where(Member.provider == provider_id).order_by(Member.aggregate_uuid)


@writes
def _remove_all(provider_id: int) -> Node:
    return Member.delete().where(Member.provider == provider_id)


_add = Insert(tuple[int, str], Member, Member.provider, Member.aggregate_uuid)


def replace_of_provider(engine: Engine, provider_id: int, uuids: Sequence[str]) -> None:
    """Makes these the aggregates of a provider, whose row has to be locked."""
    _remove_all(engine, provider_id)
    _add(engine, [(provider_id, uuid) for uuid in uuids])
