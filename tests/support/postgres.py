"""A PostgreSQL server for one test session, from whatever binaries there are, and databases on it.

As root it runs as `nobody`, because PostgreSQL refuses root. It is tuned for tests: nothing is synced to disk, so the
data does not outlive a crash of the machine.
"""

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg2

from tests.setup.needs import POSTGRESQL
from tests.support.machine import MACHINE
from tests.support.processes import die_with_parent, free_port, scratch_folder

_START_TIMEOUT = 120.0
_TEST_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "200",
    "autovacuum": "off",
}


class PostgresServer:
    """A running server: on a unix socket for this process, and on loopback TCP for others, without passwords."""

    def __init__(self, port: int, socket_folder: Path) -> None:
        self.port = port
        self.port_for_clients = port
        """Another one if there is a pooler in front of it."""
        self.socket_folder = socket_folder
        self._names = itertools.count(1)
        self._admin = self.connect("postgres")

    def create_database(self, template: str = "template0") -> str:
        """Makes a database as a copy of `template`, and answers its name."""
        name = f"test_{next(self._names)}"
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return name

    def drop_database(self, name: str) -> None:
        """Drops a database, even if somebody still uses it."""
        self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def connect(self, name: str) -> Any:
        """A connection of psycopg2 as superuser, in autocommit, without any pooler that the tests run with."""
        connection = psycopg2.connect(host=str(self.socket_folder), port=self.port, user="postgres", dbname=name)
        connection.autocommit = True
        return connection

    def url(self, name: str) -> str:
        """The address of a database, over TCP."""
        return f"postgresql://postgres@127.0.0.1:{self.port_for_clients}/{name}"

    def own_url(self, name: str) -> str:
        """The same, without any pooler that the tests run with."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        """Runs a statement as superuser in the maintenance database, outside of a transaction."""
        with self._admin.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        """Lets go of the maintenance connection."""
        self._admin.close()


def others_can_reach(folder: Path) -> bool:
    """Whether every user may enter the folder."""
    return all(parent.stat().st_mode & 0o001 for parent in (folder, *folder.resolve().parents))


def copy_of(binaries: Path, target: Path) -> Path:
    """A copy of an installation that only root can reach, with its bundled libraries where it looks for them."""
    package = binaries.parent.parent
    shutil.copytree(binaries.parent, target / package.name / binaries.parent.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, target / libraries.name)
    return target / package.name / binaries.parent.name / binaries.name


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Makes a cluster in a scratch folder and runs a server on it. Raises `AssertionError` if that is not possible."""
    binaries = POSTGRESQL.find(MACHINE)
    assert binaries is not None, POSTGRESQL.story()
    nobody = pwd.getpwnam("nobody") if os.getuid() == 0 else None
    with scratch_folder("limes-pg-", nobody.pw_uid if nobody else None) as folder:
        if nobody is not None and not others_can_reach(binaries):
            binaries = copy_of(binaries, folder / "site-packages")
        as_user: dict[str, Any] = (
            {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []} if nobody is not None else {}
        )
        process, port = _start(binaries, folder, as_user)
        try:
            server = PostgresServer(port, folder)
            yield server
            server.close()
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(60)


def _start(binaries: Path, folder: Path, as_user: dict[str, Any]) -> tuple[subprocess.Popen[bytes], int]:
    data, log = folder / "data", folder / "server.log"
    initdb: list[Path | str] = [
        binaries / "initdb",
        "-D",
        data,
        "-A",
        "trust",
        "-U",
        "postgres",
        "-E",
        "UTF8",
        "--locale=C",
    ]
    made = subprocess.run(
        [*initdb, "--no-sync", "--no-instructions"], cwd=folder, capture_output=True, text=True, check=False, **as_user
    )
    assert made.returncode == 0, f"initdb failed: {made.stdout}{made.stderr}"
    settings = [part for key, value in _TEST_SETTINGS.items() for part in ("-c", f"{key}={value}")]
    for _ in range(5):  # somebody else may take the free port first
        port = free_port()
        address: list[Path | str] = ["-k", folder, "-p", str(port), "-c", "listen_addresses=127.0.0.1"]
        with log.open("ab") as output:
            process = subprocess.Popen(
                [binaries / "postgres", "-D", data, *address, *settings],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent(signal.SIGINT),
                **as_user,
            )
        if _wait_until_it_answers(process, folder, port):
            return process, port
    raise AssertionError(f"PostgreSQL does not start:\n{log.read_text(errors='replace')[-4000:]}")


def _wait_until_it_answers(process: subprocess.Popen[bytes], folder: Path, port: int) -> bool:
    deadline = time.monotonic() + _START_TIMEOUT
    while time.monotonic() < deadline and process.poll() is None:
        try:
            psycopg2.connect(host=str(folder), port=port, user="postgres", dbname="postgres").close()
        except psycopg2.OperationalError:
            time.sleep(0.02)
        else:
            return True
    process.kill()
    process.wait(60)
    return False
