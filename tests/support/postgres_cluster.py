"""A PostgreSQL server that a test may crash, start again, copy as a standby, and fail over to."""

import contextlib
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
from tests.support.postgres import copy_of, others_can_reach
from tests.support.processes import children_of, die_with_parent, free_port, scratch_folder

_SETTINGS = {
    # the operating system does not crash in these tests, so what a killed server has written is there
    "fsync": "off",
    "shared_buffers": "32MB",
    "max_connections": "100",
    "wal_keep_size": "64MB",
    "hot_standby": "on",
}


class PostgresNode:
    """One server with its data folder."""

    def __init__(self, binaries: Path, folder: Path, as_user: dict[str, Any]) -> None:
        self.folder = folder
        self.port = free_port()
        self._binaries = binaries
        self._as_user = as_user
        self._process: subprocess.Popen[bytes] | None = None

    def init(self) -> None:
        """Makes an empty cluster."""
        self._run("initdb", "-D", self.folder, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync")

    def copy_from(self, primary: "PostgresNode") -> None:
        """Makes this one a standby of another, in place of whatever it was."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._run(
            "pg_basebackup", "-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres", "-D", self.folder, "-R",
            "-X", "stream", "-c", "fast", "--no-sync",
        )  # fmt: skip

    def start(self) -> None:
        """Starts it, and waits until it takes connections."""
        settings = [part for key, value in _SETTINGS.items() for part in ("-c", f"{key}={value}")]
        address = ["-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
        with self.folder.with_suffix(".log").open("ab") as output:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", self.folder, *address, *settings],
                cwd=self.folder.parent,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent(signal.SIGINT),
                **self._as_user,
            )
        self.wait_for("SELECT 1")

    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def crash(self) -> None:
        """Kills all of its processes at once."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            # its children have process groups of their own; SIGQUIT makes it kill them without any goodbye
            self._process.send_signal(signal.SIGQUIT)
        self._process.wait(60)

    def hang(self) -> None:
        """Stops all of its processes where they are: connections stay, and nothing is answered."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)  # first, so that it starts no more
        for child in children_of(self._process.pid):
            os.kill(child, signal.SIGSTOP)

    def go_on(self) -> None:
        """After `hang`; nothing happens to one that does not."""
        if self.is_running():
            assert self._process is not None
            for pid in (*children_of(self._process.pid), self._process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def stop(self) -> None:
        """Ends it."""
        if self._process is None or self._process.poll() is not None:
            return
        self.go_on()
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(60)

    def promote(self) -> None:
        """Makes a standby the primary, and waits until it takes writes."""
        self.execute("SELECT pg_promote(true, 30)")
        self.wait_for("SELECT 1 WHERE NOT pg_is_in_recovery()")

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        """Runs a statement as superuser, outside of a transaction."""
        connection = psycopg2.connect(
            host="127.0.0.1", port=self.port, user="postgres", dbname="postgres", connect_timeout=30
        )
        with contextlib.closing(connection):
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetchall() if cursor.description else []

    def configure(self, setting: str, value: str) -> None:
        """Changes a setting of the running server."""
        self.execute(f"ALTER SYSTEM SET {setting} = '{value}'")
        self.execute("SELECT pg_reload_conf()")

    def wait_for(self, sql: str) -> None:
        """Until the query answers a row."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            with contextlib.suppress(psycopg2.Error):
                if self.execute(sql):
                    return
            time.sleep(0.05)
        raise AssertionError(f"{sql}: {self.folder.with_suffix('.log').read_text(errors='replace')[-3000:]}")

    def _run(self, program: str, *arguments: str | Path) -> None:
        done = subprocess.run(
            [self._binaries / program, *arguments],
            cwd=self.folder.parent,
            capture_output=True,
            text=True,
            check=False,
            **self._as_user,
        )
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"


class PostgresCluster:
    """A primary, and a standby if the test asks for one. They change roles with each fail-over."""

    def __init__(self, one: PostgresNode, two: PostgresNode) -> None:
        self.primary, self.standby = one, two
        self._ports = (one.port, two.port)

    def url(self, name: str) -> str:
        """The address of a database: both servers, of which the one that takes writes counts."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in self._ports)
        return f"postgresql://postgres@{hosts}/{name}"

    def add_standby(self) -> None:
        """Copies the primary, and has each commit wait for the copy from now on."""
        self.standby.copy_from(self.primary)
        self.standby.start()
        self.primary.configure("synchronous_standby_names", "*")
        self.primary.wait_for("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")

    def fail_over(self) -> None:
        """The primary crashes, and the standby takes its place, alone for now."""
        self.primary.crash()
        self.primary, self.standby = self.standby, self.primary
        self.primary.promote()
        self.primary.configure("synchronous_standby_names", "")


@contextlib.contextmanager
def postgres_cluster() -> Iterator[PostgresCluster]:
    """Makes one in a scratch folder, with its primary running."""
    binaries = POSTGRESQL.find(MACHINE)
    assert binaries is not None, POSTGRESQL.story()
    nobody = pwd.getpwnam("nobody") if os.getuid() == 0 else None
    with scratch_folder("limes-ha-", nobody.pw_uid if nobody else None) as folder:
        if nobody is not None and not others_can_reach(binaries):
            binaries = copy_of(binaries, folder / "site-packages")
        as_user: dict[str, Any] = (
            {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []} if nobody is not None else {}
        )
        nodes = [PostgresNode(binaries, folder / name, as_user) for name in ("one", "two")]
        try:
            nodes[0].init()
            nodes[0].start()
            yield PostgresCluster(*nodes)
        finally:
            for node in nodes:
                node.stop()
