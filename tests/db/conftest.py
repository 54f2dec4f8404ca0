"""Fixtures of the tests of the engine."""

from collections.abc import Iterator

import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.db.old_database import FILL, make_old

pytest.register_assert_rewrite("tests.db.accounts")


@pytest.fixture
def accounts(engine: Engine) -> None:
    """Three accounts with 100 each."""
    with engine.connection():
        engine.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, amount BIGINT NOT NULL CHECK (amount >= 0))")
        engine.execute("INSERT INTO accounts (id, amount) VALUES (1, 100), (2, 100), (3, 100)")


@pytest.fixture
def old(engine: Engine) -> Engine:
    """A database of the previous release, with 90 project resources."""
    limes_migrations.upgrade(engine)
    make_old(engine)
    engine.execute(FILL)
    return engine


@pytest.fixture
def other(database_url: str) -> Iterator[Engine]:
    """Another process."""
    engine = Engine(database_url, application_name="limes-collector")
    yield engine
    engine.close()
