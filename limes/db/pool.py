"""The pool of PostgreSQL connections: peewee's, which does not ask the server about connections that were just used."""

import time
from typing import Any

from playhouse.pool import PooledPostgresqlDatabase

TRUSTED_SECONDS = 1.0


class PostgresqlPool(PooledPostgresqlDatabase):
    """peewee asks `SELECT 1` at every check-out, under the pool's lock, to find out whether the server is still there.

    On a busy server that is a round trip more for each request, for a connection that served another request a
    moment ago. So it is asked only about connections that lay idle for `TRUSTED_SECONDS`. If the server went away in
    between, one request gets a 503, and the connection is thrown away.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._returned: dict[int, float] = {}

    def _is_closed(self, conn: Any) -> bool:
        returned = self._returned.pop(id(conn), 0.0)
        if not conn.closed and time.monotonic() - returned < TRUSTED_SECONDS:
            return False
        return bool(super()._is_closed(conn))

    def _can_reuse(self, conn: Any) -> bool:
        if not super()._can_reuse(conn):
            return False
        self._returned[id(conn)] = time.monotonic()
        return True

    def _close_raw(self, conn: Any) -> None:
        self._returned.pop(id(conn), None)
        super()._close_raw(conn)
