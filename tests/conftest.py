"""Fixtures for all tests. The work is done in `tests/support/`."""

import logging
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from limes.db.engine import Engine
from limes.kernel import redaction
from limes.kernel.system import tune_garbage_collector
from tests.setup.needs import POSTGRESQL, RABBITMQ, REAL
from tests.support.databases import Databases, MigratedUrlFactory, PostgresDatabases, SQLiteDatabases, UrlFactory
from tests.support.keystone import RealKeystone
from tests.support.keystone_server import KeystoneServer
from tests.support.levels import mark_level
from tests.support.locks import LockTrace
from tests.support.machine import in_one_line, require
from tests.support.memory_folder import remove_memory_folder, use_memory_folder
from tests.support.pgbouncer import BEHIND_POOLER, pgbouncer
from tests.support.postgres import PostgresServer, postgres_server
from tests.support.rabbitmq import RabbitMQ, rabbitmq_server
from tests.support.real import RealVenv
from tests.support.scheduling import FileByFile, folder_of, put_in_order
from tests.support.template import Template
from tests.support.upstream_placement import PlacementFactory, UpstreamPlacement, start_upstream_placement

if TYPE_CHECKING:
    from playwright.sync_api import Browser

settings.load_profile("ci")
"""Each run tries the same examples, however slow the machine is; `--hypothesis-profile=default` goes looking for others."""

pytest_plugins = ["tests.support.cloud", "tests.api.fixtures", "tests.collector.fixtures"]
"""Fixtures of a whole cloud of real servers, of the API on a small cloud, and of a collector."""


_MEMORY_FOLDER = pytest.StashKey[Path]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """What tests write goes to memory where there is enough of it. Workers have their folder from whoever starts them."""
    if not hasattr(config, "workerinput") and (folder := use_memory_folder()) is not None:
        config.stash[_MEMORY_FOLDER] = folder


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """The memory is given back once all workers have ended."""
    if (folder := config.stash.get(_MEMORY_FOLDER, None)) is not None:
        remove_memory_folder(folder)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for a real component by its fixture is marked for it; what takes long comes first."""
    put_in_order(items)
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & {"postgres", "postgres_url_factory"}:
            item.add_marker("postgresql")
        if "real_venv" in fixtures:
            item.add_marker("real")
        if "rabbitmq" in fixtures:
            item.add_marker("rabbitmq")
        mark_level(item, folder_of(item))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What tests import stays: to look through it again and again for garbage takes an eighth of the time."""
    tune_garbage_collector()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """What this machine has not is told in one line, whichever tests need it."""
    report = yield
    in_one_line(report, call.excinfo.value if call.excinfo else None)
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileByFile:
    """With the costly servers started once."""
    return FileByFile(config, log)


@pytest.fixture(autouse=True)
def log_level() -> Iterator[None]:
    """Commands that run in the tests' process set the level of all logs, and log to the standard error of their test,
    which is closed afterwards; the next test wants its own."""
    root = logging.getLogger()
    level = root.level
    yield
    root.handlers[:] = [handler for handler in root.handlers if type(handler) is not logging.StreamHandler]
    root.setLevel(level)


@pytest.fixture(autouse=True)
def _secrets_of_one_test() -> Iterator[None]:
    """What one test's configuration has as a password may be a word that another one looks for."""
    yield
    redaction.forget()


@pytest.fixture(scope="session")
def _lock_trace() -> Iterator[LockTrace]:
    trace = LockTrace()
    with pytest.MonkeyPatch.context() as patch:
        trace.install(patch)
        yield trace


@pytest.fixture(autouse=True)
def _locks_in_order(_lock_trace: LockTrace) -> Iterator[None]:
    """Whatever a test does, its transactions take their locks in one order."""
    _lock_trace.mistakes.clear()
    yield
    assert not _lock_trace.mistakes


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """This session's PostgreSQL server (one for each xdist worker). With LIMES_TEST_POOLER=1 it is behind PgBouncer."""
    require(POSTGRESQL)
    with postgres_server() as server:
        if not BEHIND_POOLER:
            yield server
            return
        with pgbouncer(server.port) as pooler:
            server.port_for_clients = pooler.port
            yield server


@pytest.fixture(scope="session")
def _postgres_templates() -> dict[str, Template]:
    return {}


@pytest.fixture(scope="session")
def _sqlite_templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("templates")


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """This session's Chromium. There can be only one: playwright runs a loop of events in this thread."""
    from tests.e2e.browser import chromium  # takes a while, and few tests need it

    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[RabbitMQ]:
    """This session's RabbitMQ. Leave it running, and take a queue of your own."""
    require(RABBITMQ)
    with rabbitmq_server() as broker:
        yield broker


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
def postgres_url_factory(postgres: PostgresServer, _postgres_templates: dict[str, Template]) -> Iterator[UrlFactory]:
    """Gives the URL of a further fresh, empty PostgreSQL database with each call."""
    source = PostgresDatabases(postgres, _postgres_templates)
    yield source.empty
    source.drop_all()


@pytest.fixture(scope="session")
def real_venv() -> RealVenv:
    """The virtual environment with the real components. Whoever uses it is marked `real`."""
    return RealVenv(require(REAL))


@pytest.fixture(scope="session")
def keystone(real_venv: RealVenv, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealKeystone]:
    """This session's Keystone, seeded as `tests/support/keystone_seed.py` says. Put back what you change."""
    server = KeystoneServer(real_venv, tmp_path_factory.mktemp("keystone"))
    with server.process:
        yield RealKeystone(server)


@pytest.fixture
def own_keystone(keystone: RealKeystone, tmp_path: Path) -> Iterator[RealKeystone]:
    """A copy of the session's Keystone for one test, which may stop it (`own_keystone.server.process.stop()`)."""
    server = keystone.server.copy(tmp_path / "keystone")
    with server.process:
        copy = RealKeystone(server, keystone.ids)
        copy.set_endpoint("identity", server.url)
        yield copy


@pytest.fixture(scope="session")
def upstream_placement_factory(
    real_venv: RealVenv, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PlacementFactory]:
    """Starts a Placement of the OpenStack project; arguments as of `start_upstream_placement`."""
    started: list[UpstreamPlacement] = []

    def start(**arguments: Any) -> UpstreamPlacement:
        started.append(start_upstream_placement(real_venv, tmp_path_factory.mktemp("placement"), **arguments))
        return started[-1]

    yield start
    for one in started:
        one.process.stop()


@pytest.fixture(scope="session")
def upstream_placement(upstream_placement_factory: PlacementFactory) -> UpstreamPlacement:
    """This session's upstream Placement on SQLite, without Keystone: the token `admin` may do everything."""
    return upstream_placement_factory()


@pytest.fixture(scope="session")
def upstream_placement_with_keystone(
    upstream_placement_factory: PlacementFactory, keystone: RealKeystone
) -> UpstreamPlacement:
    """This session's upstream Placement that validates tokens with Keystone, and stands in its catalog."""
    placement = upstream_placement_factory(credentials=keystone.credentials("placement"))
    keystone.set_endpoint("placement", placement.url)
    return placement


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """All queries that engines have run since the test began."""
    asked: list[Any] = []
    fetch = Engine.fetch

    def note(engine: Engine, query: Any, values: Any) -> Any:
        asked.append(query)
        return fetch(engine, query, values)

    monkeypatch.setattr(Engine, "fetch", note)
    return asked
