"""The fixtures give what they promise: empty databases, each test its own, on the server that they name."""

import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.support.databases import MigratedUrlFactory, UrlFactory


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
