"""Aggregates in the database: nothing but the UUIDs that providers are members of."""

from collections.abc import Sequence

from limes.db.engine import Engine


def of_provider(engine: Engine, provider_id: int) -> list[str]:
    """The UUIDs of a provider's aggregates, in order."""
    rows = engine.read(
        "SELECT aggregate_uuid FROM placement_provider_aggregates WHERE provider_id = %s ORDER BY aggregate_uuid",
        [provider_id],
    )
    return [row[0] for row in rows]


def replace_of_provider(engine: Engine, provider_id: int, uuids: Sequence[str]) -> None:
    """Makes these the aggregates of a provider, whose row has to be locked."""
    engine.execute("DELETE FROM placement_provider_aggregates WHERE provider_id = %s", [provider_id])
    if uuids:
        engine.execute(
            "INSERT INTO placement_provider_aggregates (provider_id, aggregate_uuid) VALUES "
            + ", ".join(["(%s, %s)"] * len(uuids)),
            [value for uuid in uuids for value in (provider_id, uuid)],
        )
