"""What the engine does about servers that stop being the primary."""

import contextlib
from typing import Any

import pytest

from limes.db.connections import parse_database_url
from limes.db.engine import Engine
from limes.db.pool import NotReplicated
from limes.kernel.errors import StartupError, Unavailable
from tests.support.pgbouncer import needs_sessions

ONLY_POSTGRESQL = pytest.mark.parametrize(
    "databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)


def test_several_hosts() -> None:
    address = parse_database_url("postgresql://limes:se%2Ccret@one:5433,two,[::1]:5434/limes?sslmode=require")
    assert address.options == {
        "host": "one,two,::1",
        "port": "5433,5432,5434",
        "user": "limes",
        "password": "se,cret",
        "sslmode": "require",
        "target_session_attrs": "read-write",
    }
    assert address.location == "PostgreSQL database limes on one,two,::1"
    given = parse_database_url("postgresql://one,two/limes?target_session_attrs=any")
    assert given.options["target_session_attrs"] == "any"
    with pytest.raises(StartupError, match="its port has to be a number"):
        parse_database_url("postgresql://one:x,two/limes")


def test_one_host_is_taken_as_it_is() -> None:
    assert parse_database_url("postgresql://one/limes").options == {"host": "one", "port": 5432}
    assert parse_database_url("postgresql:///limes?host=/run/postgresql").options["host"] == "/run/postgresql"


@needs_sessions
@ONLY_POSTGRESQL
@pytest.mark.parametrize("held", [True, False], ids=["held", "not-held"])
@pytest.mark.parametrize("write", ["atomic", "execute"])
def test_a_server_that_accepts_no_writes_any_more_is_left(engine: Engine, write: str, held: bool) -> None:
    """As a primary that has become a standby."""
    engine.execute("CREATE TABLE fruits (id INTEGER)")
    first = engine.rows("SELECT pg_backend_pid()")

    def insert() -> Any:
        return engine.execute("INSERT INTO fruits VALUES (1)")

    engine.execute("SET default_transaction_read_only = on")
    with (
        engine.connection() if held else contextlib.nullcontext(),
        pytest.raises(Unavailable, match="the database accepts no writes just now"),
    ):
        engine.atomic(insert) if write == "atomic" else insert()
    engine.atomic(insert)
    assert engine.rows("SELECT pg_backend_pid()") != first
    assert engine.rows("SELECT COUNT(*) FROM fruits") == [(1,)]


@ONLY_POSTGRESQL
def test_a_commit_that_no_standby_has_confirmed_is_none(engine: Engine) -> None:
    """PostgreSQL would call it a success when the waiting is cut short."""
    engine.execute("CREATE TABLE fruits (id INTEGER)")

    def work() -> None:
        engine.execute("INSERT INTO fruits VALUES (1)")
        engine.db.connection().notices.append(
            "WARNING:  canceling wait for synchronous replication due to user request\n"
        )

    with pytest.raises(Unavailable) as caught:
        engine.atomic(work)
    assert isinstance(caught.value.__cause__, NotReplicated) or "confirmed" in str(caught.value.__cause__)
    engine.atomic(lambda: None)
