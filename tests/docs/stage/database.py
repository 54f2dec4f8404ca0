"""PostgreSQL as Debian starts it: with the settings and rules of its own files, which the guide changes."""

import os
import pwd
import subprocess
from pathlib import Path
from typing import Any

from tests.setup.needs import POSTGRESQL
from tests.support.machine import MACHINE
from tests.support.postgres import copy_of, others_can_reach
from tests.support.processes import ServerProcess, free_port


class Database:
    """A cluster in a machine's folder. Only its own user gets in, through the socket, until the guide lets others in."""

    def __init__(self, root: Path) -> None:
        """`root` is given to the user that the server runs as: PostgreSQL refuses root."""
        binaries = POSTGRESQL.find(MACHINE)
        assert binaries is not None, POSTGRESQL.story()
        self.port = free_port()
        self.data, self.socket_folder = root / "data", root / "run"
        self._as_user: dict[str, Any] = {}
        for folder in (root, self.socket_folder):
            folder.mkdir(exist_ok=True)
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._as_user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            for folder in (root, self.socket_folder):
                os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            if not others_can_reach(binaries):
                binaries = copy_of(binaries, root / "postgresql")
        self.binaries = binaries
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync")
        (self.data / "pg_hba.conf").write_text("local all all trust\n")
        (self.data / "postgresql.conf").write_text(
            f"port = {self.port}\nunix_socket_directories = '{self.socket_folder}'\nfsync = off\nshared_buffers = 32MB\n"
        )

    def process(self) -> ServerProcess:
        """The server, not started."""
        user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--pdeathsig=INT"]
        return ServerProcess(
            [*(user if self._as_user else ()), self.binaries / "postgres", "-D", self.data],
            ready=self._answers,
            log=self.socket_folder.with_name("postgresql.log"),
            cwd=self.socket_folder,
        )

    def _answers(self) -> bool:
        where = ["-h", str(self.socket_folder), "-p", str(self.port), "-U", "postgres"]
        command = [str(self.binaries / "psql"), *where, "-c", ""]
        return subprocess.run(command, capture_output=True, timeout=100).returncode == 0

    def _run(self, program: str, *arguments: str | Path) -> None:
        done = subprocess.run(
            [self.binaries / program, *arguments],
            cwd=self.socket_folder,
            capture_output=True,
            text=True,
            **self._as_user,
        )
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"
