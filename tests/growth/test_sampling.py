"""Samples of a small cloud, and what hours and days say together, compared with a list of all that was sampled."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from limes.kernel.calendar import DAY, HOUR, day_of, month_of, next_month
from limes.kernel.errors import Unavailable
from limes.usage.sum_upkeep import compact_sums
from tests.collector.lab import Lab
from tests.commitments.in_lab import add
from tests.growth.in_lab import HOURS, SUMMARIES, set_capacity, set_domain_quota, stored, take_sample, use
from tests.support.databases import ON_POSTGRESQL
from tests.support.levels import few_of

pytestmark = pytest.mark.sql
Figures = tuple[int, int, int | None, int | None]
"""Usage, committed, quota and capacity."""
LONG = {"keep_hours": 1000}


@pytest.fixture
def lab(lab: Lab) -> Lab:
    lab.discover()
    lab.scrape_all()
    return lab


def test_a_sample_has_the_cluster_and_each_domain(lab: Lab) -> None:
    use(lab, 3, 10)
    use(lab, 4, project="dresden")
    use(lab, 5, project="paris")
    set_domain_quota(lab, 20)
    set_domain_quota(lab, 30, "france")
    set_capacity(lab, 100)
    add(lab, 1, 2, status="confirmed")
    take_sample(lab)
    hour = int(lab.now) - int(lab.now) % HOUR
    assert stored(lab, "growth_hours", HOURS) == [(hour, 12, 2, 50, 100)]
    assert stored(lab, "growth_hours", HOURS, az="az-one") == [(hour, 12, 2, None, 100)]
    assert stored(lab, "growth_hours", HOURS, "d-germany") == [(hour, 7, 2, 20, None)]
    assert stored(lab, "growth_hours", HOURS, "d-germany", az="az-one") == [(hour, 7, 2, None, None)]
    assert stored(lab, "growth_hours", HOURS, "d-france") == [(hour, 5, 0, 30, None)]
    assert stored(lab, "growth_hours", HOURS, "d-germany", "ram", "az-two") == [(hour, 10, 0, None, None)]
    assert not stored(lab, "growth_hours", HOURS, "d-france", "ram"), "nothing of it was ever used or granted"


def test_what_is_not_used_any_more_counts_as_zero(lab: Lab) -> None:
    use(lab, 6)
    take_sample(lab)
    lab.clock.advance(HOUR)
    lab.execute("DELETE FROM project_az_resources")
    lab.execute("UPDATE project_resources SET usage = 0")
    take_sample(lab)
    day = day_of(int(lab.now))
    assert [row[:4] for row in stored(lab, "growth_days", SUMMARIES, "d-germany")] == [(day, 2, 3, 6)]
    assert [row[:4] for row in stored(lab, "growth_days", SUMMARIES, az="az-one")] == [(day, 2, 3, 6)]


@dataclass
class Truth:
    """What was sampled of Germany's cores, by hour: the last sample of each."""

    hours: dict[int, Figures] = field(default_factory=dict)

    def summary(self, begin: int, end: int) -> tuple[int | None, ...]:
        """Computed from the days' averages, as far as `begin` to `end` is more than a day."""
        found = {hour: figures for hour, figures in sorted(self.hours.items()) if begin <= hour < end}
        days = sorted({day_of(hour) for hour in found})
        of_days = [[figures for hour, figures in found.items() if day_of(hour) == day] for day in days]
        used, committed = (
            sum(sum(each[index] or 0 for each in day) // len(day) * len(day) for day in of_days) // len(found)
            for index in (0, 1)
        )
        last = [*found.values()][-1]
        return (len(found), used, max(each[0] for each in found.values()), last[0], committed, *last[1:])

    def summaries(self, begins: Callable[[int], int], ends: Callable[[int], int]) -> list[tuple[int | None, ...]]:
        times = sorted({begins(hour) for hour in self.hours})
        return [(time, *self.summary(time, ends(time))) for time in times]


def expect(lab: Lab, truth: Truth) -> None:
    assert stored(lab, "growth_hours", HOURS, "d-germany") == [
        (hour, *row) for hour, row in sorted(truth.hours.items())
    ]
    assert stored(lab, "growth_days", SUMMARIES, "d-germany") == truth.summaries(day_of, lambda day: day + DAY)
    assert stored(lab, "growth_months", SUMMARIES, "d-germany") == truth.summaries(month_of, next_month)


@pytest.mark.parametrize("seed", few_of(range(4), 2))
def test_days_and_months_are_what_was_sampled(lab: Lab, seed: int) -> None:
    """Over some weeks, with collectors that are late, killed, or have their clock put back."""
    dice, truth = random.Random(seed), Truth()
    usage = committed = quota = 0
    for number in range(60):
        hours = dice.choice([1, 1, 1, 2, 5, 24, 30, 100, -3, -40]) if number > 5 else 1
        lab.clock.advance(hours * HOUR + dice.randint(0, 1800))
        usage, quota = dice.choice([usage, 0, 1, 7, dice.randint(0, 999)]), dice.choice([quota, dice.randint(0, 999)])
        use(lab, usage)
        set_domain_quota(lab, quota)
        if dice.random() < 0.1:
            committed += number + 1
            add(lab, number, number + 1, status="confirmed", expires_at=lab.now + 3650 * DAY)
        if dice.random() < 0.2:
            kill_while_sampling(lab, dice)
        take_sample(lab, **LONG)
        now = int(lab.now)
        truth.hours = {hour: row for hour, row in truth.hours.items() if hour <= now}
        if truth.hours or usage or committed or quota:
            truth.hours[now - now % HOUR] = (usage, committed, quota, None)
        if dice.random() < 0.3 and lab.engine.dialect == "postgresql":
            compact_sums(lab.engine)
    expect(lab, truth)


class Killed(BaseException):
    """The process has ended."""


def run_until_killed(lab: Lab) -> None:
    take_sample(lab, **LONG)
    raise Killed  # it was quicker


def kill_while_sampling(lab: Lab, dice: random.Random) -> None:
    """Ends the job at one of its statements, as if the machine had lost its power."""
    writes, write = iter(range(dice.randint(0, 12))), lab.engine.write

    def fail(*arguments: Any, **values: Any) -> int:
        if next(writes, None) is None:
            raise Killed
        return write(*arguments, **values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lab.engine, "write", fail)
        with pytest.raises(Killed):
            run_until_killed(lab)


@ON_POSTGRESQL
def test_many_collectors_at_once(lab: Lab) -> None:
    truth = Truth()
    for usage in (5, 8, 2, 40):
        use(lab, usage)
        with ThreadPoolExecutor(6) as pool:
            for done in [pool.submit(take_sample, lab) for _ in range(6)]:
                done.result(100)
        truth.hours[int(lab.now) - int(lab.now) % HOUR] = (usage, 0, 0, None)
        lab.clock.advance(9 * HOUR)
    expect(lab, truth)


def test_a_clock_of_years_ago_deletes_nothing(lab: Lab) -> None:
    """A machine that starts without a battery for its clock, and has not heard of the time yet."""
    use(lab, 4)
    take_sample(lab)
    months = stored(lab, "growth_months", SUMMARIES)
    assert months
    lab.clock.advance(-20 * 365 * DAY)
    with pytest.raises(Unavailable, match="sampled since 2026-01-01T00:00:00Z, but the clock says 2006"):
        take_sample(lab)
    assert stored(lab, "growth_months", SUMMARIES) == months


def test_what_is_old_is_forgotten(lab: Lab) -> None:
    retention = {"keep_hours": 2, "keep_days": 62, "keep_months": 3}
    for _ in range(200):
        use(lab, 4)
        take_sample(lab, **retention)
        lab.clock.advance(DAY)
    lab.clock.advance(-DAY)
    today = day_of(int(lab.now))
    first = [rows[0][0] for rows in (stored(lab, f"growth_{each}", "usage") for each in ("hours", "days", "months"))]
    assert first[:2] == [today - 2 * DAY + int(lab.now) % DAY // HOUR * HOUR, today - 62 * DAY]
    assert first[2] == next_month(month_of(month_of(int(lab.now)) - 93 * DAY - 1))


# -- quotas of projects ------------------------------------------------------------------------------------------------


def quota_times(lab: Lab) -> list[tuple[int, int | None, int]]:
    return lab.rows(
        "SELECT since, until, quota FROM quota_times WHERE project_uuid = 'p-berlin' AND resource_name = 'cores'"
        " ORDER BY since"
    )


def test_quotas_of_projects_are_noted_when_they_change(lab: Lab) -> None:
    times = []
    for quota in (5, 5, 9, 9, 5):
        lab.set_quota("cores", quota)
        times.append(int(lab.now))
        take_sample(lab)
        lab.clock.advance(HOUR)
    assert quota_times(lab) == [(times[0], times[2], 5), (times[2], times[4], 9), (times[4], None, 5)]
    lab.clock.advance(times[3] - lab.now)  # the clock was ahead
    take_sample(lab)
    assert quota_times(lab) == [(times[0], times[2], 5), (times[2], times[3], 9), (times[3], None, 5)]
    lab.execute("DELETE FROM projects WHERE uuid = 'p-berlin'")
    lab.clock.advance(HOUR)
    take_sample(lab)
    assert quota_times(lab)[-1] == (times[3], int(lab.now), 5)
