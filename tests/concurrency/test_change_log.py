"""A process is killed while it sets quotas, again and again: each change has its history and its event, or neither.

And many at once: whatever the order of their commits, the events of each quota are delivered in the order of its changes.
"""

import json
import multiprocessing
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from limes.audit.sinks import Delivery
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.kernel.system import SystemClock
from limes.notifications.deliver import DeliverEvents
from tests.api.world import BERLIN, DRESDEN, World, make_world
from tests.collector.lab import NoJitter
from tests.concurrency.test_quota import at_once
from tests.quota.quotas import DOMAIN, request_quotas
from tests.support.databases import PostgresDatabases, SQLiteDatabases

KILLS = 6
PROCESSES = multiprocessing.get_context("forkserver")  # what a writer imports is imported once
PROCESSES.set_forkserver_preload([__name__])


def put(world: World, cores: int, project: str = BERLIN) -> int:
    quotas = {"cores": cores, "ram": 1000 + cores}
    return int(request_quotas(world, f"{DOMAIN}/projects/{project}", quotas).status_code)


def write_for_ever(url: str) -> None:
    engine = Engine(url)
    world = make_world(engine, sinks=("log", "rabbitmq"), fill=False)
    while True:
        for cores in range(20, 70):
            assert put(world, cores) == 202


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        source = SQLiteDatabases(tmp_path, request.getfixturevalue("_sqlite_templates"))
    else:
        source = PostgresDatabases(request.getfixturevalue("postgres"), request.getfixturevalue("_postgres_templates"))
    yield source.migrated(limes_migrations)
    source.drop_all()


@pytest.mark.timeout(600)
def test_all_or_nothing(url: str) -> None:
    engine = Engine(url)
    make_world(engine)
    for _ in range(KILLS):
        count = rows(engine, "SELECT COUNT(*) FROM quota_history")[0][0]
        writer = PROCESSES.Process(target=write_for_ever, args=[url], daemon=True)
        writer.start()
        deadline = time.monotonic() + 200
        while rows(engine, "SELECT COUNT(*) FROM quota_history")[0][0] < count + 8 and time.monotonic() < deadline:
            time.sleep(0.003)
        writer.kill()
        writer.join()
        check(engine)
        assert rows(engine, "SELECT COUNT(*) FROM quota_history")[0][0] >= count + 8
    engine.close()


def check(engine: Engine) -> None:
    """No change without its line, no line without its change, and one event for each sink and line."""

    def read() -> None:
        for name in ("cores", "ram"):
            steps = engine.rows("SELECT old, new FROM quota_history WHERE resource_name = %s ORDER BY number", [name])
            assert all(before[1] == after[0] for before, after in pairwise(steps))
            (present,) = engine.rows(
                "SELECT quota FROM project_resources WHERE project_id = 1"
                " AND resource_id = (SELECT id FROM resources WHERE name = %s)",
                [name],
            )
            assert steps[-1][1] == present[0]
        lines = engine.rows("SELECT COUNT(*) FROM quota_history")[0][0]
        assert engine.rows("SELECT sink, COUNT(*) FROM audit_outbox GROUP BY sink ORDER BY sink") == [
            ("log", lines),
            ("rabbitmq", lines),
        ]

    engine.snapshot(read)


def rows(engine: Engine, sql: str) -> list[tuple[Any, ...]]:
    with engine.connection():
        return engine.rows(sql)


class Recorder:
    """A sink that takes everything, in memory."""

    name = "log"

    def __init__(self) -> None:
        self.got = []

    def deliver(self, events: Any) -> Delivery:
        self.got += [json.loads(event.document) for event in events]
        return Delivery([event.number for event in events])


@pytest.mark.timeout(600)
def test_order_while_many_write_and_several_deliver(url: str) -> None:
    engine = Engine(url, pool_size=12)
    world = make_world(engine, sinks=("log",))
    sink = Recorder()

    def write(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(25):
            assert put(world, dice.randint(31, 49), dice.choice([BERLIN, DRESDEN])) == 202

    limes = structs.replace(world.limes, clock=SystemClock(), jitter=NoJitter())
    deliver = [DeliverEvents(limes, sink, limes.settings.audit, interval=1e-4).run_if_due for _ in range(3)]
    at_once(*[partial(write, seed) for seed in range(4)], meanwhile=deliver)
    while rows(engine, "SELECT 1 FROM audit_outbox WHERE delivered_at IS NULL LIMIT 1"):
        deliver[0]()
    chains = defaultdict(list)
    for event in sink.got:
        content = json.loads(event["target"]["attachments"][0]["content"])
        chains[event["target"]["id"], event["target"]["typeURI"]].append((content["oldQuota"], content["newQuota"]))
    assert len(chains) == 4
    for chain in chains.values():
        assert all(before[1] == after[0] for before, after in pairwise(chain)), "no event is lost, late or early"
    assert len({event["id"] for event in sink.got}) == len(sink.got)
    assert len(sink.got) == rows(engine, "SELECT COUNT(*) FROM quota_history")[0][0]
    engine.close()
