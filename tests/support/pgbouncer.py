"""A real PgBouncer in front of the tests' PostgreSQL."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from tests.setup.needs import PGBOUNCER
from tests.support.machine import require
from tests.support.nobody import as_nobody, nobody
from tests.support.processes import ServerProcess, free_port, scratch_folder

BEHIND_POOLER = os.environ.get("LIMES_TEST_POOLER") == "1"
"""Whether all tests run with one between them and PostgreSQL."""
needs_sessions = pytest.mark.skipif(BEHIND_POOLER, reason="is about sessions of PostgreSQL, which a pooler hides")
"""For tests that look at, change or end a session of PostgreSQL."""

_SETTINGS = {
    "listen_addr": "127.0.0.1",
    "unix_socket_dir": "",
    # all users of the server, without passwords
    "auth_type": "trust",
    "pool_mode": "transaction",
    "default_pool_size": "10",
    "max_client_conn": "1000",
    "server_login_retry": "1",
    "query_wait_timeout": "20",
}


class PgBouncer:
    """One in front of all databases of a server. Its settings may be changed while it runs."""

    def __init__(
        self, folder: Path, server_port: int, settings: Mapping[str, str], user: str = "postgres", password: str = ""
    ) -> None:
        """Everybody may use it as `user`, whom it knows at the server by the password."""
        self.port = free_port()
        self._server_port = server_port
        self._ini = folder / "pgbouncer.ini"
        self._users = folder / "users.txt"
        self._users.write_text(f'"{user}" "{password}"\n')
        self._user = user
        self._settings = {**_SETTINGS, "auth_user": user, "admin_users": user, **settings}
        self._write()
        command = as_nobody([require(PGBOUNCER), self._ini], stop="INT")
        self.process = ServerProcess(command, ready=self._is_up, log=folder / "pgbouncer.log")

    def url(self, database: str) -> str:
        """The address of a database, by way of this one."""
        return f"postgresql://{self._user}@127.0.0.1:{self.port}/{database}"

    def configure(self, **settings: str) -> None:
        """Changes settings of the running one, which closes its connections to the server as soon as they are free."""
        self._settings.update(settings)
        self._write()
        self.ask("RELOAD")
        self.ask("RECONNECT")

    def ask(self, command: str) -> list[dict[str, Any]]:
        """Runs a command of the admin console, and answers its rows by the names of their columns."""
        connection = psycopg2.connect(self.url("pgbouncer"))
        with contextlib.closing(connection):
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(command)
                if cursor.description is None:
                    return []
                names = [column.name for column in cursor.description]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def _write(self) -> None:
        settings = {**self._settings, "listen_port": self.port, "auth_file": self._users}
        lines = [f"{name} = {value}" for name, value in settings.items()]
        self._ini.write_text(
            "\n".join(["[databases]", f"* = host=127.0.0.1 port={self._server_port}", "[pgbouncer]", *lines, ""])
        )

    def _is_up(self) -> bool:
        try:
            return bool(self.ask("SHOW VERSION"))
        except psycopg2.OperationalError:
            return False


@contextlib.contextmanager
def pgbouncer(server_port: int, *, user: str = "postgres", password: str = "", **settings: str) -> Iterator[PgBouncer]:
    """Runs one in transaction mode, unless the settings say otherwise."""
    with scratch_folder("limes-pgb-", nobody()) as folder:
        one = PgBouncer(folder, server_port, settings, user, password)
        with one.process:
            yield one
