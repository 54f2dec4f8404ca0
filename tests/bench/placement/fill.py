"""Puts a synthetic cloud into the database of either server. Through the API, upstream takes minutes for it."""

from collections.abc import Callable, Sequence
from typing import Any

import psycopg2
from psycopg2.extras import execute_values

from limes.placement.search.model import Provider

_STAMP = "pg_current_xact_id()::text::bigint"


def fill(name: str, url: str, providers: Sequence[Provider]) -> None:
    """`name` is `upstream` or `ours`."""
    connection = psycopg2.connect(url)
    with connection, connection.cursor() as cursor:
        _FILLERS[name](cursor, providers)
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    connection.close()


def _upstream(cursor: Any, providers: Sequence[Provider]) -> None:
    classes, traits = _names(cursor, "resource_classes", "traits")
    insert = _inserter(cursor)
    insert(
        "resource_providers (id, uuid, name, generation, root_provider_id, parent_provider_id, created_at)",
        [(p.id, p.uuid, p.name, p.generation, p.root_id, p.parent_id) for p in providers],
        "(%s, %s, %s, %s, %s, %s, now())",
    )
    insert(
        "inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size, "
        "allocation_ratio)",
        _inventories(providers, classes),
    )
    insert(
        "resource_provider_traits (resource_provider_id, trait_id)",
        [(p.id, traits[name]) for p in providers for name in p.traits.names],
    )
    uuids = sorted({uuid for p in providers for uuid in p.aggregates})
    insert("placement_aggregates (id, uuid)", list(enumerate(uuids, 1)))
    insert(
        "resource_provider_aggregates (resource_provider_id, aggregate_id)",
        [(p.id, uuids.index(uuid) + 1) for p in providers for uuid in p.aggregates],
    )
    _restart(cursor, "resource_providers")
    _restart(cursor, "placement_aggregates")


def _ours(cursor: Any, providers: Sequence[Provider]) -> None:
    classes, traits = _names(cursor, "placement_resource_classes", "placement_traits")
    insert = _inserter(cursor)
    insert(
        "placement_providers (id, uuid, name, generation, root_id, parent_id, updated, changed)",
        [(p.id, p.uuid, p.name, p.generation, p.root_id, p.parent_id) for p in providers],
        f"(%s, %s, %s, %s, %s, %s, 1.7e9, {_STAMP})",
    )
    insert(
        "placement_inventories (provider_id, class_id, total, reserved, min_unit, max_unit, step_size, "
        "allocation_ratio, updated)",
        _inventories(providers, classes),
        "(%s, %s, %s, %s, %s, %s, %s, %s, 1.7e9)",
    )
    insert(
        "placement_provider_traits (provider_id, trait_id)",
        [(p.id, traits[name]) for p in providers for name in p.traits.names],
    )
    insert(
        "placement_provider_aggregates (provider_id, aggregate_uuid)",
        [(p.id, uuid) for p in providers for uuid in p.aggregates],
    )
    _restart(cursor, "placement_providers")


_FILLERS: dict[str, Callable[[Any, Sequence[Provider]], None]] = {"upstream": _upstream, "ours": _ours}


def _names(cursor: Any, *tables: str) -> list[dict[str, int]]:
    found = []
    for table in tables:
        cursor.execute(f"SELECT name, id FROM {table}")
        found.append(dict(cursor.fetchall()))
    return found


def _inserter(cursor: Any) -> Callable[..., None]:
    def insert(target: str, rows: list[tuple[Any, ...]], template: str | None = None) -> None:
        if rows:
            execute_values(cursor, f"INSERT INTO {target} VALUES %s", rows, template, page_size=1000)

    return insert


def _inventories(providers: Sequence[Provider], classes: dict[str, int]) -> list[tuple[Any, ...]]:
    return [
        (p.id, classes[name], inv.capacity, 0, inv.min_unit, inv.max_unit, inv.step_size, 1.0)
        for p in providers
        for name, inv in p.inventories.items()
    ]


def _restart(cursor: Any, table: str) -> None:
    cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
