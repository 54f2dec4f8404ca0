"""`make bench-start`: how long it takes until commands and processes are there, and the memory of idle ones.

`python -m tests.bench.start [--rounds N] [CHECKOUT ...]` measures other checkouts as well, in turn with this one. Seconds of
processor time say more than those of the clock on a busy machine. PSS counts a page that n processes share as an n-th
of a page. Nothing here fails for being slow.
"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
import yaml

from tests.bench.limes.server import ROOT, config, running_api
from tests.bench.regress import State
from tests.setup.needs import POSTGRESQL
from tests.support.machine import must_stop
from tests.support.postgres import PostgresServer, postgres_server
from tests.support.processes import ServerProcess, children_of, free_port, http_answers

_QUICKSTART = Path("limes/app/commands/serve/quickstart.yaml")
_TOKEN = {"X-Auth-Token": "cloud-admin"}
_IDLE = 10.0
"""Seconds after which a process that has nothing to do is at rest."""


@dataclass
class Table:
    """Figures by row and checkout."""

    rows: dict[str, dict[Path, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))

    def add(self, row: str, state: State, value: float) -> None:
        self.rows[row][state.folder].append(value)

    def show(self, states: list[State]) -> None:
        """Prints medians."""
        print(f"{'':44}" + "".join(f"{state.folder.name:>12}" for state in states))
        for name, row in self.rows.items():
            print(f"{name:44}" + "".join(f"{statistics.median(row[state.folder]):12.2f}" for state in states))


def family(pid: int) -> list[int]:
    """A process and all that it has started."""
    return [pid, *(one for child in children_of(pid) for one in family(child))]


def processor_time(pid: int) -> float:
    """Seconds that a process, its children and those of them that have ended have used."""
    spent = 0
    for one in family(pid):
        with contextlib.suppress(OSError):
            spent += sum(
                int(ticks) for ticks in Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[11:15]
            )
    return spent / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> dict[str, float]:
    """MiB of a process, by kind."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return {kind: int(text.split(f"\n{kind}:")[1].split()[0]) / 1024 for kind in ("Rss", "Pss")}


def add_memory(table: Table, state: State, name: str, pid: int) -> None:
    for kind, size in memory(pid).items():
        table.add(f"{name}: {kind.upper()}, MiB", state, size)


def measure_help(table: Table, state: State) -> None:
    """`limes --help`, with the modules compiled."""
    before, started = os.times(), time.perf_counter()
    subprocess.run([state.python, "-m", "limes", "--help"], env=state.env, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    table.add("limes --help, s", state, time.perf_counter() - started)
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    table.add("limes --help, s of processor time", state, spent)


def measure_processes(table: Table, state: State, database_url: str) -> None:
    """The API until its first 200, and a collector, each alone; and their memory when they rest."""
    settings = config(database_url)
    settings["collector"] = {"listen": f"127.0.0.1:{free_port()}"}
    with tempfile.TemporaryDirectory() as name:
        started = time.perf_counter()
        with running_api(settings, Path(name), state.folder, state.python) as api:
            table.add("API ready, s", state, time.perf_counter() - started)
            table.add("API ready, s of processor time", state, processor_time(api.process.pid))
            time.sleep(_IDLE)
            add_memory(table, state, "API, main process", api.process.pid)
            add_memory(table, state, "API, worker", children_of(api.process.pid)[0])
        collector = _server(state, ["collect", "--config", "limes.yaml"], settings["collector"]["listen"], Path(name))
        started = time.perf_counter()
        with collector:
            table.add("collector ready, s", state, time.perf_counter() - started)
            table.add("collector ready, s of processor time", state, processor_time(collector.pid))
            time.sleep(_IDLE)
            add_memory(table, state, "collector", collector.pid)


def _server(state: State, arguments: list[str], listen: str, folder: Path) -> ServerProcess:
    return ServerProcess(
        [state.python, "-m", "limes", *arguments],
        ready=http_answers(f"http://{listen}/healthcheck"),
        log=folder / "log",
        env=state.env,
        cwd=folder,
    )


def measure_serve(table: Table, state: State) -> None:
    """`limes serve` in an empty folder, and again with its data there, until the dashboard's overview has figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        listen = _sample_cloud(state, folder)
        for start in ("first start", "later start"):
            started = time.perf_counter()
            with _server(state, ["serve", "--config", "limes.yaml"], listen, folder) as server:
                while not has_figures(listen):
                    assert server.is_running(), server.log_text()
                    time.sleep(0.05)
                table.add(f"limes serve shows figures, {start}, s", state, time.perf_counter() - started)
                name = f"limes serve shows figures, {start}, s of processor time"
                table.add(name, state, processor_time(server.pid))


def _sample_cloud(state: State, folder: Path) -> str:
    document: dict[str, Any] = yaml.safe_load((state.folder / _QUICKSTART).read_text())
    for section in ("api", "placement", "collector"):
        document[section]["listen"] = f"127.0.0.1:{free_port()}"
    document["serve"]["sample_data"] = str(state.folder / _QUICKSTART.with_name("sample-data.yaml"))
    (folder / "limes.yaml").write_text(yaml.safe_dump(document))
    listen: str = document["api"]["listen"]
    return listen


def has_figures(listen: str) -> bool:
    """Whether the overview of the cloud has all of them: capacity, usage and quota."""
    with contextlib.suppress(requests.RequestException):
        answer = requests.get(f"http://{listen}/v1/clusters/current", headers=_TOKEN, timeout=20)
        if answer.ok:
            services = answer.json()["cluster"]["services"]
            figures = [one for service in services for one in service["resources"]]
            return all("capacity" in one for one in figures) and any(one.get("domains_quota") for one in figures)
    return False


@contextlib.contextmanager
def _upgraded(postgres: PostgresServer, states: list[State]) -> Iterator[dict[Path, str]]:
    """A database for each checkout, with the tables of that one."""
    urls = {state.folder: postgres.url(postgres.create_database()) for state in states}
    with tempfile.TemporaryDirectory() as folder:
        for state in states:
            (file := Path(folder) / "limes.yaml").write_text(yaml.safe_dump(config(urls[state.folder])))
            command = [state.python, "-m", "limes", "db", "upgrade", "--config", str(file)]
            subprocess.run(command, env=state.env, stdout=subprocess.DEVNULL, check=True)
        yield urls


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.start", description=__doc__)
    parser.add_argument("checkouts", nargs="*", type=Path, metavar="CHECKOUT")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=("help", "processes", "serve"), action="append")
    options = parser.parse_args()
    if (code := must_stop(POSTGRESQL)) is not None:
        return code
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed Limes is compiled
    states, table = [*(State(folder.absolute()) for folder in options.checkouts), State(ROOT)], Table()
    with postgres_server() as postgres, _upgraded(postgres, states) as urls:
        measures: dict[str, Callable[[State], object]] = {
            "help": lambda state: [measure_help(table, state) for _ in range(5)],
            "processes": lambda state: measure_processes(table, state, urls[state.folder]),
            "serve": lambda state: measure_serve(table, state),
        }
        for _ in range(options.rounds):
            for name, measure in measures.items():
                for state in states if not options.only or name in options.only else ():
                    measure(state)
        table.show(states)
    return 0


if __name__ == "__main__":
    sys.exit(main())
