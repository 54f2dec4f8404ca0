"""`make bench-collector`: scrapes a second with 1, 2 and 4 collectors, CPU time and statements a scrape, lag, memory;
and how long a computation of quota takes that follows usage.

The machine is shared by the collectors and PostgreSQL, which runs without fsync, as in all tests. Seconds of a
measurement may be given as an argument.
"""

import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from limes.catalog.catalog import Catalog
from limes.collector.sync_catalog import sync_catalog
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.bench.collector import autogrow, cloud
from tests.bench.statements import statements_of
from tests.setup.needs import POSTGRESQL
from tests.support.limes import capacitors, make_limes
from tests.support.machine import must_stop
from tests.support.postgres import PostgresServer, postgres_server
from tests.support.processes import ServerProcess, children_of

ROOT = Path(__file__).parents[3]
TICKS = os.sysconf("SC_CLK_TCK")
ONCE, AGAIN = 1e8, 300.0
"""Intervals: no project twice in a measurement; all projects in five minutes."""


@dataclass
class Bench:
    """A loaded database."""

    server: PostgresServer
    engine: Engine
    url: str
    folder: Path

    @contextlib.contextmanager
    def collectors(self, count: int, interval: float, moving: int = 1) -> Iterator[list[int]]:
        """So many processes, for as long as the block lasts; gives their ids. The usage of so many resources moves with
        each report."""
        with contextlib.ExitStack() as stack:
            processes = [
                ServerProcess(
                    [sys.executable, "-m", "tests.bench.collector.process", self.url, str(interval), str(moving)],
                    ready=lambda: True,
                    log=self.folder / f"collector-{number}.log",
                    env={"PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}"},
                )
                for number in range(count)
            ]
            pids = [stack.enter_context(process).pid for process in processes]
            while self.number("SELECT COUNT(*) FROM project_services WHERE scrape_claimed_until IS NOT NULL") == 0:
                time.sleep(0.1)
                assert all(process.is_running() for process in processes), processes[0].log_text()
            time.sleep(2)
            yield pids

    @property
    def services(self) -> int:
        """How many project services there are."""
        return cloud.PROJECTS * len(cloud.SERVICES)

    def number(self, sql: str) -> float:
        """The one number that a query answers."""
        (row,) = self.engine.rows(sql)
        return float(row[0] or 0)

    def scraped(self) -> float:
        """How many project services were scraped since `make_due`."""
        return self.number("SELECT COUNT(*) FROM project_services WHERE checked_at > 1")

    def make_due(self, spread: float = 0) -> None:
        """Makes everything due: now, or evenly over the next so many seconds."""
        self.engine.execute(
            "UPDATE project_services SET scraped_at = EXTRACT(EPOCH FROM now()) - 1800,"
            " metered_at = EXTRACT(EPOCH FROM now()) - 1800, checked_at = 1, scrape_claimed_until = NULL,"
            " next_scrape_at = EXTRACT(EPOCH FROM now()) - 1 + %s * random()",
            [spread],
        )
        with self.engine.connection():
            self.engine.db.execute_sql("VACUUM ANALYZE project_services")
            self.engine.db.execute_sql("VACUUM project_az_resources")
            self.engine.db.execute_sql("CHECKPOINT")


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def server_cpu_seconds(server: PostgresServer) -> float:
    """CPU time of the server's processes."""
    postmaster = (server.socket_folder / "data" / "postmaster.pid").read_text().split()[0]
    total = 0.0
    for pid in children_of(int(postmaster)):
        with contextlib.suppress(FileNotFoundError):
            total += cpu_seconds(pid)
    return total


def memory(pid: int) -> float:
    """Resident memory of a process in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def throughput(bench: Bench, count: int, seconds: float, moving: int = 1) -> None:
    """Prints a row for so many collectors; ends early when all is scraped."""
    bench.make_due()
    with bench.collectors(count, ONCE, moving) as pids:
        start, before = time.monotonic(), bench.scraped()
        cpu, server_cpu = sum(map(cpu_seconds, pids)), server_cpu_seconds(bench.server)
        memory_before = max(map(memory, pids))
        while time.monotonic() - start < seconds and bench.scraped() < 0.9 * bench.services:
            time.sleep(0.5)
        done, took = bench.scraped() - before, time.monotonic() - start
        used = 1000 * (sum(map(cpu_seconds, pids)) - cpu) / done
        server_used = 1000 * (server_cpu_seconds(bench.server) - server_cpu) / done
        rate = done / took
        print(
            f"{count:10} {moving:8} {rate:12.0f} {used:18.2f} {server_used:18.2f}"
            f" {memory_before:12.0f} {max(map(memory, pids)):10.0f}",
            flush=True,
        )


def statements(bench: Bench) -> None:
    """Prints how many statements PostgreSQL sees for a scrape, without our own two."""
    bench.make_due()
    with bench.collectors(1, ONCE), statements_of(bench.server) as counted:
        before = bench.scraped()
        time.sleep(3)
        done = bench.scraped() - before
    print(
        f"statements a scrape ({done:.0f} scrapes): {(counted.work - 2) / done:.2f},"
        f" and {counted.frame / done:.2f} BEGIN and COMMIT",
        flush=True,
    )


def lag(bench: Bench, seconds: float) -> None:
    """Prints by how much due projects are late, when all are due once in `AGAIN` seconds."""
    bench.make_due(AGAIN)
    late = (
        "SELECT EXTRACT(EPOCH FROM now()) - MIN(next_scrape_at) FROM project_services"
        " WHERE next_scrape_at <= EXTRACT(EPOCH FROM now())"
    )
    with bench.collectors(1, AGAIN) as pids:
        memories, samples = [memory(pids[0])], []
        for _ in range(int(seconds)):
            time.sleep(1)
            samples.append(bench.number(late))
            memories.append(memory(pids[0]))
        rate = bench.services / AGAIN
        print(
            f"lag at {rate:.0f} scrapes a second: {statistics.median(samples):.1f} s (median),"
            f" {max(samples):.1f} s (largest); memory {memories[0]:.0f} to {memories[-1]:.0f} MiB",
            flush=True,
        )


def prepare(url: str, projects: int = cloud.PROJECTS) -> Engine:
    """Migrates and loads."""
    engine = Engine(url, statement_timeout=600)
    limes_migrations.upgrade(engine)
    catalog = Catalog(cloud.AZS, [cloud.service(name) for name in cloud.SERVICES])
    sync_catalog(make_limes(engine, catalog, backends=capacitors("nothing")))
    cloud.load(engine, projects)
    return engine


def main() -> int:
    """Prints the figures."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    if (code := must_stop(POSTGRESQL)) is not None:
        return code
    with postgres_server() as server, tempfile.TemporaryDirectory() as folder:
        url = server.url(server.create_database())
        start = time.perf_counter()
        bench = Bench(server, prepare(url), url, Path(folder))
        print(f"{bench.services} project services loaded in {time.perf_counter() - start:.0f} s")
        print(f"{'changed':>19} {'':12}{'ms of CPU a scrape':>38}{'MiB of a collector':>24}")
        print(
            f"collectors {'figures':>8} {'scrapes a s':>12} {'collector':>18} {'PostgreSQL':>18} {'at first':>12}"
            f" {'at last':>10}"
        )
        for count, moving in ((1, 0), (1, 1), (1, cloud.RESOURCES), (2, 1), (4, 1)):
            throughput(bench, count, seconds, moving)
        statements(bench)
        lag(bench, 2 * seconds)
        bench.engine.close()
        for projects in autogrow.PROJECTS:
            autogrow.measure(server.url(server.create_database()), projects)
    return 0


if __name__ == "__main__":
    sys.exit(main())
