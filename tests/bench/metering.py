"""`make bench-metering`: the account of usage of 392,000 figures, as 5,000 projects with 30 resources have them in three
AZs: beginning it, closing days, looking for what came late, reading a month.

`python -m tests.bench.metering 1` takes one domain (a thousand projects) instead of five. The last line is the number of
figures that miss their bar: a closed month has to be read within 2 seconds.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import requests

from limes.catalog.catalog import Catalog
from limes.db.engine import Engine
from limes.kernel.calendar import DAY, HOUR, month_of, next_month
from limes.metering import queries as metering
from limes.metering.close import close_days
from limes.metering.queries import StepRow
from tests.bench.awake import processors_awake
from tests.bench.limes import data
from tests.bench.limes.server import TOKEN, config, prepare, running_api, worker_memory
from tests.setup.needs import POSTGRESQL
from tests.support.clock import FrozenClock
from tests.support.limes import make_limes, make_settings, with_values
from tests.support.machine import must_stop
from tests.support.postgres import postgres_server

_DOMAINS = 5
_CHANGES = 0.1
"""The share of all resources whose usage changes on a day."""
_BAR = 2.0
"""Seconds."""


def timed(what: str, work: Callable[[], object]) -> float:
    """Prints and returns how long it took."""
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    print(f"{what}: {seconds:.2f} s", flush=True)
    return seconds


def change_some(engine: Engine, at: int) -> int:
    """Records other usage of every tenth resource. Returns how many."""
    every = round(1 / _CHANGES)
    places = engine.rows(
        "SELECT p.uuid, s.type, r.name, az.az, az.usage FROM project_az_resources az"
        " JOIN projects p ON p.id = az.project_id JOIN resources r ON r.id = az.resource_id"
        " JOIN services s ON s.id = r.service_id ORDER BY 1, 2, 3, 4"
    )
    rows = [
        StepRow(project, service, resource, az, at + number % (20 * HOUR), usage + number % 7, at)
        for number, (project, service, resource, az, usage) in enumerate(places)
        if number % every == at // DAY % every
    ]
    for start in range(0, len(rows), 5000):
        engine.atomic(partial(metering.add_steps, engine, rows[start : start + 5000]))
    return len(rows)


def count(engine: Engine, table: str) -> int:
    """Returns the number of rows."""
    ((rows,),) = engine.rows(f"SELECT COUNT(*) FROM {table}")
    return int(rows)


def measure(engine: Engine, url: str, folder: Path) -> int:
    """Prints the figures. Returns how many miss their bar."""
    clock = FrozenClock()
    settings = with_values(make_settings(), {"metering.valid_for": 1000 * DAY})
    run = partial(close_days, make_limes(engine, Catalog(data.AZS, []), settings, clock=clock))
    engine.execute("UPDATE project_services SET scraped_at = %s, scrape_error = ''", [clock.now().timestamp()])
    timed("the account begins", run)
    begin = int(clock.now().timestamp())
    month = month_of(begin)
    for number in range(31):
        changed = change_some(engine, begin + number * DAY) if number in (0, 1, 2) else 0
        clock.advance(DAY if number else DAY + HOUR)
        if number < 5:
            timed(f"a day is closed in which {changed:,} figures have changed", run)
    timed("the rest of the month is closed", run)
    change_some(engine, begin + 31 * DAY)
    for _ in range(2):
        clock.advance(60)
        timed("a run of the job with nothing to do", run)
    for table in ("usage_steps", "usage_days", "usage_months"):
        print(f"{table}: {count(engine, table):,} rows")
    engine.execute("VACUUM ANALYZE", [])
    missed = 0
    with running_api(config(url), folder) as api:
        address = f"http://127.0.0.1:{api.port}/v1/usage-reports?from={month}&until={next_month(month)}"
        for name, query, bar in (
            ("a closed month of all projects", "", _BAR),
            ("the same as CSV", "", _BAR),
            ("the same of one resource", "&service=compute&resource=compute-0", None),
            ("the same as a total", "&granularity=total", None),
            ("all days of one domain and resource", f"&granularity=day&domain_id={data.domain_uuid(1)}"
             "&service=compute&resource=compute-0", None),
        ):  # fmt: skip
            sizes = []
            is_csv = "CSV" in name
            accept = "text/csv" if is_csv else "application/json"
            headers = {"X-Auth-Token": TOKEN, "Accept-Encoding": "identity", "Accept": accept}
            for _ in range(3):
                start = time.perf_counter()
                answer = requests.get(address + query, headers=headers, timeout=600)
                assert answer.status_code == 200, answer.text[:300]
                sizes.append((time.perf_counter() - start, len(answer.content)))
            seconds, size = sorted(sizes)[1]
            entries = answer.content.count(b"\n") - (1 if is_csv else 2)  # one line each, between others
            print(f"{name}: {seconds:.2f} s (median of 3), {entries:,} entries, {size / 1e6:.0f} MB", flush=True)
            missed += bar is not None and seconds > bar
        print(f"memory of the worker: {worker_memory(api.process.pid):.0f} MiB")
    return missed


def main() -> int:
    """Loads the cloud, and measures."""
    domains = int(sys.argv[1]) if len(sys.argv) > 1 else _DOMAINS
    if (code := must_stop(POSTGRESQL)) is not None:
        return code
    with postgres_server() as server, tempfile.TemporaryDirectory() as folder, processors_awake():
        url = server.url(server.create_database())
        prepare(url, data.Size(domains=domains, commitments=1000 * domains))
        engine = Engine(url, statement_timeout=600)
        missed = measure(engine, url, Path(folder))
        engine.close()
    print(f"beyond the bar: {missed}")
    return missed


if __name__ == "__main__":
    sys.exit(main())
