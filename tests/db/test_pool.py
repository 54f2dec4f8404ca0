"""Which connections of the pool are asked whether they live."""

import pytest

from limes.db import pool
from limes.db.engine import Engine
from limes.errors import Unavailable


@pytest.fixture
def engine(postgres_url_factory):
    engine = Engine(postgres_url_factory(), pool_size=2)
    yield engine
    engine.close()


def backend(engine):
    return engine.row("SELECT pg_backend_pid()")[0]


def test_a_connection_is_used_again(engine):
    with engine.connection():
        first = backend(engine)
    with engine.connection():
        assert backend(engine) == first


def test_a_connection_that_lay_idle_is_asked_and_replaced(engine, postgres, monkeypatch):
    monkeypatch.setattr(pool, "TRUSTED_SECONDS", 0.0)
    with engine.connection():
        first = backend(engine)
    postgres.execute(f"SELECT pg_terminate_backend({first}), pg_sleep(0.2)")
    with engine.connection():
        assert backend(engine) != first


def test_a_connection_that_died_a_moment_ago_costs_one_answer(engine, postgres):
    with engine.connection():
        first = backend(engine)
    postgres.execute(f"SELECT pg_terminate_backend({first}), pg_sleep(0.2)")
    with pytest.raises(Unavailable):
        engine.atomic(lambda: backend(engine))
    assert engine.atomic(lambda: backend(engine)) != first
