"""`make bench-regress BASE=<commit>`: this state of the code beside another one, in one run, as ratios of times.

Both states serve the same data from one PostgreSQL and are asked in turn, so that a busy moment of the host meets both.
A ratio above 1 says that this state is slower. On a busy host, ratios of two equal states differ by a tenth from round
to round, so look at the medians.

`BASE` is a commit, whose code comes to `.cache/base`, or a folder with a checkout. The base runs with the `.venv` of
its folder if there is one, or else with the packages that are installed here. `WORDS="cluster domains"` measures only
rows of the Limes API that have one of these words in their names; `ROUNDS` says how often all is measured.
"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.awake import processors_awake
from tests.bench.client import seconds_of
from tests.bench.limes.__main__ import MEASURES, Bench, Measure, measure
from tests.bench.limes.server import config, running_api, worker_memory
from tests.bench.placement import measures
from tests.bench.placement.clouds import flat
from tests.bench.placement.fill import fill
from tests.bench.placement.report import Report
from tests.bench.placement.servers import running_placement
from tests.setup.needs import CHECKOUT, POSTGRESQL
from tests.support.machine import must_stop
from tests.support.postgres import PostgresServer, postgres_server

_PREPARE = "import sys; from tests.bench.limes.server import prepare; prepare(sys.argv[1])"
_TURN = 5
"""Requests to one state before the other has its turn."""
_SECONDS = 3
"""How long a row takes, roughly."""


@dataclass(frozen=True)
class State:
    """A checkout with a Python that runs it."""

    folder: Path

    @property
    def python(self) -> str:
        own = self.folder / ".venv/bin/python"
        return str(own) if own.exists() else sys.executable

    @property
    def env(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": f"{self.folder}:{self.folder / 'plugins'}"}

    def prepare(self, database_url: str) -> None:
        """Loads the data set as that state's bench does: what it stores beside the data may differ."""
        subprocess.run([self.python, "-c", _PREPARE, database_url], cwd=self.folder, env=self.env, check=True)


@dataclass
class Table(Report):
    """All times by row, of all rounds; a row is printed when it is measured."""

    words: list[str] = field(default_factory=list)
    ratios: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def wants(self, name: str) -> bool:
        return not self.words or any(word.lower() in name.lower() for word in self.words)

    def ratio(self, name: str, upstream: list[float], ours: list[float], least: float = 0, aim: float = 0) -> None:
        # the lower quartile: on a busy host, the median moves by a tenth from round to round
        base, this = (statistics.quantiles(times, n=4)[0] * 1000 for times in (upstream, ours))
        self.ratios[name].append(this / base)
        print(f"{name:58} {base:9.2f} {this:9.2f} {this / base:7.3f}", flush=True)

    def most(self, name: str, value: float, bound: float, unit: str) -> None:
        """Bars of one state are for other benches."""

    def summary(self) -> None:
        """The median of each row's ratios, with the least and the largest."""
        print(f"\n{'this state / base, all rounds':58} {'median':>9} {'least':>9} {'most':>7}")
        for name, found in self.ratios.items():
            middle = statistics.median(found)
            mark = "  <-- slower" if middle > 1.05 else ""
            print(f"{name:58} {middle:9.3f} {min(found):9.3f} {max(found):7.3f}{mark}")


def _in_turn(benches: tuple[Bench, Bench], one: Measure) -> tuple[list[float], list[float]]:
    if one.clients > 1:
        found = tuple([time / 1000 for _ in range(2) for time in measure(bench, one)] for bench in benches)
        return found[0], found[1]
    both = sum(seconds_of(lambda bench=bench: one.request(bench, 0)) for bench in (*benches, *benches)) / 2
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(max(2, min(60, int(_SECONDS / both / _TURN)))):
        # who comes first alternates, too
        for bench, taken in list(zip(benches, times, strict=True))[:: 1 if turn % 2 else -1]:
            for number in range(_TURN):
                request = turn * _TURN + number
                taken.append(seconds_of(lambda bench=bench, request=request: one.request(bench, request)))
    return times


def _limes(postgres: PostgresServer, states: tuple[State, State], table: Table, rounds: int) -> None:
    with contextlib.ExitStack() as stack:
        apis = []
        for state in states:
            url = postgres.url(postgres.create_database())
            state.prepare(url)
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            apis.append(stack.enter_context(running_api(config(url), folder, state.folder, state.python)))
        benches = (Bench(apis[0].port), Bench(apis[1].port))
        for _ in range(rounds):
            for one in MEASURES:
                if table.wants(one.name):
                    table.ratio(one.name, *_in_turn(benches, one))
        sizes = [worker_memory(api.process.pid) for api in apis]
        print(f"peak memory of a worker: {sizes[0]:.0f} and {sizes[1]:.0f} MiB")


def _placement(postgres: PostgresServer, states: tuple[State, State], table: Table) -> None:
    """One round. It begins with fresh databases: allocations fill the providers."""
    providers = list(flat(1000))
    with contextlib.ExitStack() as stack:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in states]
        base, this = (
            stack.enter_context(running_placement(postgres, folder, state.folder, state.python))
            for folder, state in zip(folders, states, strict=True)
        )
        for server in (base, this):
            fill("ours", server.database_url, providers)
            for _ in range(8):
                server.client().get(f"{measures.PLAIN}&limit=10")
        measures.reads(table, (base, this), "1000 flat", providers)
        measures.consumers(table, (base, this), providers)
        measures.writes(table, (base, this), providers)
        sizes = [server.worker_memory() for server in (base, this)]
        print(f"memory of a worker of Placement: {sizes[0]:.0f} and {sizes[1]:.0f} MiB")


@contextlib.contextmanager
def _base(name: str) -> Iterator[State]:
    if Path(name).is_dir():
        yield State(Path(name).resolve())
        return
    folder = CHECKOUT / ".cache/base"
    git = ["git", "-C", str(CHECKOUT), "worktree"]
    subprocess.run([*git, "add", "--force", "--detach", str(folder), name], check=True, stdout=subprocess.DEVNULL)
    try:
        yield State(folder)
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


def main() -> int:
    """Measures and prints. A timing fails nothing: the answer is 0 unless something is missing."""
    parser = argparse.ArgumentParser(prog="tests.bench.regress", description="this state beside another, as ratios")
    parser.add_argument("base", help="a commit, or a folder with a checkout")
    parser.add_argument("words", nargs="*", help="only rows of the Limes API that have one of these in their names")
    parser.add_argument("--rounds", type=int, default=5)
    wanted = parser.parse_args()
    if (code := must_stop(POSTGRESQL)) is not None:
        return code
    table = Table(words=wanted.words)
    with _base(wanted.base) as base, postgres_server() as postgres, processors_awake():
        states = (base, State(CHECKOUT))
        print(f"{'milliseconds (lower quartile)':58} {'base':>9} {'this':>9} {'ratio':>7}")
        _limes(postgres, states, table, wanted.rounds)
        for _ in range(0 if wanted.words else wanted.rounds):
            _placement(postgres, states, table)
    table.summary()
    return 0


if __name__ == "__main__":
    sys.exit(main())
