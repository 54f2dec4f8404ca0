"""`make bench-limes`: milliseconds p50 and p95 beside the Go original's, statements a request, and memory.

Words as arguments measure only the rows that have them in their names. The Go original's figures were measured on the
same kind of machine, on the same data set (2026-11-21).
"""

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.awake import processors_awake
from tests.bench.client import Client
from tests.bench.limes import data
from tests.bench.limes.server import TOKEN, config, prepare, running_api, worker_memory
from tests.bench.statements import Statements, statements_of
from tests.setup.needs import POSTGRESQL
from tests.support.machine import must_stop
from tests.support.postgres import PostgresServer, postgres_server


@dataclass(frozen=True)
class Measure:
    """One row of the table. `original` is the Go original's time in ms (p50)."""

    name: str
    original: float
    bar: float
    request: Callable[["Bench", int], None]
    rounds: int = 15
    clients: int = 1


class Bench:
    """A running API on the loaded data set."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._local = threading.local()

    def call(self, method: str, path: str, body: object = None) -> None:
        client = getattr(self._local, "client", None)
        if client is None:
            client = self._local.client = Client(self._port, TOKEN)
        status, answer = client(method, path, body)
        assert 200 <= status < 300, f"{method} {path}: {status} {answer[:300]!r}"


DOMAIN = f"/v1/domains/{data.domain_uuid(1)}"


def _project(number: int) -> str:
    return f"{DOMAIN}/projects/{data.project_uuid(1 + number % data.PROJECTS_PER_DOMAIN)}"


def _quota(number: int) -> dict[str, Any]:
    resources = [{"name": "compute-0", "quota": 1000 + number % 500}]
    return {"project": {"services": [{"type": "compute", "resources": resources}]}}


def _commitment(**fields: Any) -> dict[str, Any]:
    wanted = {
        "service_type": "compute",
        "resource_name": "compute-0",
        "availability_zone": data.AZS[0],
        "amount": 1,
        "duration": "10 years",
    }
    return {"commitment": wanted | fields}


MEASURES = [
    Measure("GET project", 4.5, 1.5, lambda b, n: b.call("GET", _project(n)), rounds=100),
    Measure("GET projects of a domain", 1560, 5, lambda b, n: b.call("GET", f"{DOMAIN}/projects")),
    Measure(
        "GET projects, one resource",
        99,
        5,
        lambda b, n: b.call("GET", f"{DOMAIN}/projects?service=compute&resource=compute-1"),
    ),
    Measure("GET projects, first page of 50", 1560, 5, lambda b, n: b.call("GET", f"{DOMAIN}/projects?limit=50")),
    Measure(
        "GET projects of a domain, 4 clients", 5730, 8, lambda b, n: b.call("GET", f"{DOMAIN}/projects"), 5, clients=4
    ),
    Measure("GET domains", 755, 5, lambda b, n: b.call("GET", "/v1/domains")),
    Measure("GET cluster", 975, 5, lambda b, n: b.call("GET", "/v1/clusters/current")),
    Measure("PUT project quota", 820, 40, lambda b, n: b.call("PUT", _project(n), body=_quota(n)), rounds=60),
    Measure(
        "simulate-put", 1230, 40, lambda b, n: b.call("POST", f"{_project(n)}/simulate-put", body=_quota(n)), rounds=60
    ),
    Measure("GET inconsistencies", 1700, 8, lambda b, n: b.call("GET", "/v1/inconsistencies")),
    Measure("GET commitments", 2790, 100, lambda b, n: b.call("GET", f"{_project(n)}/commitments"), rounds=100),
    Measure(
        "can-confirm",
        7430,
        100,
        lambda b, n: b.call("POST", f"{_project(n)}/commitments/can-confirm", body=_commitment()),
        rounds=60,
    ),
    Measure(
        "POST commitment, immediate",
        11780,
        100,
        lambda b, n: b.call("POST", f"{_project(n)}/commitments/new", body=_commitment()),
        rounds=60,
    ),
    Measure(
        "POST commitment, confirm_by",
        7,
        0.5,
        lambda b, n: b.call("POST", f"{_project(n)}/commitments/new", body=_commitment(confirm_by=2_000_000_000)),
        rounds=60,
    ),
]


def measure(bench: Bench, one: Measure) -> list[float]:
    """Times in ms, sorted."""
    one.request(bench, 0)
    times: list[float] = []

    def client(offset: int) -> None:
        for number in range(one.rounds):
            start = time.perf_counter()
            one.request(bench, offset + number)
            times.append((time.perf_counter() - start) * 1000)

    threads = [threading.Thread(target=client, args=[1000 * index]) for index in range(one.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(times)


def statements(server: PostgresServer, bench: Bench, one: Measure) -> Statements:
    """What one request sends to the database."""
    with statements_of(server) as counted:
        one.request(bench, one.rounds + 1)
    return counted


def row(server: PostgresServer, bench: Bench, one: Measure) -> bool:
    """Measures and prints a row. Answers whether it reaches the bar."""
    times = measure(bench, one)
    sent = statements(server, bench, one)
    p50 = statistics.median(times)
    p95 = times[int(len(times) * 0.95)]
    ratio = one.original / p50
    good = ratio >= one.bar
    print(
        f"{one.name:38} {one.original:9.1f} {p50:8.1f} {p95:8.1f} {ratio:7.1f} {one.bar:6.1f}"
        f" {f'{sent.work} + {sent.frame}':>11}{'' if good else '  <-- below the bar'}",
        flush=True,
    )
    return good


def main() -> int:
    """Prints the table, and last `below the bar: N`."""
    if (code := must_stop(POSTGRESQL)) is not None:
        return code
    with postgres_server() as server, tempfile.TemporaryDirectory() as folder, processors_awake():
        url = server.url(server.create_database())
        start = time.perf_counter()
        prepare(url)
        print(f"data set loaded in {time.perf_counter() - start:.1f} s", flush=True)
        print("milliseconds; statements of one request, and those that frame a transaction (BEGIN, COMMIT)")
        print(f"{'operation':38} {'original':>9} {'p50':>8} {'p95':>8} {'ratio':>7} {'bar':>6} {'statements':>11}")
        with running_api(config(url), Path(folder)) as api:
            bench = Bench(api.port)
            wanted = [one for one in MEASURES if all(word.lower() in one.name.lower() for word in sys.argv[1:])]
            below = sum(not row(server, bench, one) for one in wanted)
            print(f"peak memory of a worker: {worker_memory(api.process.pid):.0f} MiB (bar: 200)")
    print(f"below the bar: {below}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
