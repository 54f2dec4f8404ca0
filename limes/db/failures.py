"""What an error of the database means for its caller."""

import re
import sqlite3
from enum import Enum

import peewee
import psycopg2

DATABASE_ERRORS = (peewee.PeeweeException, psycopg2.Error, sqlite3.Error)
"""What peewee and both drivers raise. peewee wraps the drivers' errors, except while rows are fetched."""
_NO_CONNECTIONS = re.compile("too many (clients|connections)|remaining connection slots|no more connections allowed")
"""Who is refused a connection gets only a text."""
_SQLITE_GONE = ("SQLITE_CANTOPEN", "SQLITE_CORRUPT", "SQLITE_IOERR", "SQLITE_NOTADB", "SQLITE_PROTOCOL")


class Failure(Enum):
    """What to do about an error, and what to say if that does not help."""

    COLLISION = "the database is too busy; try again"
    """This transaction collided with another one and was rolled back: run it again."""
    UNPREPARED = "the database has lost its prepared statements; try again"
    """A prepared statement cannot be used (`limes.db.statements`): run it, or its transaction, again."""
    BUSY = "the database is too busy: a lock was not free in time; try again"
    """A lock was not free in time. No use to try again: it has waited already."""
    TOO_SLOW = "the database took too long over this request; try again or ask for less"
    GONE = "the database does not answer"
    """Not reachable, shutting down, or broken."""
    FULL = "the disk of the database is full"
    EXHAUSTED = "the database has no connections or no memory left; try again"
    OURS = "a mistake in a statement, or a constraint that was violated"
    """Not the database's fault: the caller gets the error as it is."""


_POSTGRESQL_CODES = {
    "40001": Failure.COLLISION,  # serialization_failure
    "40P01": Failure.COLLISION,  # deadlock_detected
    "26000": Failure.UNPREPARED,  # invalid_sql_statement_name
    "42P05": Failure.UNPREPARED,  # duplicate_prepared_statement
    "0A000": Failure.UNPREPARED,  # feature_not_supported: a plan whose columns have changed their types
    "55P03": Failure.BUSY,  # lock_not_available
    "57014": Failure.TOO_SLOW,  # query_canceled, by statement_timeout
    "25P03": Failure.TOO_SLOW,  # idle_in_transaction_session_timeout
    "53100": Failure.FULL,  # disk_full
}
_POSTGRESQL_CLASSES = {
    "08": Failure.GONE,  # connection
    "53": Failure.EXHAUSTED,  # resources
    "57": Failure.GONE,  # operator
    "58": Failure.GONE,  # system
}
_SQLITE_NAMES = {
    "SQLITE_BUSY": Failure.BUSY,
    "SQLITE_BUSY_TIMEOUT": Failure.BUSY,
    "SQLITE_BUSY_RECOVERY": Failure.COLLISION,
    "SQLITE_BUSY_SNAPSHOT": Failure.COLLISION,
    "SQLITE_LOCKED": Failure.COLLISION,
    "SQLITE_FULL": Failure.FULL,
}


def classify(error: BaseException) -> Failure:
    """Returns what the error means; it may be a driver's or peewee's wrapping of one."""
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, psycopg2.Error):
        return _classify_postgresql(cause)
    name = getattr(cause, "sqlite_errorname", "")
    return Failure.GONE if name.startswith(_SQLITE_GONE) else _SQLITE_NAMES.get(name, Failure.OURS)


def is_read_only(error: BaseException) -> bool:
    """Returns whether a write was refused because the server is a standby now, or the SQLite file read-only."""
    cause = getattr(error, "orig", None) or error
    name: str = getattr(cause, "sqlite_errorname", "")
    return getattr(cause, "pgcode", None) == "25006" or name.startswith("SQLITE_READONLY")


def first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _classify_postgresql(error: psycopg2.Error) -> Failure:
    code = error.pgcode
    if code is None:  # the connection is lost, or was never made
        if not isinstance(error, psycopg2.OperationalError | psycopg2.InterfaceError):
            return Failure.OURS
        return Failure.EXHAUSTED if _NO_CONNECTIONS.search(str(error)) else Failure.GONE
    return _POSTGRESQL_CODES.get(code) or _POSTGRESQL_CLASSES.get(code[:2], Failure.OURS)
