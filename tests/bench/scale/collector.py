"""The collector at each size: how many tasks it finds, claims and writes a second while everything is due."""

import contextlib
import statistics
import time
from pathlib import Path

from tests.bench.collector.__main__ import ONCE, Bench, prepare
from tests.bench.scale.table import Row, Table
from tests.bench.statements import statements_of
from tests.support.postgres import PostgresServer

PROJECTS = 3000
"""At the data set's own size: 15,000 project services, 150,000 project resources."""
SECONDS, ROUNDS = 2, 5
"""So few that something is due all the time, in the smallest cloud as well."""
STEADY = 0.8
"""How many times the tasks a second in the smallest cloud there have to be in one of ten times the size."""


def compare(server: PostgresServer, sizes: list[int], folder: Path, table: Table) -> None:
    """Prints a row for tasks, and one for the statements of a task; the sizes take turns."""
    with contextlib.ExitStack() as stack:
        benches = [_bench(server, size, folder, stack) for size in sizes]
        rates: list[list[float]] = [[] for _ in benches]
        for _ in range(ROUNDS):
            for bench, taken in zip(benches, rates, strict=True):
                taken.append(_rate(bench))
        table.head("Collector, tasks a second")
        medians = [statistics.median(taken) for taken in rates]
        table.add(Row("scrapes found, claimed and written", medians, STEADY, least=True))
        table.add(Row("statements of a hundred scrapes", [_statements(bench) for bench in benches], 1.1))


def _bench(server: PostgresServer, size: int, folder: Path, stack: contextlib.ExitStack) -> Bench:
    database = server.create_database()
    stack.callback(server.drop_database, database)
    url = server.url(database)
    bench = Bench(server, prepare(url, PROJECTS * size), url, folder)
    stack.callback(bench.engine.close)
    return bench


def _rate(bench: Bench) -> float:
    """Scrapes a second of one collector."""
    bench.make_due()
    with bench.collectors(1, ONCE):
        before, start = bench.scraped(), time.perf_counter()
        time.sleep(SECONDS)  # counting takes a while, so it is not done again and again
        seconds = time.perf_counter() - start
        return (bench.scraped() - before) / seconds


def _statements(bench: Bench) -> float:
    """Without those by which we count the scrapes."""
    bench.make_due()
    with bench.collectors(1, ONCE), statements_of(bench.server) as counted:
        before = bench.scraped()
        time.sleep(SECONDS)
        done = bench.scraped() - before
    return 100 * (counted.work - 2) / done
