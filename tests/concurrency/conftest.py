"""One Placement of several workers on each database for all tests, which find it empty; a database of Limes for each test;
and how long a storm lasts."""

from collections.abc import Callable, Iterator

import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.concurrency.placement_fleet import Fleet, running_fleet
from tests.concurrency.test_quota import CLIENTS
from tests.placement.conformance.servers import empty_database
from tests.support.databases import MigratedUrlFactory
from tests.support.levels import few_of
from tests.support.postgres import PostgresServer


@pytest.fixture
def engine(database_url_with: MigratedUrlFactory) -> Iterator[Engine]:
    """An engine on a migrated database, with connections for all clients and for those who watch them."""
    engine = Engine(database_url_with(limes_migrations), pool_size=CLIENTS + 4)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def fleet_on_postgresql(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with running_fleet(postgres.url(postgres.create_database()), tmp_path_factory.mktemp("fleet")) as fleet:
        yield fleet


@pytest.fixture(scope="session")
def fleet_on_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    with running_fleet(f"sqlite:///{folder}/placement.db", folder) as fleet:
        yield fleet


def only_for_this_test(fleet: Fleet) -> Iterator[Fleet]:
    """Empties it before the test, and looks at its rows afterwards."""
    empty_database(fleet.database_url)
    yield fleet
    fleet.check_invariants()


@pytest.fixture
def fleet(fleet_on_postgresql: Fleet) -> Iterator[Fleet]:
    yield from only_for_this_test(fleet_on_postgresql)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def any_fleet(request: pytest.FixtureRequest) -> Iterator[Fleet]:
    """On SQLite, and on PostgreSQL."""
    yield from only_for_this_test(request.getfixturevalue(f"fleet_on_{request.param}"))


Rounds = Callable[[int], int]


@pytest.fixture(params=few_of(["short", "whole"], 1))
def rounds(request: pytest.FixtureRequest) -> Rounds:
    """How many of so many rounds a storm lasts: a quarter, or, in `make test-all`, also all of them."""
    return lambda number: number if request.param == "whole" else number // 4
