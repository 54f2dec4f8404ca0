"""Usage of closed days that is recorded later: it is counted exactly once, whoever commits first."""

import random
import threading
from functools import partial

import pytest

from limes.db.engine import Engine
from limes.kernel.calendar import DAY, HOUR
from limes.metering import close
from limes.metering import queries as metering
from limes.metering.accounts import late_projects
from limes.metering.close import close_days
from limes.metering.queries import StepRow
from limes.metering.rules import Step, integrate
from tests.concurrency.accounts import add_projects, limes_at
from tests.concurrency.test_quota import at_once
from tests.support.clock import FrozenClock
from tests.support.databases import ON_POSTGRESQL

pytestmark = ON_POSTGRESQL
START = 1767225600
"""2026-01-01T00:00:00Z, when the clock begins."""
PROJECTS = [f"p-{number:02}" for number in range(12)]
CORES = ("compute", "cores", "az-one")
DAYS = 6


@pytest.fixture(autouse=True)
def projects(engine: Engine) -> None:
    add_projects(engine, PROJECTS)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(close, "_PROJECTS", 4)
    monkeypatch.setattr(close, "_PROJECTS_TO_CORRECT", 3)


@pytest.fixture
def closed(engine: Engine) -> FrozenClock:
    """The clock of a cloud in which six days are closed, and nothing was used."""
    clock = FrozenClock()
    close_days(limes_at(engine, clock))
    clock.advance(DAYS * DAY + HOUR)
    close_days(limes_at(engine, clock))
    return clock


def used(engine: Engine) -> dict[str, int]:
    """What was used on closed days in January, by project."""
    return {
        project: int(used)
        for project, used in engine.rows("SELECT project_uuid, used FROM usage_months WHERE begins = %s", [START])
        if int(used)
    }


def test_what_commits_after_a_look_is_in_the_next(engine: Engine, closed: FrozenClock) -> None:
    """Even if another day is closed meanwhile."""
    late = StepRow("p-00", *CORES, START + 12 * HOUR, 5, int(closed.now().timestamp()))
    is_written, may_commit = threading.Event(), threading.Event()

    def record() -> None:
        metering.add_steps(engine, [late])
        is_written.set()
        assert may_commit.wait(120)

    def look() -> None:
        assert is_written.wait(120)
        closed.advance(DAY)
        close_days(limes_at(engine, closed))
        assert used(engine) == {}
        may_commit.set()

    at_once(partial(engine.atomic, record), look)
    close_days(limes_at(engine, closed))
    assert used(engine) == {"p-00": 5 * (DAYS * DAY + DAY - 12 * HOUR)}
    assert late_projects(engine, START + 40 * DAY, 10) == []


def test_all_that_is_late_is_counted_once(engine: Engine, closed: FrozenClock) -> None:
    """Six writers, each of whose transactions stays open until others have looked, and two who look all the time."""
    looks, looked = 0, threading.Condition()
    now = int(closed.now().timestamp())
    expected: dict[str, list[Step]] = {}

    def look() -> None:
        nonlocal looks
        close_days(limes_at(engine, closed))
        with looked:
            looks += 1
            looked.notify_all()

    def write(number: int) -> None:
        dice = random.Random(number)
        for project in PROJECTS[number::6]:
            times = sorted(dice.sample(range(START, START + DAYS * DAY, HOUR), 8))
            steps = [Step(at, dice.randint(1, 9)) for at in times]
            dice.shuffle(steps)
            for step in steps:
                engine.atomic(partial(record, project, step, dice.choice([0, 0, 1, 2])))
            expected[project] = sorted(steps)

    def record(project: str, step: Step, wait_for: int) -> None:
        metering.add_steps(engine, [StepRow(project, *CORES, step.at, step.usage, now)])
        with looked:
            until = looks + wait_for
            assert looked.wait_for(lambda: looks >= until, 120)

    at_once(*(partial(write, number) for number in range(6)), meanwhile=[look, look])
    close_days(limes_at(engine, closed))
    whole = {project: integrate(START, START + DAYS * DAY, 0, steps).used for project, steps in expected.items()}
    assert used(engine) == whole
    corrected = engine.rows("SELECT project_uuid, begins, version, COUNT(*) FROM usage_corrections GROUP BY 1, 2, 3")
    assert corrected
    assert {count for *_, count in corrected} == {1}
