"""The connections to PostgreSQL: whether there are enough, and what a pooler in front of it does to them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from peewee import Select, fn

from limes.collector.http import MOST_CONNECTIONS
from limes.db.engine import Engine
from limes.db.pool import PostgresqlPool
from limes.doctor.finding import Finding, ok, problem, skipped, warning
from limes.errors import Unavailable
from limes.settings import Settings

_PROCESS = Select(columns=[fn.pg_backend_pid()])
_TRIES = 10
# SQL text: PostgreSQL's settings and statistics have no models
_SQL = """
SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
       (SELECT count(*) FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND application_name LIKE 'limes%%'),
       (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user),
       (SELECT datconnlimit FROM pg_database WHERE datname = current_database())
"""


def check_connections(name: str, engine: Engine, settings: Settings) -> Iterator[Finding]:
    """Compares what one of each process needs with what the server gives. `name` begins the findings' names."""
    check = f"{name}.connections"
    need = connections_needed(settings, placement_only=name.endswith(".placement"))
    if engine.behind_pooler:
        yield ok(check, f"one of each process opens up to {need} connections to the pooler: see its max_client_conn")
        yield from _pool_size(name, settings)
        return
    ((most, used, ours, of_role, of_database),) = engine.rows(_SQL)
    limits = {"max_connections": most, "the user's CONNECTION LIMIT": of_role, "the database's": of_database}
    setting, limit = min(((key, value) for key, value in limits.items() if value >= 0), key=lambda item: item[1])
    others = max(0, used - ours)
    free = limit - (others if setting == "max_connections" else 0)
    text = f"one of each process opens up to {need} connections; {limit} are allowed ({setting})"
    mend = "raise that limit, or lower database.pool_size, or the workers and threads of api and placement"
    if need > limit:
        yield problem(check, text, mend)
    elif need > free:
        yield warning(check, f"{text}, and others use {others} of them", mend)
    else:
        yield ok(check, text)
    yield from _pool_size(name, settings)


def _pool_size(name: str, settings: Settings) -> Iterator[Finding]:
    pool = settings.database.pool_size
    for section, threads in (("api", settings.api.threads), ("placement", settings.placement.threads)):
        if threads > pool:
            text = f"{section}.threads is {threads}, but only {pool} of them can use the database at a time"
            yield warning(f"{name}.pool", text, f"set database.pool_size to {threads}")


def connections_needed(settings: Settings, *, placement_only: bool = False) -> int:
    """Returns the most connections of one API, one Placement, one collector and one `limes metrics` together."""
    pool = settings.database.pool_size
    placement = settings.placement.workers * min(pool, settings.placement.threads)
    if placement_only:
        return placement
    limes = settings.api.workers * min(pool, settings.api.threads) + pool  # the collector's
    limes += min(pool, MOST_CONNECTIONS)  # of `limes metrics`
    shares = settings.placement.database_url in (None, settings.database.url)
    return limes + (placement if shares else 0)


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
