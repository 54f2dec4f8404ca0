"""What only PostgreSQL has: connections, whether there are enough and what a pooler does to them, and standbys. Each
check begins its findings' names with `name`, that of the database."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from peewee import Select, fn

from limes.app.databases import open_standbys, read_urls
from limes.app.settings import Settings
from limes.collector.http import MOST_CONNECTIONS
from limes.db import advice, failures, standbys
from limes.db.engine import Engine
from limes.db.pool import PostgresqlPool
from limes.kernel.errors import LimesError, Unavailable
from limes.kernel.findings import Finding, ok, problem, skipped, warning

_PROCESS = Select(columns=[fn.pg_backend_pid()])
_TRIES = 10
# SQL text: PostgreSQL's settings, statistics and control data have no models
_CLUSTER = "SELECT system_identifier FROM pg_control_system()"
_LIMITS = """
SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
       (SELECT count(*) FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND application_name LIKE 'limes%%'),
       (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user),
       (SELECT datconnlimit FROM pg_database WHERE datname = current_database())
"""
_SERVER = Select(columns=[fn.pg_postmaster_start_time().cast("text")])
_POLL_SECONDS = 0.1


def check_connections(name: str, engine: Engine, settings: Settings) -> Iterator[Finding]:
    """Compares what one of each process needs with what the server gives."""
    check, need = f"{name}.connections", _connections_needed(name, settings)
    if engine.behind_pooler:
        yield ok(check, f"one of each process opens up to {need} connections to the pooler: see its max_client_conn")
    else:
        yield _compare_connections(check, engine, need)
    pool = settings.database.pool_size
    for section, threads in (("api", settings.api.threads), ("placement", settings.placement.threads)):
        if threads > pool:
            text = f"{section}.threads is {threads}, but only {pool} of them can use the database at a time"
            yield warning(f"{name}.pool", text, f"set database.pool_size to {threads}")


def _compare_connections(check: str, engine: Engine, need: int) -> Finding:
    ((most, used, ours, of_role, of_database),) = engine.rows(_LIMITS)
    limits = {"max_connections": most, "the user's CONNECTION LIMIT": of_role, "the database's": of_database}
    setting, limit = min(((key, value) for key, value in limits.items() if value >= 0), key=lambda item: item[1])
    others = max(0, used - ours)
    free = limit - (others if setting == "max_connections" else 0)
    text = f"one of each process opens up to {need} connections; {limit} are allowed ({setting})"
    mend = "raise that limit, or lower database.pool_size, or the workers and threads of api and placement"
    if need > limit:
        return problem(check, text, mend)
    if need > free:
        return warning(check, f"{text}, and others use {others} of them", mend)
    return ok(check, text)


def _connections_needed(name: str, settings: Settings) -> int:
    """Returns the most connections of one API, one Placement, one collector and one `limes metrics` together."""
    pool = settings.database.pool_size
    placement = settings.placement.workers * min(pool, settings.placement.threads)
    if name.endswith(".placement"):
        return placement
    limes = settings.api.workers * min(pool, settings.api.threads) + pool  # the collector's
    limes += min(pool, MOST_CONNECTIONS)  # of `limes metrics`
    shares = settings.placement.database_url in (None, settings.database.url)
    return limes + (placement if shares else 0)


def check_pooler(name: str, engine: Engine, settings: Settings) -> Finding:
    check = f"{name}.pooler"
    try:
        if not _timeouts_hold(engine):
            text = "PostgreSQL does not have our timeouts, so a pooler is in front of it that database.pooler denies"
            return problem(check, text, "leave out database.pooler, or set it to auto or transaction")
        if not engine.behind_pooler:
            return ok(check, "no connection pooler is in front of PostgreSQL")
        if _shares_connections(engine):
            return ok(check, "a connection pooler is in front of PostgreSQL, in transaction mode; our timeouts hold")
    except Unavailable as error:
        return skipped(check, str(error))
    text = "a connection pooler is in front of PostgreSQL; our timeouts hold. It is very busy, or in session mode:"
    return ok(check, f"{text} then its default_pool_size has to be {_connections_needed(name, settings)} or more")


def _timeouts_hold(engine: Engine) -> bool:
    """Returns whether a transaction runs with the timeouts of the configuration."""
    if not isinstance(engine.db, PostgresqlPool):
        return True
    settings = engine.db.settings
    (values,) = engine.snapshot(lambda: engine.tuples(Select(columns=settings.timeouts_in_force())))
    return settings.has_timeouts(values)


def _shares_connections(engine: Engine) -> bool:
    """Returns whether one process of PostgreSQL was seen to serve two of our connections."""
    with ThreadPoolExecutor(1) as other:
        for _ in range(_TRIES):
            with engine.connection():
                if engine.column(_PROCESS) == other.submit(engine.column, _PROCESS).result():
                    return True
    return False


def check_standbys(name: str, primary: Engine, settings: Settings) -> Iterator[Finding]:
    """Whether each standby is reachable, of the same cluster, and not too far behind. The primary must answer."""
    of_placement = name.endswith(".placement")
    setting, _ = read_urls(settings, of_placement=of_placement)
    for standby in open_standbys(settings, "limes-doctor", of_placement=of_placement):
        check = f"{name}.standby.{standby.name}"
        try:
            with primary.connection():
                yield _look_at(check, primary, standby, setting, settings.database.max_replica_lag)
        except (LimesError, *failures.DATABASE_ERRORS) as error:
            yield skipped(check, str(error))
        finally:
            standby.engine.close()


def _look_at(check: str, primary: Engine, standby: standbys.Standby, setting: str, max_lag: float) -> Finding:
    engine = standby.engine
    try:
        engine.db.connect()
    except failures.DATABASE_ERRORS as error:
        reason = advice.reason_of(error)
        mend = advice.advise_on_connection(reason, engine.address)
        return warning(check, f"{engine.location}: {reason}; the primary answers its reads", mend)
    try:
        if engine.rows(_CLUSTER) != primary.rows(_CLUSTER):
            mend = f"name standbys of database.url in {setting}"
            return problem(check, f"{standby.name} is no copy of the primary: it belongs to another cluster", mend)
        is_primary = engine.column(_SERVER) == primary.column(_SERVER)
        positions = standbys.PrimaryPositions(primary, 0)
        wanted, until = positions.ask(), time.monotonic() + max_lag
        while (seen := standby.ask(positions.epoch)) is not None and seen.position < wanted:
            if time.monotonic() >= until:
                text = f"{standby.name} is more than {max_lag:g} s behind; the primary answers its reads"
                return warning(check, text, "look at pg_stat_replication on the primary, or raise max_replica_lag")
            time.sleep(_POLL_SECONDS)
    except failures.DATABASE_ERRORS as error:
        return warning(check, f"{standby.name}: {failures.first_line(error)}", "look at its log")
    finally:
        engine.db.close()
    if seen is None and is_primary:
        return ok(check, f"{standby.name} is the primary at present, and left out")
    if seen is None:
        mend = f"take it out of {setting}, or make it a standby again"
        return warning(check, f"{standby.name} is no standby: it accepts writes; the primary answers its reads", mend)
    return ok(check, f"{standby.name} follows the primary")
