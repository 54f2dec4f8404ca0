"""Clocks that are wrong, and come right again."""

import threading
import time
from functools import partial
from typing import Any

import pytest

from limes.collector import loop
from limes.collector.discover import request_sync
from limes.collector.loop import ClockWatch, Job, Loop, watch_for_jumps
from limes.collector.scrape_usage import claim_scrapes
from limes.db.engine import Engine
from limes.projects.claims import run_if_due
from limes.quota.push_quota import push_quota
from tests.collector.lab import Lab

YEAR = 365 * 86400


def in_the_past(lab: Lab) -> None:
    """Everything was done by a clock that was a year ahead; now it has been put right."""
    lab.clock.advance(YEAR)
    lab.scrape_all()
    lab.scrape_all("volume")
    lab.scrape_capacity()
    lab.set_quota("cores", 20)
    lab.compute.error = TimeoutError()
    lab.push_next("compute")
    lab.compute.error = None
    lab.clock.advance(-YEAR)


def test_work_goes_on_after_the_clock_was_put_back(lab: Lab) -> None:
    in_the_past(lab)
    lab.compute.reports.clear()
    assert lab.scrape_all() == 3
    assert sorted(lab.compute.reports) == ["berlin", "dresden", "paris"]
    assert lab.scrape_all() == 0, "once, and then as usual"
    assert lab.service("next_scrape_at") == (lab.now + 1800,)
    assert lab.push_next("compute") is True
    assert lab.compute.written == [("berlin", {"cores": 20, "ram": 0})]
    assert lab.push_next("compute") is None
    assert lab.scrape_capacity() is not None
    assert lab.scrape_capacity() is None


def test_a_request_writes_quota_after_the_clock_was_put_back(lab: Lab) -> None:
    in_the_past(lab)
    assert push_quota(lab.limes, lab.project_id(), ["compute"]) == []
    assert lab.compute.written == [("berlin", {"cores": 20, "ram": 0})]


def test_a_claim_by_a_clock_that_was_ahead_does_not_last(lab: Lab) -> None:
    lab.clock.advance(YEAR)
    assert len(claim_scrapes(lab.limes, "compute", 3)) == 3
    lab.clock.advance(-YEAR)
    request_sync(lab.limes, "d-germany", "p-berlin")
    assert [one.project.taken_over for one in claim_scrapes(lab.limes, "compute", 1)] == [True]
    assert len(claim_scrapes(lab.limes, "compute", 3)) == 2


def test_a_job_for_the_cluster_runs_after_the_clock_was_put_back(lab: Lab) -> None:
    runs = []
    run = partial(run_if_due, lab.limes, "sweep", lambda limes: runs.append(lab.now), 60)
    lab.clock.advance(YEAR)
    assert run() is True
    lab.clock.advance(-YEAR)
    assert run() is True
    assert run() is None


class Watch(ClockWatch):
    """A watch on a machine whose clock can be moved."""

    def __init__(self, engine: Engine) -> None:
        self.ahead = 0.0
        self.passed = 0.0
        started = time.time()
        super().__init__(
            engine,
            tolerance=30,
            wall=lambda: time.time() + self.ahead,
            monotonic=lambda: time.time() - started + self.passed,
        )


def is_right(watch: Watch) -> bool:
    return abs(watch.now().timestamp() - time.time()) <= 30


@pytest.mark.parametrize("ahead", [3600.0, -3600.0])
@pytest.mark.parametrize("databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_who_disagrees_with_the_database_does_nothing(lab: Lab, ahead: float, caplog: pytest.LogCaptureFixture) -> None:
    watch = Watch(lab.engine)
    assert watch.agrees()
    watch.ahead = ahead
    assert is_right(watch), "for a claim that comes before anybody has noticed"
    assert not watch.agrees(), "at once, as the jump is seen without asking"
    assert "this machine's clock is 3600 s" in caplog.text
    assert is_right(watch)
    watch.passed += 10
    assert not watch.agrees()
    watch.ahead = 0
    assert is_right(watch)
    assert watch.agrees()
    assert "agree again" in caplog.text
    assert is_right(watch)


@pytest.mark.parametrize("databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_a_jump_while_clocks_are_compared(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, compare = Watch(lab.engine), loop.ahead_of_database

    def jump(*arguments: Any) -> float:
        watch.ahead = -3600
        return compare(*arguments)

    monkeypatch.setattr(loop, "ahead_of_database", jump)
    assert watch.agrees()
    assert is_right(watch)
    assert not watch.agrees()
    assert is_right(watch)


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_sqlite_has_the_clock_of_its_machine(lab: Lab) -> None:
    watch = Watch(lab.engine)
    watch.ahead = 3600
    assert watch.agrees()
    assert not is_right(watch)


def test_a_loop_begins_nothing_while_it_may_not() -> None:
    steps, may = [], []

    def step() -> bool:
        steps.append(1)
        return True

    idle = Loop(Job("job", step), may_work=lambda: len(may) == 1 and len(steps) < 3)
    idle.drain()
    assert steps == []
    may.append(1)
    idle.drain()
    assert steps == [1, 1, 1]


def test_a_jump_wakes_the_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    class Time:
        ahead = 0.0

        def time(self) -> float:
            return self.monotonic() + self.ahead

        def monotonic(self) -> float:
            return 1.0

    clock, heard = Time(), threading.Event()
    monkeypatch.setattr(loop, "time", clock)
    stopped = threading.Event()
    threading.Thread(target=watch_for_jumps, args=(heard.set, 0.01, stopped)).start()
    assert not heard.wait(0.1)
    clock.ahead = -3600
    assert heard.wait(10)
    stopped.set()
