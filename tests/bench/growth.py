"""`make bench-growth`: samples of growth of 10,000 projects with 51 resources: how long they take, and how much memory.

`python -m tests.bench.growth 2` takes two domains (of a thousand projects each) instead of ten. The last line is the
number of figures that miss their bar: the first sample, which notes all quotas, has to do with little more memory than
those that follow.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from limes.catalog.catalog import Catalog, ResourceDef, ServiceDef
from limes.db.engine import Engine
from limes.growth.sample import sample_growth
from tests.bench.awake import processors_awake
from tests.bench.limes import data
from tests.bench.limes.server import ROOT, prepare
from tests.setup.needs import POSTGRESQL
from tests.support.limes import make_limes
from tests.support.machine import must_stop
from tests.support.postgres import postgres_server

_DOMAINS = 10
_RESOURCES = 17
"""Of each of the three services."""
_BAR = 100.0
"""MiB, with Python itself."""


def take_sample(url: str) -> None:
    """Takes one, in this process. Prints seconds, and the process's largest memory in MiB."""
    engine = Engine(url, statement_timeout=600)
    services = [
        ServiceDef(service, service, {f"{service}-{number}": ResourceDef(f"{service}-{number}") for number in range(_RESOURCES)})
        for service in data.SERVICES
    ]  # fmt: skip
    start = time.perf_counter()
    sample_growth(make_limes(engine, Catalog(data.AZS, services)))
    seconds = time.perf_counter() - start
    status = Path("/proc/self/status").read_text()
    print(seconds, int(status.split("VmHWM:")[1].split()[0]) / 1024)


def measure(url: str, engine: Engine) -> int:
    """Prints the figures. Returns how many miss their bar."""
    missed = 0
    for what, change in (
        ("the first sample", ""),
        ("one in which nothing has changed", ""),
        ("one in which each tenth quota has changed", "quota = quota + 1 WHERE (project_id + resource_id) % 10 = 0"),
        ("one in which all quotas have changed", "quota = quota + 1"),
    ):
        if change:
            with engine.connection():
                engine.execute(f"UPDATE project_resources SET {change}".replace("% 10", "%% 10"), [])
        command = [sys.executable, "-m", "tests.bench.growth", "--sample", url]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        seconds, memory = map(float, done.stdout.split())
        print(f"{what}: {seconds:.1f} s, {memory:.0f} MiB", flush=True)
        missed += memory > _BAR
    return missed


def main() -> int:
    """Loads the cloud, and measures."""
    if sys.argv[1:2] == ["--sample"]:
        take_sample(sys.argv[2])
        return 0
    if (code := must_stop(POSTGRESQL)) is not None:
        return code
    data.RESOURCES_PER_SERVICE = _RESOURCES
    with postgres_server() as server, tempfile.TemporaryDirectory(), processors_awake():
        url = server.url(server.create_database())
        domains = int(sys.argv[1]) if len(sys.argv) > 1 else _DOMAINS
        prepare(url, data.Size(domains=domains, commitments=1000 * domains))
        engine = Engine(url, statement_timeout=600)
        missed = measure(url, engine)
        engine.close()
    print(f"beyond the bar: {missed}")
    return missed


if __name__ == "__main__":
    sys.exit(main())
