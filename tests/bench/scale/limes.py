"""The Limes API, data metrics and the collector at each size."""

import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from tests.bench.limes import __main__ as limes_bench
from tests.bench.limes import data
from tests.bench.limes.__main__ import MEASURES, Bench, Measure
from tests.bench.limes.server import ROOT, config, prepare, running_api, worker_memory
from tests.bench.scale.table import Row, Table
from tests.bench.statements import statements_of
from tests.support.postgres import PostgresServer

FLAT, PER_DOMAIN, KEPT = 1.3, 1.2, 2.0
"""How many times the figure of the smallest cloud each kind of row may take in one of ten times the size. A list of
domains may take 1.2 times as long for each domain."""

_CHANGES = [
    Measure(f"GET changes {what}", 1, 0, lambda b, n, path=path: b.call("GET", path), rounds=40)
    for what, path in (
        ("of the cloud", "/v1/changes"),
        ("of a domain", f"/v1/domains/{data.domain_uuid(3)}/changes"),
        ("of a project", f"/v1/domains/{data.domain_uuid(1)}/projects/{data.project_uuid(7)}/changes"),
        ("by a person", "/v1/changes?person=user-50"),
    )
]
_KEPT = [
    Measure("GET scrape errors", 1, 0, lambda b, n: b.call("GET", "/v1/admin/scrape-errors")),
    Measure(
        "GET all commitments, first page", 1, 0, lambda b, n: b.call("GET", "/v1/commitments?limit=100"), rounds=40
    ),
]
_BARS = {"GET cluster": KEPT, "GET inconsistencies": KEPT, **{measure.name: KEPT for measure in _KEPT}}


def compare(server: PostgresServer, sizes: list[int], folder: Path, table: Table) -> None:
    """Prints a row for each request and for the metrics; loads one size after the other."""
    times: dict[str, list[float]] = defaultdict(list)
    sent: dict[str, list[int]] = defaultdict(list)
    memory = 0.0
    metrics: list[tuple[float, float, float, int]] = []
    for size in sizes:
        database = server.create_database()
        url = server.url(database)
        prepare(url, data.Size().times(size))
        with running_api(config(url), folder) as api:
            bench = Bench(api.port)
            for measure in (*MEASURES, *_KEPT, *_CHANGES):
                times[measure.name].append(statistics.median(limes_bench.measure(bench, measure)))
                sent[measure.name].append(limes_bench.statements(server, bench, measure).work)
            memory = worker_memory(api.process.pid)
        metrics.append(_metrics(server, url))
        server.drop_database(database)
    table.head("Limes API, ms (median)")
    growth = sizes[-1] / sizes[0]
    for name, figures in times.items():
        bar = PER_DOMAIN * growth if name == "GET domains" else _BARS.get(name, FLAT)
        table.add(Row(name, figures, bar, sent[name]))
    first, again, _, counted = zip(*metrics, strict=True)
    table.add(Row("data metrics, first reading, s", first, PER_DOMAIN * growth, counted))
    table.add(Row("data metrics, second reading, s", again, PER_DOMAIN * growth))
    table.most("memory of a worker of the API", memory, 250, "MiB")
    table.most("memory while data metrics are read", metrics[-1][2], 300, "MiB")


def _metrics(server: PostgresServer, url: str) -> tuple[float, float, float, int]:
    """Seconds of a first and a second reading of all data metrics, the process's peak memory in MiB, and statements."""
    with statements_of(server) as counted:
        command = [sys.executable, "-m", "tests.bench.scale.metrics", url]
        words = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    first, again, memory = map(float, words)
    return first, again, memory, counted.work
