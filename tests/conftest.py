"""Fixtures for all tests. The work is done in `tests/support/`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from limes.db.engine import Engine
from tests.support.databases import Databases, MigratedUrlFactory, PostgresDatabases, SQLiteDatabases, UrlFactory
from tests.support.postgres import PostgresServer, postgres_server


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for a real component by its fixture is marked for it."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & {"postgres", "postgres_url_factory"}:
            item.add_marker("postgresql")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """This session's PostgreSQL server (one for each xdist worker)."""
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def _postgres_templates() -> dict[str, str]:
    return {}


@pytest.fixture(scope="session")
def _sqlite_templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("templates")


@pytest.fixture(
    params=[
        pytest.param("sqlite", id="sqlite"),
        pytest.param("postgresql", id="postgresql", marks=pytest.mark.postgresql),
    ]
)
def databases(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Databases]:
    """Where this test gets databases from: once SQLite, once PostgreSQL."""
    source: Databases
    if request.param == "sqlite":
        source = SQLiteDatabases(tmp_path, request.getfixturevalue("_sqlite_templates"))
    else:
        server = request.getfixturevalue("postgres")
        source = PostgresDatabases(server, request.getfixturevalue("_postgres_templates"))
    yield source
    source.drop_all()


@pytest.fixture
def database_url(databases: Databases) -> str:
    """The URL of a fresh empty database."""
    return databases.empty()


@pytest.fixture
def database_url_with(databases: Databases) -> MigratedUrlFactory:
    """`database_url_with(limes_migrations, ...)` gives the URL of a fresh database with these migrations applied."""
    return databases.migrated


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An engine on a fresh empty database."""
    engine = Engine(database_url)
    yield engine
    engine.close()


@pytest.fixture
def postgres_url_factory(postgres: PostgresServer, _postgres_templates: dict[str, str]) -> Iterator[UrlFactory]:
    """Gives the URL of a further fresh, empty PostgreSQL database with each call."""
    source = PostgresDatabases(postgres, _postgres_templates)
    yield source.empty
    source.drop_all()
