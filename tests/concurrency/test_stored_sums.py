"""Stored sums under many writers at once, on PostgreSQL: no reader ever sees a wrong one, even while they are compacted or rebuilt."""

import contextlib
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import peewee
import pytest

from limes.db.engine import Engine
from limes.projects import scrapes
from limes.projects.discovery import delete_projects
from limes.quota.queries import write_project_quotas
from limes.usage.sum_upkeep import compact_sums, rebuild_sums, wrong_sums
from tests.concurrency.conftest import Rounds
from tests.concurrency.test_quota import at_once
from tests.db.test_stored_sums import AZS, NOW, add_project, insert_commitment, make_services
from tests.support.databases import LOCK_WAITS

PROJECTS, RESOURCES = (1, 2, 3), (1, 2, 3)
WRITERS, ROUNDS = 6, 60

pytestmark = pytest.mark.parametrize(
    "databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """With three projects in two domains, that were never scraped."""
    make_services(engine)
    for number in PROJECTS:
        add_project(engine, number)
    return engine


def find_project(engine: Engine, number: int) -> int | None:
    found = engine.rows("SELECT id FROM projects WHERE uuid = %s", [f"project-{number}"])
    return found[0][0] if found else None


def scrape(engine: Engine, dice: random.Random, number: int) -> None:
    """As a collector does: several projects at once, under a lock on their resources."""

    def work() -> None:
        several = {project for each in range(number, number + 3) if (project := find_project(engine, each)) is not None}
        scrapes.keep_projects(engine, several)
        stored = scrapes.lock_figures(engine, several, RESOURCES)
        changes = [(project, scrapes.find_changes(stored[project], figures())) for project in several]
        scrapes.write_figures(engine, changes)

    def figures() -> scrapes.Figures:
        azs = {
            (resource, az): scrapes.AZRow(dice.randint(0, 20), None, "")
            for resource in RESOURCES
            for az in AZS
            if dice.random() < 0.7
        }
        rows = {
            resource: scrapes.ResourceRow(
                10, 10, sum(row.usage for (other, _), row in azs.items() if other == resource), None
            )
            for resource in RESOURCES
        }
        return scrapes.Figures(rows, azs)

    engine.atomic(work)


def use_by_hand(engine: Engine, dice: random.Random, number: int) -> None:
    """Without any lock of ours."""
    engine.atomic(
        lambda: engine.execute(
            "UPDATE project_az_resources SET usage = %s WHERE project_id = %s", [dice.randint(0, 20), number]
        )
    )


def commit(engine: Engine, dice: random.Random, number: int) -> None:
    """Without the lock on the resource that we take."""
    project = find_project(engine, number)
    if project is not None:
        engine.atomic(
            lambda: insert_commitment(engine, project, dice.choice(RESOURCES), dice.choice(AZS), dice.randint(1, 20))
        )


def end_some(engine: Engine, dice: random.Random, number: int) -> None:
    words = dice.choice(["UPDATE project_commitments SET status = 'expired'", "DELETE FROM project_commitments"])
    engine.atomic(lambda: engine.execute(f"{words} WHERE id %% 3 = {dice.randint(0, 2)}"))


def set_quota(engine: Engine, dice: random.Random, number: int) -> None:
    project = find_project(engine, number)
    if project is not None:
        engine.atomic(lambda: write_project_quotas(engine, project, dict.fromkeys(RESOURCES, dice.randint(0, 99))))


def replace_project(engine: Engine, dice: random.Random, number: int) -> None:
    engine.atomic(lambda: delete_projects(engine, [f"project-{number}"]))
    engine.atomic(lambda: add_project(engine, number))


DEEDS: list[Callable[[Engine, random.Random, int], None]] = [
    *(scrape, scrape, scrape, use_by_hand, commit, commit, end_some, set_quota, replace_project)
]


def write(engine: Engine, seed: int, times: int) -> int:
    """Does what comes, and answers how much of it was possible."""
    dice, done = random.Random(seed), 0
    for _ in range(times):
        with contextlib.suppress(peewee.IntegrityError):  # somebody else has deleted or made the project meanwhile
            dice.choice(DEEDS)(engine, dice, dice.choice(PROJECTS))
            done += 1
    return done


def test_writers_folders_and_readers_at_once(engine: Engine, rounds: Rounds) -> None:
    """Takes some seconds: as long as writers need to meet folders and readers."""
    times, done = rounds(ROUNDS), list[int]()

    def look() -> None:
        assert wrong_sums(engine, NOW) == []

    writers = [lambda seed=seed: done.append(write(engine, seed, times)) for seed in range(WRITERS)]
    fold = partial(compact_sums, engine)
    at_once(*writers, meanwhile=[look, fold, fold])
    assert sum(done) > WRITERS * times / 2
    assert wrong_sums(engine, NOW) == []


def test_rebuilding_while_others_write(engine: Engine, rounds: Rounds) -> None:
    done: list[int] = []

    def rebuild() -> None:
        rebuild_sums(engine)
        compact_sums(engine)
        assert wrong_sums(engine, NOW) == []

    writers = [lambda seed=seed: done.append(write(engine, seed, rounds(ROUNDS))) for seed in range(100, 103)]
    at_once(*writers, meanwhile=[rebuild])
    assert all(done)


@pytest.mark.parametrize("usage_first", [True, False])
def test_usage_and_a_commitment_change_at_once(engine: Engine, usage_first: bool) -> None:
    """Each is written before the other is visible: the second to take the lock has to see the first."""
    scrape(engine, random.Random(4), 1)
    project = find_project(engine, 1)
    assert project is not None
    has_written, may_commit = threading.Event(), threading.Event()

    def use() -> None:
        engine.execute("UPDATE project_az_resources SET usage = 3 WHERE project_id = %s", [project])

    def promise() -> None:
        insert_commitment(engine, project, 1, "az-one", 30)

    def write_first(deed: Callable[[], None]) -> None:
        def work() -> None:
            deed()
            has_written.set()
            assert may_commit.wait(60)

        engine.atomic(work)

    first, second = (use, promise) if usage_first else (promise, use)
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(write_first, first)]
        assert has_written.wait(60)
        running.append(pool.submit(engine.atomic, second))
        while not running[1].done() and not engine.rows(LOCK_WAITS):
            time.sleep(0.01)
        may_commit.set()
        for one in running:
            one.result()
    assert wrong_sums(engine, NOW) == []
    assert engine.rows("SELECT unused FROM unused_commitments WHERE az = 'az-one'") == [(27,)]
