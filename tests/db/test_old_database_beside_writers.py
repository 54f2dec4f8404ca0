"""A database of the time before there was one first migration is taken over while others write, on PostgreSQL."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from limes.db.engine import Engine
from limes.db.failures import DATABASE_ERRORS
from limes.db.migrate import Upgrade, limes_migrations
from limes.usage.sum_upkeep import wrong_sums
from tests.db.old_database import CONVERTER, FILL, wait_for
from tests.support.databases import ON_POSTGRESQL
from tests.support.levels import few_of

COMMITMENT = """
    INSERT INTO project_commitments (uuid, project_id, resource_id, az, amount, duration, status, created_at,
        creator_uuid, creator_name, confirmed_at, expires_at, transfer_status)
    SELECT md5(random()::text), id, {r}, 'az-one', 1 + {x}, '1 year', 'confirmed', 1, 'u', 'u', 1, 2e9, ''
    FROM projects WHERE id = {p}
"""
AZ = """
    INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)
    SELECT project_id, resource_id, 'az-two', {x}, '' FROM project_resources WHERE project_id = {p} AND resource_id = {r}
    ON CONFLICT DO NOTHING
"""
RESOURCE = """
    INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)
    SELECT id, {r}, 10, 100, {x} FROM projects WHERE id = {p} ON CONFLICT DO NOTHING
"""
PROJECT = """
    INSERT INTO projects (uuid, name, parent_uuid, domain_id, has_bursting)
    VALUES (md5(random()::text), 'n', 'd1', 1, false);
    INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)
    SELECT max(id), {r}, 10, 100, {x} FROM projects
"""
RANDOM_WRITES = (
    "UPDATE project_resources SET usage = {x}, quota = 2 * {x} WHERE project_id = {p}",
    "UPDATE project_az_resources SET usage = {x} WHERE project_id IN ({p}, {q})",
    "UPDATE project_commitments SET project_id = {q} WHERE project_id = {p}",
    "UPDATE project_commitments SET status = 'expired' WHERE project_id = {p}",
    "DELETE FROM project_resources WHERE project_id = {p} AND resource_id = {r}",
    "DELETE FROM projects WHERE id = {p} AND id %% 7 = 0",
    RESOURCE,
    AZ,
    COMMITMENT,
    PROJECT,
)
ONE = {"p": 3, "q": 4, "r": 2, "x": 8}
WRITES = (
    "DELETE FROM projects WHERE id = 3",
    "INSERT INTO resources (id, service_id, name, is_known) VALUES (10, 1, 'r10', true);"
    + RESOURCE.format(**{**ONE, "r": 10}),
    *(text.format(**ONE) for text in (*RANDOM_WRITES[:5], AZ, COMMITMENT)),
)
MANY = (
    FILL[FILL.index("INSERT INTO projects ") :]
    .replace("(1, 10)", "(11, 410)")
    .replace("FROM projects p", "FROM (SELECT * FROM projects WHERE id > 10) p")
)

pytestmark = ON_POSTGRESQL


@pytest.mark.parametrize("write", WRITES)
def test_sums_are_right_if_somebody_writes_when_triggers_change(old: Engine, other: Engine, write: str) -> None:
    """The writer is not done when the upgrade comes, which waits before it drops what the old triggers look into."""
    told, has_written = list[str](), threading.Event()

    def hold() -> None:
        other.execute(write)
        has_written.set()
        wait_for(lambda: told)
        other.execute("UPDATE project_resources SET usage = usage + 1")

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(other.atomic, hold)
        assert has_written.wait(100)
        limes_migrations.upgrade(old, told.append)
        writer.result(100)
    assert told[0].startswith(f"{CONVERTER} waits for project_")
    assert wrong_sums(old, time.time()) == []


@pytest.mark.parametrize("seed", few_of(range(6), 1))
def test_sums_are_right_beside_writers(
    old: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Of 400 projects, and of others that come and go while triggers change. Nobody fails because of that."""
    old.execute(MANY)
    do, is_over, done, problems = Upgrade._do, threading.Event(), [0, 0], []

    def do_beside_writers(upgrade: Upgrade, step: Any, name: str) -> bool:
        enough = [count + 5 for count in done]
        wait_for(lambda: all(count >= least for count, least in zip(done, enough, strict=True)))
        return do(upgrade, step, name)

    def write(number: int) -> None:
        dice, engine = random.Random(f"{seed} {number}"), Engine(database_url, lock_timeout=5)
        while not is_over.is_set():
            values = {"p": dice.randint(11, 410), "q": dice.randint(11, 410), "r": dice.randint(1, 9), "n": number}
            texts = [text.format(**values, x=dice.randint(0, 50)) for text in dice.sample(RANDOM_WRITES, 2)]
            try:
                engine.atomic(lambda texts=texts: [engine.execute(text) for text in texts])
                done[number] += 1
            except DATABASE_ERRORS as error:  # a collision, or somebody else has deleted the project
                problems.append(str(error))
        engine.close()

    monkeypatch.setattr(Upgrade, "_do", do_beside_writers)
    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(write, number) for number in range(2)]
        try:
            limes_migrations.upgrade(old)
        finally:
            is_over.set()
        assert [writer.result(100) for writer in writers] == [None, None]
    assert wrong_sums(old, time.time()) == []
    assert old.rows("SELECT to_regclass('uncounted_projects')") == [(None,)]
    assert [text for text in problems if "uncounted_projects" in text] == []
