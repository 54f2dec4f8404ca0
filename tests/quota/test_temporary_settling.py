"""Quota for a time with real collectors: it ends and begins by itself, even if they are killed in the middle."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.collector.test_collector import PENDING, SCRAPED, Cloud, process
from tests.support.databases import ON_POSTGRESQL, MigratedUrlFactory
from tests.support.processes import eventually

CORES = "(SELECT id FROM resources WHERE name = 'cores')"
BERLIN = "(SELECT id FROM projects WHERE name = 'berlin')"
LEFT = "SELECT COUNT(*) FROM temporary_quotas"
QUOTA = f"SELECT quota FROM project_resources WHERE project_id = {BERLIN} AND resource_id = {CORES}"
OPTIONS = {"temporary_quota_interval": 0.1, "lease": 300}


@pytest.fixture
def cloud(database_url_with: MigratedUrlFactory) -> Iterator[Cloud]:
    cloud = Cloud(database_url_with(limes_migrations))
    cloud.compute.default_quota = {"cores": 0, "ram": 0}
    with cloud.collector(**OPTIONS):
        cloud.wait_until(SCRAPED, [(6,)])
        cloud.wait_until(PENDING, [(0,)])
    yield cloud
    cloud.engine.close()


def execute(cloud: Cloud, sql: str, *values: Any) -> None:
    cloud.engine.atomic(lambda: cloud.engine.execute(sql, list(values)))


def give(cloud: Cloud, quota: int, state: str, before: int | None, starts_at: float, until: float) -> None:
    """Puts a temporary quota of berlin into the database, as the API does."""
    due_at = starts_at if before is None else until
    execute(cloud, f"UPDATE domain_resources SET quota = 100 WHERE resource_id = {CORES}")
    execute(
        cloud,
        f"UPDATE project_resources SET quota = %s WHERE project_id = {BERLIN} AND resource_id = {CORES}",
        5 if before is None else quota,
    )
    execute(
        cloud,
        "INSERT INTO temporary_quotas (domain_id, project_id, resource_id, state, quota, before, starts_at, until,"
        f" due_at, problem) SELECT domain_id, id, {CORES}, %s, %s, %s, %s, %s, %s, '' FROM projects"
        " WHERE name = 'berlin'",
        *(state, quota, before, starts_at, until, due_at),
    )


def test_it_ends_and_the_backend_is_told(cloud: Cloud) -> None:
    now = time.time()
    give(cloud, 50, "active", 5, now - 100, now - 1)
    with cloud.collector(**OPTIONS):
        cloud.wait_until(LEFT, [(0,)])
        cloud.wait_until(PENDING, [(0,)])
    assert cloud.rows(QUOTA) == [(5,)]
    assert cloud.compute.quota["berlin"]["cores"] == 5


def test_a_plan_begins_and_ends_by_itself(cloud: Cloud) -> None:
    now = time.time()
    give(cloud, 50, "planned", None, now - 1, now + 1)
    with cloud.collector(**OPTIONS):
        cloud.wait_until(LEFT, [(0,)])
        cloud.wait_until(PENDING, [(0,)])
    steps = cloud.rows("SELECT old, new FROM quota_history WHERE reason = 'temporary-quota' ORDER BY number")
    # a machine that stood still for seconds has missed it
    assert steps in ([(5, 50), (50, 5)], [(5, 5)])
    assert cloud.rows(QUOTA) == [(5,)]


@ON_POSTGRESQL  # there is a lock to wait for
def test_a_collector_that_is_killed_in_the_middle(cloud: Cloud, tmp_path: Path) -> None:
    """It waits for the rows of the project, and has done half of its work: nothing of that stays, and another one does
    all of it."""
    now = time.time()
    give(cloud, 50, "active", 5, now - 100, now - 1)
    victim = process(cloud, tmp_path, "nothing")
    blocked = (
        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        " AND query LIKE '%%project_resources%%'"
    )

    def kill_while_it_waits() -> None:
        cloud.engine.execute(f"SELECT 1 FROM project_resources WHERE resource_id = {CORES} FOR UPDATE")
        other = Engine(cloud.url)
        try:
            victim.start()
            with other.connection():
                eventually("it waits for the rows", lambda: other.rows(blocked) != [(0,)])
            victim.signal(signal.SIGKILL)
            victim.stop()
        finally:
            other.close()

    cloud.engine.atomic(kill_while_it_waits)
    assert cloud.rows(QUOTA) == [(50,)]
    assert cloud.rows(LEFT) == [(1,)]
    with cloud.collector(**(OPTIONS | {"lease": 1})):
        cloud.wait_until(LEFT, [(0,)])
        cloud.wait_until(PENDING, [(0,)])
    assert cloud.rows(QUOTA) == [(5,)]
    assert cloud.rows("SELECT old, new FROM quota_history WHERE reason = 'temporary-quota'") == [(50, 5)]
    assert cloud.compute.quota["berlin"]["cores"] == 5


@ON_POSTGRESQL  # SQLite bears one collector
def test_several_collectors(cloud: Cloud) -> None:
    now = time.time()
    give(cloud, 50, "active", 5, now - 100, now - 1)
    with cloud.collector(**OPTIONS), cloud.collector(**OPTIONS), cloud.collector(**OPTIONS):
        cloud.wait_until(LEFT, [(0,)])
        cloud.wait_until(PENDING, [(0,)])
    assert cloud.rows("SELECT old, new FROM quota_history WHERE reason = 'temporary-quota'") == [(50, 5)]
