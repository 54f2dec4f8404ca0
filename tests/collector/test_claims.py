"""Many collectors at once: no task is ever done by two of them, and none is forgotten."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from limes.backends import ProjectInfo
from limes.db.engine import Engine
from limes.projects import tasks
from limes.quota.push_quota import push_quota
from tests.collector.lab import GERMANY, FakeKeystone, Lab

pytestmark = pytest.mark.sql

PROJECTS = 40
COLLECTORS = 6


@pytest.fixture
def crowd(make_lab: Callable[..., Lab]) -> Lab:
    """A lab with many projects."""
    found = [ProjectInfo(f"p-{number}", f"town-{number}", GERMANY.id, GERMANY) for number in range(PROJECTS)]
    lab = make_lab(keystone=FakeKeystone(*found))
    lab.discover()
    return lab


def at_once(work: Callable[..., Any]) -> list[Any]:
    """Runs the work in as many threads as there are collectors, and answers what they answer."""
    barrier = threading.Barrier(COLLECTORS)

    def run(_: Any) -> Any:
        barrier.wait(timeout=30)
        return work()

    with ThreadPoolExecutor(COLLECTORS) as pool:
        return list(pool.map(run, range(COLLECTORS)))


def until_none(call: Callable[..., Any]) -> Any:
    return sum(1 for _ in iter(call, None))


def test_each_project_is_scraped_once(crowd: Lab) -> None:
    crowd.compute.during = lambda: time.sleep(0.002)
    counts = at_once(lambda: until_none(lambda: crowd.scrape_next("compute")))
    while crowd.scrape_next("compute") is not None:  # rows that all had to skip because another one held them
        counts.append(1)
    assert sum(counts) == PROJECTS
    assert Counter(crowd.compute.reports) == Counter(f"town-{number}" for number in range(PROJECTS))
    assert crowd.rows("SELECT COUNT(*) FROM project_services ps WHERE scraped_at IS NULL") == [(PROJECTS,)]


def test_each_quota_is_written_once(crowd: Lab) -> None:
    crowd.scrape_all()
    for number in range(PROJECTS):
        crowd.set_quota("cores", number + 1, project=f"town-{number}")
    at_once(lambda: until_none(lambda: crowd.push_next("compute")))
    crowd.push_all()
    assert sorted(crowd.compute.written, key=lambda entry: entry[1]["cores"]) == [
        (f"town-{number}", {"cores": number + 1, "ram": 0}) for number in range(PROJECTS)
    ]


def test_quotas_that_change_while_they_are_written_all_arrive(crowd: Lab) -> None:
    """Requests and collectors write at the same time; in the end every backend has the last quota."""
    crowd.scrape_all()
    last = {}

    def users() -> None:
        for round_ in range(1, 6):
            for number in range(0, PROJECTS, 5):
                name = f"town-{number}"
                with lock:
                    last[name] = last.get(name, 0) + round_
                    crowd.set_quota("cores", last[name], project=name)
                push_quota(crowd.limes, ids[name], ["compute"])
                crowd.push_next("compute")

    lock = threading.Lock()
    ids = {f"town-{number}": crowd.project_id(f"town-{number}") for number in range(0, PROJECTS, 5)}
    crowd.compute.during = lambda: time.sleep(0.001)
    at_once(users)
    crowd.push_all()
    assert {name: crowd.compute.quota[name]["cores"] for name in last} == last
    assert {name: crowd.quotas(name)["cores"] for name in last} == {
        name: (quota, quota) for name, quota in last.items()
    }
    assert crowd.rows("SELECT COUNT(*) FROM project_services WHERE quota_desynced_at IS NOT NULL") == [(0,)]


def test_a_cluster_wide_job_has_one_holder(lab: Lab) -> None:
    def claim() -> bool:
        return lab.engine.atomic(
            lambda: tasks.claim_job(lab.engine, "discovery", lab.now, lab.now + 300, lab.now + 9000)
        )

    assert sorted(at_once(claim)) == [False] * (COLLECTORS - 1) + [True]
    lab.clock.advance(299)
    assert claim() is False
    lab.clock.advance(1)
    assert claim() is True


def test_the_outcome_of_a_job_is_recorded_only_by_its_holder(lab: Lab) -> None:
    engine: Engine = lab.engine

    def claim(lease: float) -> bool:
        return engine.atomic(lambda: tasks.claim_job(engine, "discovery", lab.now, lease, lab.now + 9000))

    def finish(lease: float, next_run_at: float) -> bool:
        return engine.atomic(lambda: tasks.finish_job(engine, "discovery", lease, lab.now, next_run_at, "")) == 1

    assert claim(lab.now + 300)
    first = lab.now + 300
    lab.clock.advance(300)
    assert claim(lab.now + 300)
    assert finish(first, lab.now + 180) is False
    assert finish(lab.now + 300, lab.now + 180) is True
    assert lab.rows("SELECT name, next_run_at, ran_at, error FROM jobs") == [("discovery", lab.now + 180, lab.now, "")]
