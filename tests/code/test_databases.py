"""The fixtures give what they promise: empty databases, each test its own, on the server that they name."""

import contextlib
from typing import Any

import psycopg2
import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.placement.migrations import placement_migrations
from tests.support.databases import MigratedUrlFactory, PostgresDatabases, UrlFactory
from tests.support.postgres import PostgresServer

pytestmark = pytest.mark.long


@pytest.mark.parametrize("round_", [1, 2])
def test_each_test_gets_an_empty_database(engine: Engine, round_: int) -> None:
    with engine.connection():
        engine.execute("CREATE TABLE marker (id INTEGER PRIMARY KEY)")  # fails if the last round's is still there


def test_the_engine_is_on_the_database_of_the_parameter(engine: Engine, database_url: str) -> None:
    assert database_url.startswith(engine.dialect)
    sql = "SELECT version()" if engine.dialect == "postgresql" else "SELECT sqlite_version()"
    with engine.connection():
        version = engine.rows(sql)[0][0]
    assert version.startswith("PostgreSQL" if engine.dialect == "postgresql" else "3.")


def test_migrated_databases_are_ready_and_separate(database_url_with: MigratedUrlFactory) -> None:
    one, other = Engine(database_url_with(limes_migrations)), Engine(database_url_with(limes_migrations))
    try:
        limes_migrations.check(one)
        with one.connection(), other.connection():
            one.execute("INSERT INTO services (type) VALUES ('compute')")
            assert one.rows("SELECT type FROM services") == [("compute",)]
            assert other.rows("SELECT type FROM services") == []
    finally:
        one.close()
        other.close()


def test_further_postgresql_databases(postgres_url_factory: UrlFactory) -> None:
    urls = {postgres_url_factory(), postgres_url_factory()}
    assert len(urls) == 2
    for url in urls:
        engine = Engine(url)
        engine.ping()
        engine.close()


class TestPostgreSQLCopies:
    """A migrated database that was used once is like new the next time."""

    @pytest.fixture
    def source(self, postgres: PostgresServer) -> PostgresDatabases:
        return PostgresDatabases(postgres, {})

    def use(self, source: PostgresDatabases, *statements: str, leave: bool = False) -> str:
        """The name of the database in which these were run."""
        url = source.migrated(limes_migrations)
        connection = psycopg2.connect(url)
        connection.autocommit = True
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
        if not leave:
            connection.close()
        source.drop_all()
        connection.close()
        return url

    def state(self, source: PostgresDatabases, postgres: PostgresServer) -> list[Any]:
        """All rows, sequences and statistics of the database that is given out next."""
        url = source.migrated(limes_migrations)
        with contextlib.closing(postgres.connect(url.rpartition("/")[2])) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT relname, reltuples, relpages FROM pg_class WHERE relnamespace = 2200 ORDER BY 1")
            found: list[Any] = [cursor.fetchall()]
            for sql in (
                "SELECT relname, n_live_tup, n_dead_tup, n_tup_ins FROM pg_stat_user_tables ORDER BY 1",
                "SELECT sequencename, last_value FROM pg_sequences ORDER BY 1",
                "SELECT count(*) FROM pg_stats WHERE schemaname = 'public'",
                *(f'SELECT * FROM "{name}" ORDER BY 1' for name, *_ in found[0] if name in tables(cursor)),
            ):
                cursor.execute(sql)
                found.append(cursor.fetchall())
        source.drop_all()
        return found

    def test_it_is_like_new(self, source: PostgresDatabases, postgres: PostgresServer) -> None:
        new = self.state(source, postgres)
        services = "INSERT INTO services (type) SELECT 'type-' || n FROM generate_series(1, 5000) n"
        first = self.use(
            source, services, "DELETE FROM limes_schema_migrations", "CREATE TEMP TABLE x ()", "ANALYZE services"
        )
        assert self.state(source, postgres) == new
        assert self.use(source, "INSERT INTO services (type) VALUES ('compute')") == first
        assert self.state(source, postgres) == new

    def test_numbers_begin_where_migrations_say(self, source: PostgresDatabases) -> None:
        insert = "INSERT INTO placement_traits (name, updated) VALUES ('CUSTOM_X', 0) RETURNING id"
        for _ in range(2):
            with contextlib.closing(psycopg2.connect(source.migrated(placement_migrations))) as connection:
                with connection.cursor() as cursor:
                    cursor.execute(insert)
                    assert cursor.fetchone() == (100_000,)
                connection.commit()
            source.drop_all()

    @pytest.mark.parametrize(
        "change",
        [
            "CREATE TABLE further ()",
            "ALTER TABLE services ALTER COLUMN type DROP NOT NULL",
            "ALTER TABLE services DISABLE TRIGGER ALL",
            "DROP INDEX {index}",
            "DROP TABLE limes_schema_migrations",
            "GRANT SELECT ON services TO pg_monitor",
            "CREATE OR REPLACE FUNCTION limes_find_domain() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'",
            "ALTER DATABASE {name} SET default_transaction_read_only = on",
            "ALTER DATABASE {name} CONNECTION LIMIT 20",
            "CREATE SCHEMA further",
            "ANALYZE",
        ],
    )
    def test_a_changed_one_is_dropped(self, source: PostgresDatabases, postgres: PostgresServer, change: str) -> None:
        new = self.state(source, postgres)
        name = source.migrated(limes_migrations).rpartition("/")[2]
        with contextlib.closing(postgres.connect(name)) as connection, connection.cursor() as cursor:
            cursor.execute(
                "SELECT min(indexrelid::regclass::text) FROM pg_index WHERE NOT indisunique AND indrelid > 16384"
            )
            cursor.execute(change.format(name=name, index=cursor.fetchone()[0]))
        source.drop_all()
        assert postgres.execute(f"SELECT count(*) FROM pg_database WHERE datname = '{name}'") == [(0,)]
        assert self.state(source, postgres) == new

    def test_one_that_is_still_used_is_dropped(self, source: PostgresDatabases) -> None:
        first = self.use(source, leave=True)
        assert self.use(source) != first


def tables(cursor: Any) -> set[str]:
    cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return {name for (name,) in cursor.fetchall()}
