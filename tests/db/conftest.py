"""Fixtures of the tests of the engine."""

import pytest

from limes.db.engine import Engine

pytest.register_assert_rewrite("tests.db.accounts")


@pytest.fixture
def accounts(engine: Engine) -> None:
    """Three accounts with 100 each."""
    with engine.connection():
        engine.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, amount BIGINT NOT NULL CHECK (amount >= 0))")
        engine.execute("INSERT INTO accounts (id, amount) VALUES (1, 100), (2, 100), (3, 100)")
