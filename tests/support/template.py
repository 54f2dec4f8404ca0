"""A migrated PostgreSQL database that tests get copies of. A copy that a test has used is made like new, and used again.

This takes a fifth of what a new copy takes. A copy whose schema or settings were changed, or that somebody still uses, is
dropped instead.
"""

import contextlib
import time
from dataclasses import dataclass
from typing import Any

import psycopg2
from psycopg2.extras import Json

from tests.support.postgres import PostgresServer

_FIRST_OF_OURS = 16384
"""PostgreSQL's own objects have lower numbers."""
_LARGE = 8 * 8192
"""Bytes of a table that is truncated. The planner takes smaller ones that were never analyzed to be all equally large."""
_GRACE = 0.1
"""Seconds within which closed sessions have ended. Where they have not, a new database is made."""

_CATALOGS = (
    "attrdef",
    "attribute",
    "constraint",
    "default_acl",
    "event_trigger",
    "extension",
    "index",
    "policy",
    "proc",
    "publication",
    "rewrite",
    "statistic",
    "statistic_ext",
    "trigger",
    "type",
)
_SCHEMA = "\nUNION ALL ".join(
    [
        "SELECT count(*), sum(hashtextextended((oid, relname, relnamespace, relowner, relam, relkind, relpersistence,"
        " relreplident, relrowsecurity, relforcerowsecurity, relacl, reloptions)::text, 0))"
        f" FROM pg_class WHERE oid >= {_FIRST_OF_OURS}",
        "SELECT count(*), sum(hashtextextended(t::text, 0))"
        r" FROM pg_namespace t WHERE nspname !~ '^pg_(toast_)?temp_'",
        "SELECT datconnlimit, hashtextextended((datdba, datacl, datallowconn)::text, 0)"
        " FROM pg_database WHERE datname = current_database()",
        "SELECT count(*), 0 FROM pg_db_role_setting JOIN pg_database d ON d.oid = setdatabase"
        " WHERE datname = current_database()",
        *(f"SELECT count(*), max(xmin::text::bigint) FROM pg_{name}" for name in _CATALOGS),
    ]
)
"""What any change of the schema changes: the catalogs' rows are counted, and none of them is written anew."""

_EMPTY = """\
DO $do$
DECLARE large text;
BEGIN
    SELECT string_agg(oid::regclass::text, ', ') INTO large FROM pg_class
        WHERE oid >= {first} AND relkind = 'r' AND pg_relation_size(oid) > {large};
    IF large IS NOT NULL THEN
        EXECUTE 'TRUNCATE ' || large || ' RESTART IDENTITY CASCADE';
    END IF;
END $do$;
{deletes};
{rows}
SELECT setval(oid::regclass, value, used) FROM (VALUES {sequences}) AS sequence (oid, value, used)
    WHERE NOT used OR pg_sequence_last_value(oid) IS DISTINCT FROM value;
DELETE FROM pg_statistic WHERE starelid >= {first} AND starelid::bigint <> ALL ('{{{analyzed}}}');
DELETE FROM pg_statistic_ext_data;
UPDATE pg_class SET relpages = pages, reltuples = tuples, relallvisible = visible
    FROM (VALUES {sizes}) AS size (number, pages, tuples, visible)
    WHERE oid = number AND (relpages, reltuples, relallvisible) <> (pages, tuples, visible);
SELECT pg_stat_reset();
EXECUTE fingerprint
"""
"""All in one go, and one transaction."""

_PREPARE = f"""\
SET application_name = 'what empties databases';
SET session_replication_role = replica;
SET track_counts = off;
PREPARE fingerprint AS SELECT array_agg(line::text) FROM ({_SCHEMA}) AS line;
EXECUTE fingerprint
"""


@dataclass
class Copy:
    """One of them. A connection stays, since it knows the tables."""

    name: str
    connection: Any = None


class Template:
    """The database, with the copies that no test uses at the moment."""

    def __init__(self, server: PostgresServer, name: str) -> None:
        """Nobody may be connected to it any more."""
        self._server = server
        self._name = name
        self._idle: list[Copy] = []
        with contextlib.closing(server.connect(name)) as connection:
            self._fingerprint = _rows(connection, _PREPARE)
            self._statement = _statement(connection)
        assert self._is_left(Copy(name), grace=60), "a database that is in use cannot be copied"

    def take(self) -> Copy:
        """One that is like new."""
        return self._idle.pop() if self._idle else Copy(self._server.create_database(self._name))

    def give_back(self, copy: Copy) -> None:
        """Whoever has used it should have closed all connections."""
        if self._is_left(copy, _GRACE) and self._empty(copy):
            self._idle.append(copy)
            return
        if copy.connection is not None:
            copy.connection.close()
        self._server.drop_database(copy.name)

    def _is_left(self, copy: Copy, grace: float) -> bool:
        """Whether nobody is connected any more."""
        own = copy.connection.info.backend_pid if copy.connection else 0
        others = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{copy.name}' AND pid <> {own}"
        deadline = time.monotonic() + grace
        while self._server.execute(others) != [(0,)]:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True

    def _empty(self, copy: Copy) -> bool:
        """Whether it is like new now."""
        try:
            if copy.connection is None:
                copy.connection = self._server.connect(copy.name)
                _rows(copy.connection, _PREPARE)
            return _rows(copy.connection, self._statement) == self._fingerprint
        except psycopg2.Error:  # a table is gone, nobody may write, our session was ended as well
            return False


def _statement(connection: Any) -> str:
    """What makes a copy of this database like new. Its last row is the fingerprint."""
    own = f"oid >= {_FIRST_OF_OURS}"
    tables = [
        name for (name,) in _rows(connection, f"SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND {own}")
    ]
    sequences = [
        row
        for number, name in _rows(connection, "SELECT seqrelid, seqrelid::regclass::text FROM pg_sequence")
        for row in _rows(connection, f"SELECT {number}, last_value, is_called FROM {name}")
    ]
    sizes = f"relpages, reltuples, relallvisible FROM pg_class WHERE relkind IN ('r', 'i', 't') AND {own}"
    analyzed = f"SELECT DISTINCT starelid::text FROM pg_statistic WHERE starelid >= {_FIRST_OF_OURS}"
    return _EMPTY.format(
        first=_FIRST_OF_OURS,
        large=_LARGE,
        deletes=";\n".join(f"DELETE FROM {table}" for table in tables),
        rows="\n".join(_insert(connection, table) for table in tables),
        sequences=_values(sequences),
        analyzed=", ".join(number for (number,) in _rows(connection, analyzed)),
        sizes=_values(_rows(connection, f"SELECT oid, {sizes}")),
    )


def _insert(connection: Any, table: str) -> str:
    """Puts back what migrations have written into a table."""
    ((rows,),) = _rows(connection, f"SELECT json_agg(t) FROM {table} t")
    if not rows:
        return ""
    documents = Json(rows).getquoted().decode()
    return f"INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::{table}, {documents});"


def _values(rows: list[tuple[Any, ...]]) -> str:
    return ", ".join(f"({', '.join(map(str, row))})" for row in rows)


def _rows(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
