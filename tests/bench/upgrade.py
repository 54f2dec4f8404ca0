"""`make bench-upgrade`: how long readers and writers wait while the schema is upgraded beside processes of the previous
release: its API, whose projects are read and whose quotas are set, and its collector, which scrapes all the time.

`python -m tests.bench.upgrade 5` takes 5 domains (5,000 projects, 150,000 project resources) alone, instead of 5 and 50.
The last line is the number of migrations that have kept a reader waiting for more than a second.
"""

import contextlib
import itertools
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import yaml

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.bench.limes import data
from tests.bench.limes.server import TOKEN, config
from tests.hosts.release import Release, previous_release
from tests.setup.needs import POSTGRESQL
from tests.support.machine import must_stop
from tests.support.postgres import postgres_server
from tests.support.processes import ServerProcess, free_port, http_answers

_DOMAINS = (5, 50)
_BAR = 1.0
"""Seconds that a reader may wait."""
_BEFORE = 10.0
"""Seconds of the same load before the upgrade."""
_CLIENTS = 2
"""Of each kind."""
_JOBS = ("discovery", "commitments", "commitment-use", "consistency", "history", "metering", "growth")
"""Of the previous release: the first would delete the bench's projects, and the others read all of them."""
_INTERVAL = 3600
"""Seconds between two runs of these jobs, or less. A job that is due much later is due at once."""


@dataclass(frozen=True)
class Request:
    """What a client has seen."""

    is_write: bool
    begin: float
    end: float
    status: int


class Clients:
    """Read projects and set their quotas, one request after the other."""

    def __init__(self, address: str, domains: int) -> None:
        self._address = address
        self._domains = domains
        self._over = threading.Event()
        self.requests: list[Request] = []

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """They work for as long as the block lasts."""
        kinds = [False, True] * _CLIENTS
        threads = [threading.Thread(target=self._repeat, args=[number, kind]) for number, kind in enumerate(kinds)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join(150)

    def _repeat(self, number: int, is_write: bool) -> None:
        chance = random.Random(number)
        with requests.Session() as session:
            session.headers["X-Auth-Token"] = TOKEN
            for count in itertools.count(1):
                if self._over.is_set():
                    return
                project = chance.randrange(self._domains * data.PROJECTS_PER_DOMAIN)
                domain = data.domain_uuid(1 + project // data.PROJECTS_PER_DOMAIN)
                path = f"{self._address}/v1/domains/{domain}/projects/{data.project_uuid(1 + project)}"
                resources = [{"name": "compute-0", "quota": 2000 + count % 1000}]
                body = {"project": {"services": [{"type": "compute", "resources": resources}]}}
                begin = time.time()
                answer = session.request(
                    "PUT" if is_write else "GET", path, json=body if is_write else None, timeout=300
                )
                self.requests.append(Request(is_write, begin, time.time(), answer.status_code))

    def longest(self, is_write: bool, begin: float, end: float) -> float:
        """Returns the longest time of a request that was under way in this time."""
        waits = [each.end - each.begin for each in self._during(is_write, begin, end)]
        return max(waits, default=0.0)

    def failed(self, begin: float, end: float) -> int:
        """Returns how many requests failed that were under way in this time."""
        return sum(each.status >= 500 for kind in (False, True) for each in self._during(kind, begin, end))

    def _during(self, is_write: bool, begin: float, end: float) -> list[Request]:
        return [each for each in self.requests if each.is_write is is_write and each.begin < end and each.end > begin]


@contextlib.contextmanager
def processes(release: Release, url: str, folder: Path, load: Callable[[], None]) -> Iterator[str]:
    """Runs its API and its collector, with the data loaded between both. Gives the API's address."""
    document = config(url)
    metrics = f"127.0.0.1:{free_port()}"
    document["collector"] = {"scrape_interval": 60, "listen": metrics}
    document["collector"] |= {"discovery_interval": _INTERVAL, "commitment_interval": _INTERVAL}
    document["metering"] = {"interval": _INTERVAL}
    file = folder / "limes.yaml"
    file.write_text(yaml.safe_dump(document))
    env = {**release.env, "LIMES_CONFIG": str(file)}

    def process(name: str, address: str) -> ServerProcess:
        ready = http_answers(f"http://{address}/healthcheck")
        return ServerProcess([*release.command, name], ready=ready, log=folder / f"{name}.log", env=env, cwd=folder)

    release.run("db", "upgrade", env=env)
    listen: str = document["api"]["listen"]
    with process("api", listen):
        load()
        with process("collect", metrics):
            yield f"http://{listen}"


def fill(engine: Engine, size: data.Size) -> None:
    """Loads the previous release's database. All projects are due, over a minute, again and again."""
    data.load(engine, size)
    engine.execute("UPDATE project_services SET next_scrape_at = EXTRACT(EPOCH FROM now()) + 60 * random()")
    for job in _JOBS:
        engine.execute(
            "INSERT INTO jobs (name, next_run_at, error) VALUES (%s, EXTRACT(EPOCH FROM now()) + %s, '')"
            " ON CONFLICT (name) DO UPDATE SET next_run_at = excluded.next_run_at",
            [job, _INTERVAL / 2],
        )
    with engine.connection():
        engine.db.execute_sql("VACUUM ANALYZE")


def measure(engine: Engine, clients: Clients) -> int:
    """Upgrades, and prints what happened meanwhile. Returns how many migrations miss their bar."""
    with clients.at_work():
        start = time.time()
        time.sleep(_BEFORE)
        begin = time.time()
        limes_migrations.upgrade(engine, lambda line: print(f"  {time.time() - begin:.1f} s: {line}", flush=True))
        end = time.time()
    applied: list[tuple[str, Any]] = engine.rows("SELECT name, applied FROM limes_schema_migrations ORDER BY id")
    ends = [(name, at.timestamp()) for name, at in applied if at.timestamp() > begin]
    rows = [("before the upgrade", start, begin)]
    for name, at in [*ends, ("ANALYZE", end)]:
        rows.append((name, rows[-1][2], at))
    print(f"{'':24}{'took':>8}{'reader':>8}{'writer':>8}{'failed':>8}  (longest wait, seconds)")
    missed = 0
    for name, since, until in rows:
        reader = clients.longest(False, since, until)
        writer = clients.longest(True, since, until)
        failed = clients.failed(since, until)
        print(f"{name:24}{until - since:8.1f}{reader:8.2f}{writer:8.2f}{failed:8}", flush=True)
        missed += reader > _BAR and since >= begin
    print(f"{len(clients.requests):,} requests; the upgrade took {end - begin:.1f} s")
    return missed


def run(release: Release, domains: int) -> int:
    """Measures one size. Returns how many migrations miss their bar."""
    size = data.Size(domains=domains, commitments=4000 * domains)
    print(f"{domains * data.PROJECTS_PER_DOMAIN * 30:,} project resources", flush=True)
    with postgres_server() as server, tempfile.TemporaryDirectory() as folder:
        url = server.url(server.create_database())
        engine = Engine(url, statement_timeout=3600)
        try:
            with processes(release, url, Path(folder), lambda: fill(engine, size)) as address:
                scraped = "SELECT COUNT(*) FROM project_services WHERE next_scrape_at > EXTRACT(EPOCH FROM now()) + 30"
                while engine.rows(scraped) == [(0,)]:
                    time.sleep(0.5)
                return measure(engine, Clients(address, domains))
        finally:
            engine.close()


def main() -> int:
    """Measures all sizes."""
    sizes = list(map(int, sys.argv[1:])) or _DOMAINS
    if (code := must_stop(POSTGRESQL)) is not None:
        return code
    with tempfile.TemporaryDirectory() as folder:
        release = previous_release(Path(folder))
        missed = sum(run(release, domains) for domains in sizes)
    print(f"beyond the bar: {missed}")
    return missed


if __name__ == "__main__":
    sys.exit(main())
