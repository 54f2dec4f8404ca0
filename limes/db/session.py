"""PostgreSQL's settings for our connections, with or without a pooler in between.

In transaction mode, a pooler such as PgBouncer gives each transaction any of its own connections. What belongs to a
session is lost there, or meets somebody else. So behind a pooler we use nothing of the kind: our settings go with each
BEGIN, and with each statement that runs alone, in the same round trip (docs/adr/0026-pgbouncer.md).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import psycopg2
from peewee import Database, Function, Select, fn

Pooler = Literal["auto", "none", "transaction"]
"""Whether to find out if there is a pooler, or to take it that there is none, or one."""


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """What PostgreSQL's settings shall be on our connections."""

    given: str
    """libpq's parameter `options`: ours, and then as it stands in the URL, `-c name=value ...`. The last one counts."""
    timeouts: Mapping[str, float]
    """In seconds, by name. They have precedence."""

    def as_options(self) -> str:
        """Returns them as libpq's parameter `options`, for a session of our own."""
        timeouts = [f"-c {name}={value}" for name, value in self._milliseconds().items()]
        return " ".join([self.given, *timeouts]).strip()

    def as_query(self) -> Select:
        """Returns a query that sets them until the transaction ends."""
        return Select(columns=[fn.set_config(name, value, True) for name, value in self._by_name().items()])

    def patient_query(self, seconds: float) -> Select:
        """Returns a query that lets the present transaction do nothing for so long."""
        value = str(int(seconds * 1000))
        return Select(columns=[fn.set_config("idle_in_transaction_session_timeout", value, True)])

    def timeouts_in_force(self) -> list[Function]:
        """Returns expressions for the timeouts that PostgreSQL applies just now, in seconds."""
        return [fn.date_part("epoch", fn.current_setting(name).cast("interval")) for name in self.timeouts]

    def has_timeouts(self, in_force: Sequence[float]) -> bool:
        """Returns whether these values, of `timeouts_in_force`, are what they shall be."""
        return [round(1000 * value) for value in in_force] == [*self._milliseconds().values()]

    def has_session(self, connection: Any, db: Database) -> bool:
        """Asks whether a new connection that was made with these options is a session of PostgreSQL.

        A pooler makes up process numbers for its clients. One that does not is found out if it ignores the options.
        """
        query = Select(columns=[fn.pg_backend_pid(), *self.timeouts_in_force()])
        with connection.cursor() as cursor:
            cursor.execute(*db.get_sql_context().sql(query).query())
            pid, *seconds = cursor.fetchone()
        return pid == connection.get_backend_pid() and self.has_timeouts(seconds)

    def _milliseconds(self) -> dict[str, int]:
        return {name: int(seconds * 1000) for name, seconds in self.timeouts.items()}

    def _by_name(self) -> dict[str, str]:
        words = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r"(?:\\.|\S)+", self.given)]
        pairs = [re.sub(r"^(-c|--)", "", word).partition("=") for word in words]
        given = {name.replace("-", "_"): value for name, _, value in pairs if name}
        return given | {name: str(value) for name, value in self._milliseconds().items()}


def is_refused_by_pooler(error: psycopg2.OperationalError) -> bool:
    """Returns whether there is no connection because a pooler takes no `options`."""
    return "unsupported startup parameter" in str(error)
