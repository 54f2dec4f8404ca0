"""The Placement API at each size: all sizes run side by side and are asked in turn, so that a busy moment meets all."""

import contextlib
import itertools
import os
import signal
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.bench.client import Client, seconds_of
from tests.bench.limes.server import ROOT
from tests.bench.scale import trees
from tests.bench.scale.table import Row, Table
from tests.bench.statements import statements_of
from tests.support.postgres import PostgresServer
from tests.support.processes import ServerProcess, children_of, free_port, http_answers

FLAT = 1.5
"""How many times the figure of the smallest cloud a row may take in one of ten times the size."""
MEMORY_MIB, FIRST_ANSWER_SECONDS, READY_SECONDS = 1024, 15, 0.5
ROUNDS, TURN = 60, 5

CANDIDATES = "/allocation_candidates?resources=VCPU:1,MEMORY_MB:1024,DISK_GB:10"


@dataclass
class Cloud:
    """A running Placement with its data set."""

    size: trees.Size
    port: int
    process: ServerProcess
    ready: float = 0.0
    """Seconds from the start of the command until `/healthcheck` says that it is ready."""
    first_answer: float = 0.0
    """Seconds from the start of the command to the first answer with candidates."""

    def __post_init__(self) -> None:
        self._clients: dict[str, Client] = {}
        self._steps = itertools.count()

    def client(self, name: str = "") -> Client:
        """A kept connection; one of another name is another connection."""
        if name not in self._clients:
            headers = {"openstack-api-version": "placement 1.39"}
            self._clients[name] = Client(self.port, "admin", headers)
        return self._clients[name]

    def next_tree(self) -> int:
        """Another tree each time, all over the cloud, and none without processors."""
        return next(self._steps) * 7919 % (self.size.trees // trees.FULL_EVERY) * trees.FULL_EVERY

    def next_aggregate(self) -> str:
        """Another one each time, all over the cloud, but at each size as many as the smallest cloud has: what is asked
        for the first time takes longer."""
        aggregates = self.size.trees // trees.NODES_PER_AGGREGATE
        step = next(self._steps) % trees.AGGREGATES
        return trees.aggregate_uuid(step * (aggregates // trees.AGGREGATES) * trees.NODES_PER_AGGREGATE)

    def next_project(self) -> str:
        """Another project each time. All of them are of the same size."""
        step = trees.SERVERS_PER_TREE
        return trees.project_id(1 + next(self._steps) % (self.size.projects // step) * step)


@dataclass(frozen=True)
class Measure:
    """One row. `before` is done before each request, and is not measured."""

    name: str
    request: Callable[[Cloud], object]
    before: Callable[[Cloud], object] = lambda cloud: None
    bar: float = FLAT
    rounds: int = ROUNDS


def get(path: Callable[[Cloud], str]) -> Callable[[Cloud], bytes]:
    """A request for what `path` says."""
    return lambda cloud: cloud.client().get(path(cloud))


def allocate(cloud: Cloud) -> None:
    """Gives a new server one processor of another node."""
    status, data = cloud.client()("PUT", f"/allocations/{uuid.uuid4()}", _allocation(cloud.next_tree()))
    assert status == 204, data


def _allocation(tree: int) -> dict[str, Any]:
    return {
        "allocations": {
            trees.provider_uuid(tree, 1): {"resources": {"DISK_GB": 1}},
            trees.provider_uuid(tree, 2): {"resources": {"VCPU": 1, "MEMORY_MB": 1}},
        },
        "project_id": "newcomers",
        "user_id": "user",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }


def _provider(what: str = "") -> Callable[[Cloud], bytes]:
    return get(lambda cloud: f"/resource_providers/{trees.provider_uuid(cloud.next_tree(), 2)}{what}")


_IN_TREE = get(lambda cloud: f"/resource_providers?in_tree={trees.provider_uuid(cloud.next_tree(), 3)}")
_SHARING = get(
    lambda cloud: f"/resource_providers?member_of={cloud.next_aggregate()}&required=MISC_SHARES_VIA_AGGREGATE"
)
_SOME = get(lambda cloud: f"{CANDIDATES}&limit=50")
_AMOUNTS = itertools.count(11)
MEASURES = [
    Measure("candidates, limit=50", _SOME),
    Measure("candidates, limit=50, after an allocation", _SOME, allocate),
    Measure("candidates, limit=1000", get(lambda cloud: f"{CANDIDATES}&limit=1000")),
    Measure("candidates, a rare class", get(lambda cloud: f"/allocation_candidates?resources={trees.RARE_CLASS}:1")),
    Measure("candidates in an aggregate", get(lambda cloud: f"{CANDIDATES}&member_of={cloud.next_aggregate()}")),
    Measure("PUT allocations", allocate),
    Measure("one provider", _provider()),
    Measure("its inventories", _provider("/inventories")),
    Measure("its usages", _provider("/usages")),
    Measure("its allocations", _provider("/allocations")),
    Measure("providers of a tree", _IN_TREE),
    Measure("those of an aggregate that share", _SHARING),
    Measure("providers of a tree, after an allocation", _IN_TREE, allocate),
    Measure(
        "one server's allocations",
        get(lambda cloud: f"/allocations/{trees.server_uuid(cloud.next_tree() * trees.SERVERS_PER_TREE)}"),
    ),
    # its rows are all over tables that are larger than the shared buffers of the tests' PostgreSQL
    Measure("usages of a project", get(lambda cloud: f"/usages?project_id={cloud.next_project()}"), bar=2.0),
]
"""At each size, these ask for equally much."""


def compare(server: PostgresServer, sizes: list[int], folder: Path, table: Table) -> None:
    """Prints a row for each request, and memory and the time of a start."""
    with contextlib.ExitStack() as stack:
        clouds = [stack.enter_context(_cloud(server, trees.Size().times(size), folder)) for size in sizes]
        table.head("Placement API, ms (median)")
        for measure in MEASURES:
            table.add(Row(measure.name, _medians(clouds, measure), measure.bar, _statements(server, clouds, measure)))
        large = Measure("", get(lambda cloud: f"/usages?project_id={trees.LARGE_PROJECT}"), rounds=15)
        table.show("usages of a project that grows likewise", _medians(clouds, large))
        megabytes = [len(cloud.client().get(CANDIDATES)) / 1e6 for cloud in clouds]
        table.show("all candidates", _medians(clouds, Measure("", get(lambda cloud: CANDIDATES), rounds=10)))
        others = Measure(
            "", get(lambda cloud: CANDIDATES.replace("DISK_GB:10", f"DISK_GB:{next(_AMOUNTS)}")), rounds=10
        )
        times = _medians(clouds, others)
        table.show("all candidates, another amount each time", times)
        table.add(Row("the same, for each MB", [ms / mb for ms, mb in zip(times, megabytes, strict=True)], FLAT))
        last = clouds[-1]
        _memory(last, table)
        table.most("first answer after a start", last.first_answer, FIRST_ANSWER_SECONDS, "s")
        table.most("first answer after it was ready", last.first_answer - last.ready, READY_SECONDS, "s")
        table.most("first answer after a kill of all workers", _replaced(last), FIRST_ANSWER_SECONDS, "s")


@contextlib.contextmanager
def _cloud(server: PostgresServer, size: trees.Size, folder: Path) -> Iterator[Cloud]:
    database = server.create_database()
    url = server.url(database)
    trees.prepare(url, size)
    file = folder / f"placement-{size.trees}.yaml"
    port = free_port()
    file.write_text(yaml.safe_dump(_config(url, port)))
    process = ServerProcess(
        [sys.executable, "-m", "limes", "placement", "--config", file],
        ready=http_answers(f"http://127.0.0.1:{port}/healthcheck"),
        log=folder / f"placement-{size.trees}.log",
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}", **os.environ},
    )
    cloud = Cloud(size, port, process)
    started = time.perf_counter()
    with process:
        cloud.ready = time.perf_counter() - started
        cloud.client().get(f"{CANDIDATES}&limit=1")
        cloud.first_answer = time.perf_counter() - started
        yield cloud
    server.drop_database(database)


def _config(url: str, port: int) -> dict[str, Any]:
    return {
        "database": {"url": url, "statement_timeout": 120},
        "identity": {"method": "noauth"},
        "placement": {"listen": f"127.0.0.1:{port}", "workers": 2},
        "logging": {"level": "WARNING"},
    }


def _medians(clouds: list[Cloud], measure: Measure) -> list[float]:
    """Milliseconds at each size, asked in turns of a few requests."""
    times: list[list[float]] = [[] for _ in clouds]
    for _ in range(max(1, measure.rounds // TURN)):
        for cloud, taken in zip(clouds, times, strict=True):
            for _ in range(TURN):
                measure.before(cloud)
                taken.append(1000 * seconds_of(lambda cloud=cloud: measure.request(cloud)))
    return [statistics.median(taken) for taken in times]


def _statements(server: PostgresServer, clouds: list[Cloud], measure: Measure) -> list[int]:
    """What one request sends to the database at each size."""
    sent = []
    for cloud in clouds:
        measure.before(cloud)
        with statements_of(server) as counted:
            measure.request(cloud)
        sent.append(counted.work)
    return sent


def _replaced(cloud: Cloud) -> float:
    """Seconds until the first answer after all workers were killed."""
    for worker in children_of(cloud.process.pid):
        os.kill(worker, signal.SIGKILL)
    return seconds_of(lambda: cloud.client("after a kill").get(f"{CANDIDATES}&limit=1"))


def _memory(cloud: Cloud, table: Table) -> None:
    """Shows the memory of the workers once all of them have answered the largest questions."""
    pids = children_of(cloud.process.pid)
    for number in range(8 * len(pids)):  # which worker answers is a matter of chance
        for path in (CANDIDATES, "/resource_providers"):
            cloud.client(f"memory {number}").get(path)
    peaks = [_kib(Path(f"/proc/{pid}/status"), "VmHWM") / 1024 for pid in pids]
    table.most("peak memory of a worker of Placement", max(peaks), MEMORY_MIB, "MiB")
    for name, pid in (("gunicorn's main process", cloud.process.pid), *((f"worker {pid}", pid) for pid in pids)):
        file = Path(f"/proc/{pid}/smaps_rollup")
        own = _kib(file, "Private_Dirty") + _kib(file, "Private_Clean")
        share = _kib(file, "Pss")
        print(f"{name:44}{_kib(file, 'Rss') / 1024:11.1f} MiB, {own / 1024:.1f} its own, {share / 1024:.1f} its share")


def _kib(file: Path, key: str) -> int:
    return int(file.read_text().split(f"{key}:")[1].split()[0])
