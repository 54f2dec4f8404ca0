"""The tables refuse what must never be."""

from collections.abc import Iterator

import peewee
import pytest

from limes.db.engine import Engine
from limes.placement.migrations import placement_migrations
from limes.placement.objects import change
from tests.support.databases import MigratedUrlFactory

pytestmark = pytest.mark.sql

INSERT = (
    "INSERT INTO placement_providers (uuid, name, parent_id, root_id, updated, changed)"
    " VALUES (%s, %s, %s, %s, 0, 0) RETURNING id"
)


@pytest.fixture
def tables(database_url_with: MigratedUrlFactory) -> Iterator[Engine]:
    engine = Engine(database_url_with(placement_migrations))
    yield engine
    engine.close()


def add(engine: Engine, name: str) -> int:
    def work() -> int:
        ((id_,),) = engine.rows(INSERT, [name, name, None, 0])
        engine.execute("UPDATE placement_providers SET root_id = id WHERE id = %s", [id_])
        return int(id_)

    return engine.atomic(work)


def test_a_provider_without_a_root_cannot_be_committed(tables: Engine) -> None:
    with pytest.raises(peewee.IntegrityError):
        tables.atomic(lambda: tables.rows(INSERT, ["u", "n", None, 0]))
    with tables.connection():
        assert tables.rows("SELECT * FROM placement_providers") == []


def test_an_allocation_without_inventory_cannot_be(tables: Engine) -> None:
    provider = add(tables, "p")

    def work() -> None:
        tables.execute("INSERT INTO placement_consumers VALUES (1, 'c', 0, 'p', 'u', NULL, 0)")
        tables.execute("INSERT INTO placement_resource_classes VALUES (0, 'VCPU', 0)")
        tables.execute("INSERT INTO placement_allocations VALUES (1, %s, 0, 1, 0)", [provider])

    with pytest.raises(peewee.IntegrityError):
        tables.atomic(work)


def test_custom_names_get_ids_above_the_standard_ones(tables: Engine) -> None:
    with tables.connection():
        for table, first in (("placement_resource_classes", 10_000), ("placement_traits", 100_000)):
            assert tables.rows(f"INSERT INTO {table} (name, updated) VALUES ('A', 0) RETURNING id") == [(first,)]


def stamp(engine: Engine) -> int:
    def work() -> int:
        change.take_stamp(engine)
        (value,) = engine.column(peewee.Select(columns=[change.STAMP]))
        return int(value)

    return engine.atomic(work)


def test_stamps_grow_and_ids_are_not_used_again(tables: Engine) -> None:
    first, second = stamp(tables), stamp(tables)
    assert second > first
    provider = add(tables, "p")

    def delete() -> None:
        tables.execute("DELETE FROM placement_providers WHERE id = %s", [provider])
        change.leave_tombstone(tables, provider, 5.0)

    tables.atomic(delete)
    assert add(tables, "p") > provider
    with tables.connection():
        assert tables.rows("SELECT provider_id, deleted_at FROM placement_provider_tombstones") == [(provider, 5.0)]


def test_stamps_of_another_server_are_repaired(tables: Engine) -> None:
    provider = add(tables, "p")
    with tables.connection():
        tables.execute("UPDATE placement_providers SET changed = %s", [2**60])
    change.repair_stamps(tables)
    with tables.connection():
        ((changed,),) = tables.rows("SELECT changed FROM placement_providers WHERE id = %s", [provider])
    assert (changed < 2**60) == (tables.dialect == "postgresql")
