"""What is wrong with a database, or with a clock beside its, and what to do, for those who start a process."""

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import peewee
import psycopg2
from peewee import fn

from limes.db import connections, failures, query
from limes.db.engine import Engine
from limes.kernel.errors import StartupError

_ONE = peewee.Select(columns=[peewee.Value(1)])
_NO_TRANSACTIONS = "the pooler takes single statements, but no transactions"
FREE_SPACE = "make room on the disk of PostgreSQL (SHOW data_directory, and df there), or give it a larger one"
_CONNECTION = {
    r"unsupported startup parameter": (
        "this is a connection pooler: leave out database.pooler, or set it to auto or transaction"
    ),
    _NO_TRANSACTIONS: (
        "this pooler gives each statement another connection: set pool_mode = transaction for this database in"
        " pgbouncer.ini"
    ),
    r"no such database|no such user": (
        "name the database {name} and the user {user} to the pooler: [databases] and auth_file in pgbouncer.ini"
    ),
    r"no more connections allowed": (
        "raise max_client_conn of the pooler, or lower database.pool_size and the numbers of workers"
    ),
    r"query_wait_timeout": (
        "raise default_pool_size of the pooler (and max_connections of PostgreSQL), or see who keeps its connections"
    ),
    r"server_login_retry|cannot connect to server|server login failed|server DNS lookup failed": (
        "the pooler answers, but PostgreSQL behind it does not: its log says why"
    ),
    r"password authentication failed|no password supplied|fe_sendauth": (
        "give the right password (LIMES_DB_PASSWORD), or set it there: ALTER ROLE {user} PASSWORD '...'"
    ),
    r'role ".*" does not exist': "make the user there: createuser {user}; or correct the user in database.url",
    r'database ".*" does not exist': "make it: createdb -O {user} {name}; or correct the name in database.url",
    r"permission denied for database": "let the user in: GRANT CONNECT ON DATABASE {name} TO {user}",
    r"no pg_hba\.conf entry|Ident authentication|Peer authentication": "let {user} in by a line of pg_hba.conf",
    r"too many clients|too many connections|remaining connection slots": (
        "raise max_connections of PostgreSQL, or lower database.pool_size and the numbers of workers"
    ),
    r"translate host name|Name or service not known": "correct the host in database.url, or have DNS know it",
    r"SSL|certificate|TLS": "say in database.url how to speak TLS: ?sslmode=verify-full&sslrootcert=/path/to/ca.pem",
    r"refused|timeout|timed out|unreachable|No such file|No route": (
        "start PostgreSQL there, have it listen on that address (listen_addresses), or correct database.url;"
        " look at firewalls between"
    ),
    r"read-write|read-only": "none of the servers named in database.url is the primary: name that one as well",
}
_SCHEMA = {
    r"permission denied for schema (\S+)": (
        'let our user make tables: ALTER DATABASE "{name}" OWNER TO {user}; or GRANT CREATE, USAGE ON SCHEMA {found} TO'
        " {user}"
    ),
    r"permission denied|must be owner": "make our user the owner of the tables: ALTER TABLE ... OWNER TO {user}",
    r"read-only": (
        "name all servers in database.url (postgresql://user@one,two/name), so that the primary is looked for"
    ),
    r"No space left|disk full": FREE_SPACE,
    r"lock timeout": "stop what keeps the tables locked (pg_stat_activity shows it), and try again",
}
_PREAMBLE = re.compile(r"^connection to server .*? failed: FATAL:\s+")


def reason_of(error: Exception) -> str:
    return _PREAMBLE.sub("", failures.first_line(error))


def advise_on_connection(reason: str, address: connections.DatabaseAddress) -> str:
    if address.dialect == "sqlite":
        folder = Path(address.name).absolute().parent
        if not folder.is_dir():
            return f"make its folder: mkdir -p {folder}"
        return f"let our user read and write {address.name}, or restore it from a backup if it is damaged"
    return _advice(_CONNECTION, reason, address) or "correct database.url; psql with the same values says the same"


def advise_on_schema(reason: str, address: connections.DatabaseAddress) -> str | None:
    """Returns what to do where tables cannot be read or made, or None if that is unknown."""
    if address.dialect == "sqlite":
        folder = Path(address.name).absolute().parent
        return f"our user has to be able to write {address.name} and its folder {folder}; df shows whether it is full"
    return _advice(_SCHEMA, reason, address)


def _advice(table: Mapping[str, str], reason: str, address: connections.DatabaseAddress) -> str | None:
    for pattern, advice in table.items():
        if match := re.search(pattern, reason, re.IGNORECASE):
            user = address.options.get("user", "limes")
            return advice.format(user=user, name=address.name, found=match[1] if match.groups() else "")
    return None


def require_answer(engine: Engine) -> None:
    """Raises `StartupError` with one line if the database cannot be used: which, why, and what to do."""
    try:
        try_connection(engine)
    except failures.DATABASE_ERRORS as error:
        reason = reason_of(error)
        advice = advise_on_connection(reason, engine.address)
        raise StartupError(f"cannot use the {engine.location}: {reason}. What to do: {advice}") from None


def try_connection(engine: Engine) -> None:
    """Connects once; if there is a pooler, begins a transaction as well. Raises the driver's errors, or peewee's."""
    with engine.db.connection_context():
        if not engine.behind_pooler:
            return
        engine.db.execute(_ONE)
        try:
            with engine.db.read_only():
                engine.db.execute(_ONE)
        except failures.DATABASE_ERRORS as error:
            raise psycopg2.OperationalError(_NO_TRANSACTIONS) from error


@query.value(float)
def _now() -> query.Node:
    return peewee.Select(columns=[fn.DATE_PART("epoch", fn.CLOCK_TIMESTAMP())])


def ahead_of_database(engine: Engine, wall: Callable[[], float] = time.time) -> float:
    """How many seconds this machine's clock is ahead of PostgreSQL's; negative if it is behind. Does not count what the
    time that the answer took may explain. Raises `Unavailable`."""
    before = wall()
    theirs = _now(engine)
    return max(before - theirs, min(0.0, wall() - theirs))
