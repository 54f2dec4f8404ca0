"""The two servers that are compared: the same PostgreSQL, the same gunicorn settings, a database of its own for each."""

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench.client import Client
from tests.setup.needs import CHECKOUT
from tests.support.postgres import PostgresServer
from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.real import RealVenv

WORKERS, THREADS = 2, 8

_UPSTREAM = """\
[DEFAULT]
log_file = {folder}/placement.log
use_stderr = false
[placement_database]
connection = {connection}
sync_on_startup = true
max_pool_size = 10
[api]
auth_strategy = noauth2
"""


@dataclass
class Server:
    """One running server. `name` is `upstream` or `ours`."""

    name: str
    port: int
    database_url: str
    process: ServerProcess

    def client(self, minor: int = 39) -> Client:
        """A client that asks for microversion 1.`minor`."""
        return Client(self.port, "admin", {"openstack-api-version": f"placement 1.{minor}"})

    def worker_memory(self) -> float:
        """The resident memory of the largest worker, in MiB. Linux only."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return max(_resident(int(child)) for child in children)


def _resident(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


@contextlib.contextmanager
def both_servers(
    postgres: PostgresServer, venv: RealVenv, folder: Path, workers: int = WORKERS
) -> Iterator[tuple[Server, Server]]:
    """Upstream and ours, each on a fresh database."""
    folder.mkdir()
    with (
        _upstream(postgres, venv, folder, workers) as upstream,
        running_placement(postgres, folder, workers=workers) as ours,
    ):
        yield upstream, ours


@contextlib.contextmanager
def _upstream(postgres: PostgresServer, venv: RealVenv, folder: Path, workers: int) -> Iterator[Server]:
    name, port = postgres.create_database(), free_port()
    url = postgres.url(name)
    connection = url.replace("postgresql://", "postgresql+psycopg2://")
    (folder / "placement.conf").write_text(_UPSTREAM.format(folder=folder, connection=connection))
    options = ["--no-control-socket", "-b", f"127.0.0.1:{port}", "-k", "gthread", "--keep-alive", "60"]
    options += ["-w", str(workers), "--threads", str(THREADS), "--preload"]
    process = ServerProcess(
        [venv.bin("python"), "-m", "gunicorn", *options, "placement.wsgi.api:application"],
        ready=http_answers(f"http://127.0.0.1:{port}"),
        log=folder / "upstream.log",
        env={"OS_PLACEMENT_CONFIG_DIR": str(folder), "PYTHONPATH": "", "PYTHONWARNINGS": "ignore"},
        cwd=folder,
    )
    with process:
        yield Server("upstream", port, url, process)
    postgres.drop_database(name)


@contextlib.contextmanager
def running_placement(
    postgres: PostgresServer,
    folder: Path,
    checkout: Path = CHECKOUT,
    python: str = sys.executable,
    workers: int = WORKERS,
) -> Iterator[Server]:
    """Starts the Placement API of a checkout on a fresh database, and stops it in the end."""
    name, port = postgres.create_database(), free_port()
    url = postgres.url(name)
    process = ServerProcess(
        [python, "-m", "tests.placement.server"],
        ready=http_answers(f"http://127.0.0.1:{port}"),
        log=folder / "ours.log",
        env={
            "PORT": str(port),
            "PLACEMENT_DATABASE_URL": url,
            "PLACEMENT_WORKERS": str(workers),
            "PLACEMENT_THREADS": str(THREADS),
            "PYTHONPATH": os.pathsep.join([str(checkout), str(checkout / "plugins")]),
        },
        cwd=checkout,
    )
    with process:
        yield Server("ours", port, url, process)
    postgres.drop_database(name)
