"""Whether PostgreSQL has as many connections as our processes may open."""

from collections.abc import Iterator

from limes.collector.http import MOST_CONNECTIONS
from limes.db.engine import Engine
from limes.doctor.finding import Finding, ok, problem, warning
from limes.settings import Settings

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
