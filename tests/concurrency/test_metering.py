"""The account of usage under many hands: each day is counted once, whoever closes it, and whoever is killed."""

import random
import threading
from functools import partial
from typing import Any

import pytest

from limes.db.engine import Engine
from limes.kernel.calendar import DAY, HOUR, Granularity, next_month
from limes.metering import close
from limes.metering import queries as metering
from limes.metering.close import close_days
from limes.metering.entries import UsageQuery
from limes.metering.queries import StepRow
from limes.metering.rules import Step, integrate
from tests.concurrency.accounts import add_projects, limes_at
from tests.concurrency.conftest import Rounds
from tests.concurrency.test_quota import CLIENTS, at_once
from tests.support.clock import FrozenClock
from tests.support.usage import read_entries

START = 1767225600
"""2026-01-01T00:00:00Z, when the clock begins."""
PROJECTS = [f"p-{number:02}" for number in range(25)]
CORES = ("compute", "cores", "az-one")


class Killed(Exception):
    """Ends a job in the middle."""


@pytest.fixture(autouse=True)
def projects(engine: Engine) -> None:
    add_projects(engine, PROJECTS)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Days are closed in pieces of four projects, so that there is something to interrupt."""
    monkeypatch.setattr(close, "_PROJECTS", 4)


def steps_of(project: str, days: int) -> list[Step]:
    """Usage at random, the same each time."""
    dice = random.Random(project)
    return [Step(START + hour * HOUR, dice.randint(0, 9)) for hour in range(1, days * 24) if dice.random() < 0.1]


def record(engine: Engine, day: int, days: int) -> None:
    """What scrapes record on one day."""
    begin = START + day * DAY
    rows = [
        StepRow(project, *CORES, step.at, step.usage, step.at)
        for project in PROJECTS
        for step in steps_of(project, days)
        if begin <= step.at < begin + DAY
    ]
    engine.atomic(lambda: metering.add_steps(engine, rows))


def months(engine: Engine, clock: FrozenClock) -> dict[str, int]:
    """What was used in January, by project."""
    found = read_entries(limes_at(engine, clock), UsageQuery(START, next_month(START), Granularity.MONTH))
    return {entry.meter.project: entry.account.used for entry in found}


def used_until(days: int, end: int) -> dict[str, int]:
    """What was used until then, by project: as the steps of so many days say."""
    found = {project: integrate(START, end, 0, steps_of(project, days)).used for project in PROJECTS}
    return {project: used for project, used in found.items() if used}


def test_each_day_is_counted_once(engine: Engine, rounds: Rounds) -> None:
    """Eight collectors at once; half of the runs are killed between two pieces."""
    clock, days, dice = FrozenClock(), rounds(12), random.Random(4711)
    close_days(limes_at(engine, clock))
    lock = threading.Lock()

    def run() -> None:
        limes = limes_at(engine, clock)
        with lock:
            pieces = dice.choice([1, 2, 5, 1000])
        for _ in range(pieces):
            if not close._close_some(limes, int(limes.now())):
                return

    for day in range(days):
        record(engine, day, days)
        clock.advance(DAY)
    clock.advance(HOUR)
    for _ in range(days):
        at_once(*[run] * CLIENTS)
    close_days(limes_at(engine, clock))
    ((closed_until,),) = engine.rows("SELECT closed_until FROM metering_state")
    assert closed_until == START + days * DAY
    assert months(engine, clock) == used_until(days, int(clock.now().timestamp()))
    assert engine.rows("SELECT * FROM usage_corrections") == []


def test_a_transaction_that_fails_counts_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after the days were written, and before the state was: the piece is done again, whole."""
    clock = FrozenClock()
    close_days(limes_at(engine, clock))
    record(engine, 0, 1)
    clock.advance(DAY + HOUR)
    write, calls = close.accounts.set_state, iter(range(100))

    def die_at_third(*args: Any) -> None:
        if next(calls) == 2:
            raise Killed
        write(*args)

    monkeypatch.setattr(close.accounts, "set_state", die_at_third)
    with pytest.raises(Killed):
        close_days(limes_at(engine, clock))
    ((project,),) = engine.rows("SELECT last_project FROM metering_state")
    assert project
    close_days(limes_at(engine, clock))
    assert engine.rows("SELECT last_project FROM metering_state") == [("",)]
    found = dict(engine.rows("SELECT project_uuid, used FROM usage_months"))
    assert {project: int(used) for project, used in found.items() if int(used)} == used_until(1, START + DAY)


def test_scrapes_go_on_while_days_are_closed(engine: Engine) -> None:
    """Nobody waits for anybody, and what comes late is corrected."""
    clock, days = FrozenClock(), 6
    close_days(limes_at(engine, clock))
    clock.advance(days * DAY + HOUR)

    def scrape() -> None:
        at = int(clock.now().timestamp())
        for project in PROJECTS:
            for step in steps_of(project, days):
                row = StepRow(project, *CORES, step.at, step.usage, at)
                engine.atomic(partial(metering.add_steps, engine, [row]))

    at_once(scrape, meanwhile=[partial(close_days, limes_at(engine, clock))] * 2)
    clock.advance(HOUR)
    close_days(limes_at(engine, clock))
    assert months(engine, clock) == used_until(days, int(clock.now().timestamp()))
