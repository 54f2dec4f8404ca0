"""Trends of what was sampled, and the metrics that they become."""

import math
from collections.abc import Iterable

import pytest

from limes.growth import sample
from limes.growth.metrics import forecast_gauges
from limes.kernel.calendar import DAY, HOUR
from limes.kernel.errors import Unavailable
from tests.collector.lab import Lab
from tests.growth.in_lab import HOURS, set_capacity, stored, take_sample, use


@pytest.fixture
def lab(lab: Lab) -> Lab:
    lab.discover()
    lab.scrape_all()
    return lab


def use_by_day(lab: Lab, amounts: Iterable[int]) -> None:
    """One sample a day, and one on the day after."""
    for amount in amounts:
        use(lab, amount)
        take_sample(lab)
        lab.clock.advance(DAY)
    take_sample(lab)


def trend(lab: Lab, scope: str = "d-germany") -> tuple[object, ...]:
    return lab.rows(
        "SELECT days, ROUND(level), ROUND(growth), ROUND(lowest), ROUND(highest) FROM growth_trends"
        " JOIN growth_series ON id = series_id WHERE scope = %s AND resource_name = 'cores' AND az = ''",
        scope,
    )[0]


def test_trends_come_from_a_week_at_least(lab: Lab) -> None:
    use_by_day(lab, range(100, 160, 10))
    assert trend(lab) == (6, None, None, None, None)
    lab.clock.advance(DAY)
    use_by_day(lab, ())
    assert trend(lab)[0] == 7
    assert trend(lab)[2] is not None


def test_trends_follow_usage(lab: Lab) -> None:
    use_by_day(lab, range(100, 400, 10))
    assert trend(lab) == (30, 395, 10, 10, 10), "the middle of a day has what was used on average"
    assert trend(lab, "") == trend(lab)


def test_series_are_computed_some_at_a_time(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "_SERIES", 2)
    use_by_day(lab, range(100, 200, 10))
    assert lab.rows("SELECT COUNT(*) FROM growth_trends") == lab.rows("SELECT COUNT(*) FROM growth_series")
    assert trend(lab)[2] == 10


def test_a_sample_is_kept_if_trends_cannot_be_computed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise Unavailable("no")

    use_by_day(lab, range(1, 9))  # the last run has computed trends
    lab.clock.advance(DAY)
    with monkeypatch.context() as patch:
        patch.setattr(sample.rules, "trend_of", fail)
        with pytest.raises(Unavailable):
            use_by_day(lab, ())
    assert stored(lab, "growth_hours", HOURS)[-1][0] == int(lab.now) - int(lab.now) % HOUR
    use_by_day(lab, ())
    assert trend(lab)[0] == 9


def metrics(lab: Lab) -> dict[tuple[str, str, str], float]:
    gauges = forecast_gauges(lab.limes)
    return {
        (
            sample.name.removeprefix("limes_forecast_"),
            sample.labels["resource"],
            sample.labels["availability_zone"],
        ): sample.value
        for family in gauges.collect()
        for sample in family.samples
    }


def test_metrics_tell_when_the_capacity_is_used_up(lab: Lab) -> None:
    set_capacity(lab, 1000)
    assert metrics(lab) == {}, "nothing was sampled so far"
    use_by_day(lab, range(100, 400, 10))
    found = metrics(lab)
    assert found["growth_per_day", "cores", "az-one"] == found["growth_per_day", "cores", ""] == 10
    assert found["seconds_until_full", "cores", ""] == pytest.approx(60.5 * DAY, abs=DAY)
    assert found["earliest_seconds_until_full", "cores", ""] == pytest.approx(60.5 * DAY, abs=DAY)
    lab.clock.advance(DAY)
    use_by_day(lab, [5] * 80)
    found = metrics(lab)
    assert found["seconds_until_full", "cores", ""] == math.inf
    use(lab, 1000)
    use_by_day(lab, ())
    assert metrics(lab)["seconds_until_full", "cores", ""] == 0
