"""Compares our Placement with the OpenStack project's: `python -m tests.bench.placement [--quick]`.

Both run on one PostgreSQL with the same gunicorn settings and are asked in turn. The last line is the number of
measures below the bar. `--quick` leaves out the 10,000 providers.
"""

import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from limes.placement.search.model import Provider
from tests.bench.awake import processors_awake
from tests.bench.client import seconds_of
from tests.bench.placement import measures
from tests.bench.placement.clouds import flat, nested, wide
from tests.bench.placement.fill import fill
from tests.bench.placement.measures import PLAIN
from tests.bench.placement.report import Report
from tests.bench.placement.servers import WORKERS, Server, both_servers
from tests.setup.needs import POSTGRESQL, REAL
from tests.support.machine import MACHINE, must_stop
from tests.support.postgres import PostgresServer, postgres_server
from tests.support.processes import scratch_folder
from tests.support.real import RealVenv

Measure = Callable[[Report, tuple[Server, Server], list[Provider]], None]


def on_cloud(
    report: Report,
    postgres: PostgresServer,
    venv: RealVenv,
    folder: Path,
    cloud: Iterator[Provider],
    work: Measure,
    workers: int = WORKERS,
) -> None:
    """Fills a cloud into both servers and measures."""
    providers = list(cloud)
    with both_servers(postgres, venv, folder, workers) as servers:
        for server in servers:
            fill(server.name, server.database_url, providers)
            for _ in range(8):
                server.client().get(f"{PLAIN}&limit=10")
        work(report, servers, providers)


def flat_1000(report: Report, servers: tuple[Server, Server], providers: list[Provider]) -> None:
    measures.reads(report, servers, "1000 flat", providers)
    measures.changing_reads(report, servers, "1000 flat", providers)
    measures.parallel_reads(report, servers, "1000 flat")
    measures.consumers(report, servers, providers)
    measures.throughput(report, servers, WORKERS, providers)
    report.most("memory of a worker, 1000 flat", servers[1].worker_memory(), 150, "MiB")
    measures.writes(report, servers, providers)


def one_worker(report: Report, servers: tuple[Server, Server], providers: list[Provider]) -> None:
    measures.throughput(report, servers, 1, providers)


def nested_1000(report: Report, servers: tuple[Server, Server], providers: list[Provider]) -> None:
    measures.reads(report, servers, "1000 nested", providers)
    measures.changing_reads(report, servers, "1000 nested", providers)
    measures.parallel_reads(report, servers, "1000 nested")
    report.most("memory of a worker, 1000 nested", servers[1].worker_memory(), 150, "MiB")
    measures.loading(report, servers)


def flat_10000(report: Report, servers: tuple[Server, Server], providers: list[Provider]) -> None:
    measures.reads(report, servers, "10,000 flat", providers, large=True)
    report.most("memory of a worker, 10,000 flat", servers[1].worker_memory(), 400, "MiB")


def flat_5000(report: Report, servers: tuple[Server, Server], providers: list[Provider]) -> None:
    measures.provider_list(report, servers, "5,000 flat")


def wide_50(report: Report, servers: tuple[Server, Server], providers: list[Provider]) -> None:
    measures.wide_trees(report, servers[1])


def our_times(servers: tuple[Server, Server]) -> tuple[float, float]:
    """Our median seconds without limit, and with limit=50."""
    client = servers[1].client()
    paths = (PLAIN, f"{PLAIN}&limit=50")
    whole, some = (statistics.median(seconds_of(lambda p=p: client.get(p)) for _ in range(15)) for p in paths)
    return whole, some


def main() -> int:
    if (code := must_stop(REAL, POSTGRESQL)) is not None:
        return code
    venv = RealVenv(MACHINE.real_venv)
    report, shape = Report(), dict[str, tuple[float, float]]()

    def with_shape(name: str, work: Measure) -> Measure:
        def run(report: Report, servers: tuple[Server, Server], providers: list[Provider]) -> None:
            work(report, servers, providers)
            shape[name] = our_times(servers)

        return run

    with postgres_server() as postgres, scratch_folder("limes-bench-") as folder, processors_awake():
        report.header()
        on_cloud(report, postgres, venv, folder / "flat", flat(1000), with_shape("1000", flat_1000))
        on_cloud(report, postgres, venv, folder / "one", flat(1000), one_worker, workers=1)
        on_cloud(report, postgres, venv, folder / "nested", nested(1000), nested_1000)
        on_cloud(report, postgres, venv, folder / "middle", flat(5000), flat_5000)
        on_cloud(report, postgres, venv, folder / "wide", wide(50), wide_50)
        if "--quick" not in sys.argv:
            on_cloud(report, postgres, venv, folder / "large", flat(10_000), with_shape("10,000", flat_10000))
            report.most("10,000 flat over 1000 flat, no limit", shape["10,000"][0] / shape["1000"][0], 12, "times")
            report.most("10,000 flat over 1000 flat, limit=50", shape["10,000"][1] / shape["1000"][1], 3, "times")
    print(f"below the bar: {len(report.below)}")
    return 1 if report.below else 0


if __name__ == "__main__":
    sys.exit(main())
