"""A real PgBouncer between us and PostgreSQL: nothing that belongs to a session is used, and nothing is lost by that."""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import peewee
import psycopg2
import pytest
from peewee import Table

from limes.db.advice import require_answer
from limes.db.compiled import Compiled
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.kernel.errors import StartupError, Unavailable
from limes.placement.migrations import placement_migrations
from tests.bench.statements import statements_of
from tests.db.accounts import ACCOUNTS
from tests.support.pgbouncer import PgBouncer, pgbouncer
from tests.support.postgres import PostgresServer
from tests.support.processes import eventually
from tests.support.writers import increment, run_in_processes

SHORT = 0.3
MODES = pytest.mark.parametrize("mode", ["transaction", "session"])
IGNORED = pytest.mark.parametrize("ignored", ["", "options"], ids=["options are refused", "options are ignored"])


class Number(NamedTuple):
    number: int


@pytest.fixture(scope="module")
def pooler(postgres: PostgresServer) -> Iterator[PgBouncer]:
    with pgbouncer(postgres.port) as one:
        yield one


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[str]:
    """The name of a new database."""
    name = postgres.create_database()
    yield name
    postgres.drop_database(name)


@pytest.fixture
def make_engine(pooler: PgBouncer, database: str) -> Iterator[Callable[..., Engine]]:
    """Makes engines that use the database by way of the pooler, and closes them."""
    made: list[Engine] = []

    def make(query: str = "", **options: Any) -> Engine:
        made.append(Engine(pooler.url(database) + query, **options))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """One that has found the pooler, with a table of accounts."""
    engine = make_engine()
    engine.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, amount BIGINT NOT NULL)")
    engine.execute("INSERT INTO accounts SELECT number, 100 FROM generate_series(1, 5000) number")
    return engine


def settings_of(engine: Engine) -> list[tuple[Any, ...]]:
    return engine.rows(
        "SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),"
        " current_setting('idle_in_transaction_session_timeout'), current_setting('jit')"
    )


@MODES
@IGNORED
def test_it_is_found_and_the_timeouts_are_in_force(
    pooler: PgBouncer, make_engine: Callable[..., Engine], mode: str, ignored: str
) -> None:
    pooler.configure(pool_mode=mode, ignore_startup_parameters=ignored)
    try:
        engine = make_engine(statement_timeout=7, lock_timeout=3)
        assert not engine.behind_pooler  # before it has asked
        expected = [("7s", "3s", "8s", "off")]
        assert settings_of(engine) == expected
        assert engine.behind_pooler
        assert engine.atomic(lambda: settings_of(engine)) == expected
        assert engine.snapshot(lambda: settings_of(engine)) == expected
        sent = list(engine.snapshot_stream(lambda: iter(settings_of(engine))))
        assert sent == [("7s", "3s", "28s", "off")]
    finally:
        pooler.configure(pool_mode="transaction", ignore_startup_parameters="")


def test_it_is_known_from_the_configuration(make_engine: Callable[..., Engine]) -> None:
    engine = make_engine(pooler="transaction", statement_timeout=7)
    assert engine.behind_pooler
    assert settings_of(engine) == [("7s", "10s", "8s", "off")]


def test_a_configuration_that_denies_it(make_engine: Callable[..., Engine]) -> None:
    with pytest.raises(StartupError, match=r"unsupported startup parameter.* leave out database.pooler"):
        require_answer(make_engine(pooler="none"))


def test_there_is_none(postgres: PostgresServer, database: str) -> None:
    for pooler in ("auto", "none"):
        engine = Engine(postgres.own_url(database), pooler=pooler)  # type: ignore[arg-type]
        engine.ping()
        assert not engine.behind_pooler
        engine.close()


def test_round_trips_are_the_same(engine: Engine, postgres: PostgresServer, database: str) -> None:
    direct = Engine(postgres.own_url(database))
    query = Compiled(lambda p: ACCOUNTS.select(ACCOUNTS.amount).where(ACCOUNTS.id == p.id))

    def count(one: Engine) -> tuple[int, int]:
        def write() -> None:
            one.column(query, id=1)
            one.execute("UPDATE accounts SET amount = 7 WHERE id = 1")

        one.ping()
        with statements_of(postgres) as counted, one.connection():
            one.column(query, id=1)
            one.atomic(write)
            one.snapshot(lambda: one.column(query, id=2))
        return counted.frame, counted.work

    assert count(direct) == count(engine) == (2, 4)  # each BEGIN goes with what follows it
    direct.close()


def test_others_do_not_get_our_settings(engine: Engine, pooler: PgBouncer, database: str) -> None:
    engine.atomic(lambda: settings_of(engine))
    other = psycopg2.connect(pooler.url(database))
    with other.cursor() as cursor:
        for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            cursor.execute(f"SHOW {name}")
            assert cursor.fetchone() == ("0",)
    other.close()


def test_settings_of_the_url(make_engine: Callable[..., Engine]) -> None:
    query = r"?options=-c%20search_path=one,two%20--work-mem=5MB%20-cDateStyle=ISO,\%20DMY%20-cjit=on"
    engine = make_engine(query)
    expected = [("one,two", "5MB", "ISO, DMY", "on")]
    names = ("search_path", "work_mem", "datestyle", "jit")
    sql = "SELECT " + ", ".join(f"current_setting('{name}')" for name in names)
    assert engine.rows(sql) == engine.atomic(lambda: engine.rows(sql)) == expected


def test_a_statement_that_takes_too_long(make_engine: Callable[..., Engine]) -> None:
    engine = make_engine(statement_timeout=SHORT)

    def sleep() -> Any:
        return engine.rows("SELECT pg_sleep(200)")

    for run in (sleep, lambda: engine.atomic(sleep), lambda: engine.snapshot(sleep)):
        with pytest.raises(Unavailable, match="took too long"):
            run()
    engine.ping()


def test_a_lock_that_is_not_free(engine: Engine, make_engine: Callable[..., Engine]) -> None:
    other = make_engine(lock_timeout=SHORT)

    def update(by: Engine) -> int:
        return by.execute("UPDATE accounts SET amount = 7 WHERE id = 1")

    def hold() -> None:
        update(engine)
        for run in (lambda: update(other), lambda: other.atomic(lambda: update(other))):
            with pytest.raises(Unavailable, match="a lock was not free in time"):
                run()

    engine.atomic(hold)
    assert update(other) == 1


def test_a_transaction_that_rests_too_long(engine: Engine, make_engine: Callable[..., Engine]) -> None:
    other = make_engine(statement_timeout=SHORT)  # a transaction may rest four times as long
    held = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"

    def rest() -> None:
        other.execute("UPDATE accounts SET amount = 7 WHERE id = 1")
        eventually("the transaction was ended", lambda: engine.rows(held) == [(0,)])
        other.ping()

    with pytest.raises(Unavailable):
        other.atomic(rest)
    assert engine.rows("SELECT amount FROM accounts WHERE id = 1") == [(100,)]
    other.ping()


def test_nothing_is_prepared_on_the_servers_side(engine: Engine, make_engine: Callable[..., Engine]) -> None:
    """Two processes would meet each other's statements there."""
    query = Compiled(lambda p: ACCOUNTS.select(ACCOUNTS.amount).where(ACCOUNTS.id == p.id), prepare=True)
    for one in (engine, make_engine(), make_engine()):
        assert [one.column(query, id=number) for number in (1, 2)] == [[100], [100]]
    assert engine.rows("SELECT COUNT(*) FROM pg_prepared_statements") == [(0,)]


def test_prepared_statements_of_others_are_not_mistaken_for_ours(make_engine: Callable[..., Engine]) -> None:
    """Where the pooler is not known, a connection may have what another process has prepared there."""
    engines = [make_engine("?target_session_attrs=any", pooler="transaction") for _ in range(2)]
    for number, engine in enumerate(engines):
        engine.db.behind_pooler = False  # type: ignore[union-attr]  # as if it had not been found
        query = Compiled(
            lambda p, number=number: peewee.Select(columns=[p.number.cast("INTEGER") + number]), prepare=True
        )
        assert [engine.column(query, number=10) for _ in range(3)] == [[10 + number]] * 3


def test_a_stream_takes_one_connection_and_leaves_no_cursor(engine: Engine, pooler: PgBouncer) -> None:
    numbers = Table("accounts", ["id", "amount"])
    query = Compiled(lambda p: numbers.select(numbers.id).order_by(numbers.id))

    def read() -> Iterator[Number]:
        return engine.stream(query, Number)

    for _ in range(3):
        assert [row.number for row in engine.snapshot_stream(read)] == list(range(1, 5001))
        pieces = engine.snapshot_stream(read)
        assert [row.number for row in itertools.islice(pieces, 1500)] == list(range(1, 1501))
        pieces.close()
        assert engine.rows("SELECT COUNT(*) FROM pg_cursors") == [(0,)]
    with pytest.raises(AssertionError, match="outside of a transaction"):
        next(read())


@pytest.mark.parametrize("size", ["1", "10"], ids=["one connection", "enough connections"])
def test_several_processes_upgrade_at_once(pooler: PgBouncer, database: str, size: str) -> None:
    pooler.configure(default_pool_size=size)
    try:
        engines = [Engine(pooler.url(database)) for _ in range(4)]

        def upgrade(engine: Engine) -> None:
            for half in (limes_migrations, placement_migrations):
                half.upgrade(engine)

        with ThreadPoolExecutor(3) as threads:
            list(threads.map(upgrade, engines[:3]))
        engine = engines[3]
        limes_migrations.check(engine)
        placement_migrations.check(engine)
        for one in engines:
            one.close()
    finally:
        pooler.configure(default_pool_size="10")


def test_many_clients_of_few_connections(engine: Engine, pooler: PgBouncer, database: str) -> None:
    pooler.configure(default_pool_size="3")
    try:
        engine.execute("CREATE TABLE counters (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)")
        engine.execute("CREATE TABLE writers (process INTEGER NOT NULL)")
        engine.execute("INSERT INTO counters VALUES (1, 0)")
        assert run_in_processes(4, increment, pooler.url(database), 50) == [50] * 4
        assert engine.rows("SELECT value FROM counters") == [(200,)]
    finally:
        pooler.configure(default_pool_size="10")


def test_no_connection_is_free_in_time(engine: Engine, pooler: PgBouncer, make_engine: Callable[..., Engine]) -> None:
    pooler.configure(default_pool_size="1", query_wait_timeout="1")
    try:
        other = make_engine()

        def hold() -> None:
            engine.ping()
            with pytest.raises(Unavailable, match="the database does not answer"):
                other.ping()

        engine.atomic(hold)
        other.ping()
    finally:
        pooler.configure(default_pool_size="10", query_wait_timeout="20")


def test_statement_pooling_is_refused_at_the_start(pooler: PgBouncer, make_engine: Callable[..., Engine]) -> None:
    pooler.configure(pool_mode="statement")
    try:
        with pytest.raises(StartupError, match="pool_mode = transaction"):
            require_answer(make_engine())
    finally:
        pooler.configure(pool_mode="transaction")


def test_a_restart_between_two_statements_is_not_noticed(engine: Engine, pooler: PgBouncer) -> None:
    for run in (
        lambda: engine.rows("SELECT amount FROM accounts WHERE id = 1"),
        lambda: engine.snapshot(lambda: engine.rows("SELECT amount FROM accounts WHERE id = 1")),
        lambda: engine.atomic(lambda: engine.execute("UPDATE accounts SET amount = amount + 1 WHERE id = 2")),
    ):
        engine.ping()
        pooler.process.stop()
        pooler.process.start()
        run()
    assert engine.rows("SELECT amount FROM accounts WHERE id = 2") == [(101,)]


def test_a_restart_in_a_transaction_undoes_it(engine: Engine, pooler: PgBouncer) -> None:
    def work() -> None:
        engine.execute("UPDATE accounts SET amount = 7 WHERE id = 1")
        pooler.process.stop()
        pooler.process.start()
        engine.execute("UPDATE accounts SET amount = 7 WHERE id = 2")

    with pytest.raises(Unavailable):
        engine.atomic(work)
    assert engine.rows("SELECT COUNT(*) FROM accounts WHERE amount = 7") == [(0,)]
