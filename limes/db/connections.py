"""From a database's URL to its pool of connections, and what each of them begins with: pragmas, libpq's parameters,
timeouts.
"""

import functools
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

import psycopg2
import psycopg2.extensions
from msgspec import Struct, field

from limes.db.pool import Pooler, PostgresqlPool, SessionSettings, SqlitePool
from limes.db.watch import Patience, Watch
from limes.kernel.errors import StartupError
from limes.kernel.redaction import hosts_of, split_url

Dialect = Literal["sqlite", "postgresql"]
# SQLite's write lock is not given in turn but by chance, so the wait has to be long. It is set first:
# switching to WAL needs a lock as well.
SQLITE_PRAGMAS = {"busy_timeout": 30_000, "journal_mode": "wal", "foreign_keys": 1, "synchronous": "normal"}
# With the system's defaults, a server that vanishes without a word would be noticed after a quarter of an hour.
_PATIENCE = {
    "connect_timeout": 10,
    "tcp_user_timeout": 15_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
_LARGEST = 2**63 - 1
_LONGER = 10.0
"""Seconds after `statement_timeout` until a statement ends on our side. PostgreSQL has no limit for a commit that waits
for a standby, and cannot end a statement that waits for a disk."""
_RESTING = 8.0
"""Seconds that a transaction of ours may do nothing. If its host is frozen, others wait so long for what it has locked,
which is shorter than their `lock_timeout`. We only compute between statements: backends are asked without a
transaction, and what is sent to clients has a limit of its own."""


class DatabaseAddress(Struct, frozen=True):
    """Where a database is. `location` is for messages and has no password in it."""

    dialect: Dialect
    name: str
    """The file's path, or the name of the database on the server."""
    location: str
    options: dict[str, Any] = field(default_factory=dict)
    __repr__ = object.__repr__  # without the password


def parse_database_url(url: str, setting: str = "database.url") -> DatabaseAddress:
    """Reads `sqlite:///relative/path`, `sqlite:////absolute/path` or `postgresql://user:pass@host:port/name?options`.

    Several hosts may be given, as for libpq: `postgresql://user@one:5432,two:5432/name`. Then the one that accepts
    writes is looked for (`target_session_attrs=read-write`, if the URL does not say otherwise).

    Raises `StartupError` with one line that names the `setting` that the URL comes from."""
    try:
        parts = split_url(url)
        hosts = [urlsplit(f"//{host}") for host in hosts_of(url)]
        ports = [host.port or 5432 for host in hosts]
    except ValueError:
        raise StartupError(f"{setting}: not a URL; its port has to be a number from 1 to 65535") from None
    if parts.scheme == "sqlite":
        path = unquote(parts.path)[1:]
        if not path or path == ":memory:":
            raise StartupError(f"{setting}: an in-memory SQLite database cannot be shared; give a file's path")
        if parts.netloc:
            raise StartupError(f"{setting}: expected sqlite:///relative/path or sqlite:////absolute/path")
        return DatabaseAddress("sqlite", path, f"SQLite file {path}")
    if parts.scheme not in ("postgresql", "postgres"):
        raise StartupError(
            f"{setting}: unknown scheme {parts.scheme!r}, expected sqlite:///path or postgresql://host/name"
        )
    from_url = {
        "host": ",".join(host.hostname or "" for host in hosts),
        "user": unquote(parts.username) if parts.username else None,
        "password": unquote(parts.password) if parts.password else None,
    }
    default: dict[str, Any] = {"port": ",".join(map(str, ports)) if len(ports) > 1 else ports[0]}
    if len(ports) > 1:
        default["target_session_attrs"] = "read-write"
    options = {**default, **dict(parse_qsl(parts.query)), **{key: value for key, value in from_url.items() if value}}
    name = str(options.pop("dbname", None) or unquote(parts.path)[1:] or "limes")
    shown_host = options.get("host", "the default socket")
    return DatabaseAddress("postgresql", name, f"PostgreSQL database {name} on {shown_host}", options)


# PostgreSQL's sum() of BIGINTs is NUMERIC, so that it cannot overflow. Ours are all whole: make them int, not Decimal.
psycopg2.extensions.register_type(
    psycopg2.extensions.new_type((1700,), "NUMERIC_AS_INT", lambda value, _: None if value is None else int(value))
)


class SaturatingSum:
    """SQLite's `SUM`, except that it stops at the largest integer of the database. With its own, a statement fails if a
    sum does not fit into 64 bits. PostgreSQL's is NUMERIC and has no limit."""

    def __init__(self) -> None:
        self._total: int | float | None = None

    def step(self, value: int | float | None) -> None:
        if value is not None:
            self._total = value if self._total is None else self._total + value

    def finalize(self) -> int | float | None:
        if isinstance(self._total, int):
            return max(-_LARGEST, min(self._total, _LARGEST))
        return self._total


def make_pool(
    address: DatabaseAddress,
    *,
    size: int,
    timeout: float,
    statement_timeout: float,
    lock_timeout: float,
    application_name: str,
    pooler: Pooler,
    patience: Patience,
) -> SqlitePool | PostgresqlPool:
    """Returns a pool of at most `size` connections. A thread waits `timeout` seconds for one. Nothing is connected yet.
    The other arguments are for PostgreSQL; libpq's parameters in the address have precedence."""
    if address.dialect == "sqlite":
        pool = SqlitePool(
            address.name,
            max_connections=size,
            timeout=timeout,
            pragmas=SQLITE_PRAGMAS,
            lock_type="IMMEDIATE",
            check_same_thread=False,
        )
        pool.register_aggregate(SaturatingSum, "sum", 1)
        return pool
    timeouts = {
        "statement_timeout": statement_timeout,
        "lock_timeout": lock_timeout,
        "idle_in_transaction_session_timeout": min(_RESTING, 4 * statement_timeout),
    }
    limit = statement_timeout + _LONGER if statement_timeout else None
    options: dict[str, Any] = {"application_name": application_name} | _PATIENCE | address.options
    return PostgresqlPool(
        address.name,
        settings=SessionSettings(f"-c jit=off {options.pop('options', '')}".strip(), timeouts),
        sending_timeout=4 * statement_timeout,
        pooler=pooler,
        make_watch=functools.partial(Watch, address.location, patience, limit),
        max_connections=size,
        timeout=timeout,
        stale_timeout=300,
        **options,
    )
