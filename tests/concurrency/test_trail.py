"""A process is killed while it sets quotas, again and again: each change has its history and its event, or neither."""

import multiprocessing
import time
from itertools import pairwise

import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.api.world import BERLIN, GERMANY, World, make_world
from tests.support.databases import PostgresDatabases, SQLiteDatabases

KILLS = 6
PATH = f"/v1/domains/{GERMANY}/projects/{BERLIN}"


def put(world: World, cores: int) -> int:
    resources = [{"name": "cores", "quota": cores}, {"name": "ram", "quota": 1000 + cores}]
    return int(
        world.request(
            "PUT", PATH, json={"project": {"services": [{"type": "compute", "resources": resources}]}}
        ).status_code
    )


def write_for_ever(url: str) -> None:
    engine = Engine(url)
    world = make_world(engine, sinks=("log", "rabbitmq"), fill=False)
    while True:
        for cores in range(20, 70):
            assert put(world, cores) == 202


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def url(request, tmp_path):
    if request.param == "sqlite":
        source = SQLiteDatabases(tmp_path, request.getfixturevalue("_sqlite_templates"))
    else:
        source = PostgresDatabases(request.getfixturevalue("postgres"), request.getfixturevalue("_postgres_templates"))
    yield source.migrated(limes_migrations)
    source.drop_all()


@pytest.mark.timeout(300)
def test_all_or_nothing(url):
    engine = Engine(url)
    make_world(engine)
    for _ in range(KILLS):
        count = rows(engine, "SELECT COUNT(*) FROM quota_history")[0][0]
        writer = multiprocessing.get_context("spawn").Process(target=write_for_ever, args=[url], daemon=True)
        writer.start()
        deadline = time.monotonic() + 60
        while rows(engine, "SELECT COUNT(*) FROM quota_history")[0][0] < count + 8 and time.monotonic() < deadline:
            time.sleep(0.003)
        writer.kill()
        writer.join()
        check(engine)
        assert rows(engine, "SELECT COUNT(*) FROM quota_history")[0][0] >= count + 8
    engine.close()


def check(engine):
    """No change without its line, no line without its change, and one event for each sink and line."""

    def read():
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


def rows(engine, sql):
    with engine.connection():
        return engine.rows(sql)
