"""Whether a connection pooler is in front of PostgreSQL, how it shares connections, and whether our timeouts hold."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from peewee import Select, fn

from limes.db.engine import Engine
from limes.db.pool import PostgresqlPool
from limes.doctor.connections import connections_needed
from limes.doctor.finding import Finding, ok, problem, skipped
from limes.errors import Unavailable
from limes.settings import Settings

_PROCESS = Select(columns=[fn.pg_backend_pid()])
_TRIES = 10


def check_pooler(name: str, engine: Engine, settings: Settings) -> Iterator[Finding]:
    """Looks at the connections of PostgreSQL. `name` begins the findings' names."""
    check = f"{name}.pooler"
    try:
        yield _look(check, engine, connections_needed(settings, placement_only=name.endswith(".placement")))
    except Unavailable as error:
        yield skipped(check, str(error))


def _look(check: str, engine: Engine, need: int) -> Finding:
    if not timeouts_hold(engine):
        text = "PostgreSQL does not have our timeouts, so a pooler is in front of it that database.pooler denies"
        return problem(check, text, "leave out database.pooler, or set it to auto or transaction")
    if not engine.behind_pooler:
        return ok(check, "no connection pooler is in front of PostgreSQL")
    if shares_connections(engine):
        return ok(check, "a connection pooler is in front of PostgreSQL, in transaction mode; our timeouts hold")
    text = "a connection pooler is in front of PostgreSQL; our timeouts hold. It is very busy, or in session mode:"
    return ok(check, f"{text} then its default_pool_size has to be {need} or more")


def timeouts_hold(engine: Engine) -> bool:
    """Returns whether a transaction runs with the timeouts of the configuration."""
    if not isinstance(engine.db, PostgresqlPool):
        return True
    settings = engine.db.settings
    (values,) = engine.snapshot(lambda: engine.tuples(Select(columns=settings.timeouts_in_force())))
    return settings.has_timeouts(values)


def shares_connections(engine: Engine) -> bool:
    """Returns whether one process of PostgreSQL was seen to serve two of our connections."""
    with ThreadPoolExecutor(1) as other:
        for _ in range(_TRIES):
            with engine.connection():
                if engine.column(_PROCESS) == other.submit(engine.column, _PROCESS).result():
                    return True
    return False
