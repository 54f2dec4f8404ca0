"""When usage reaches a limit, from trends of made-up histories."""

import random

import pytest

from limes.growth import rules as forecast
from limes.growth.rules import DAY, Exhaustion, Trend, exhaustion

NOW = 1000 * DAY


def trend_of(amounts: list[float]) -> Trend:
    """The trend of daily averages up to yesterday, as of the beginning of today."""
    return forecast.trend_of(
        NOW, [(NOW - days_ago * DAY, amounts[-days_ago]) for days_ago in range(len(amounts), 0, -1)]
    )


def days_until(trend: Trend, usage: int, limit: int) -> list[int | None]:
    found = exhaustion(trend, usage, limit, NOW)
    return [None if time is None else round((time - NOW) / DAY) for time in found]


def noise(seed: int = 1) -> random.Random:
    return random.Random(seed)


def test_steady_growth_has_one_date() -> None:
    trend = trend_of([100.0 + 10 * day for day in range(30)])
    assert (round(trend.growth, 6), round(trend.level)) == (10, 395)
    assert days_until(trend, 395, 1395) == [100, 100, 100]


def test_growth_with_noise_has_bounds_around_the_truth() -> None:
    held = 0
    for seed in range(40):
        dice = noise(seed)
        trend = trend_of([1000 + 5 * day + dice.gauss(0, 20) for day in range(90)])
        assert trend.lowest < trend.growth < trend.highest
        held += trend.lowest <= 5 <= trend.highest
        at, earliest, latest = days_until(trend, 1450, 2450)
        assert at is not None
        assert earliest is not None
        assert latest is not None
        assert earliest < at < latest
    assert held >= 32, "9 of 10 intervals hold the truth"


def test_outliers_do_not_matter() -> None:
    amounts = [100.0 + 10 * day for day in range(30)]
    for day in (3, 11, 12, 20, 29):
        amounts[day] += 100_000
    trend = trend_of(amounts)
    assert trend.growth == pytest.approx(10, rel=0.05)
    assert trend.level == pytest.approx(395, rel=0.05), "nor does one of yesterday"


def test_constant_usage_never_reaches_a_limit() -> None:
    trend = trend_of([500.0] * 40)
    assert trend[1:] == (500, 0, 0, 0)
    assert days_until(trend, 500, 501) == [None, None, None]


def test_noise_without_growth_has_an_earliest_date_at_most() -> None:
    dice = noise()
    trend = trend_of([500 + dice.choice([-3.0, 0.0, 3.0]) for _ in range(40)])
    assert trend.lowest <= 0 <= trend.highest
    assert days_until(trend, 500, 100_000) == [None, None, None]
    assert days_until(trend, 500, 505)[2] is None


def test_falling_usage_never_reaches_a_limit() -> None:
    assert days_until(trend_of([900.0 - 7 * day for day in range(60)]), 480, 1000) == [None, None, None]


def test_after_a_step_the_new_level_counts_at_once() -> None:
    trend = trend_of([100.0] * 30 + [400.0] * 10)
    assert trend.level == 400
    assert trend.growth == 0, "most pairs of days say so"


def test_what_is_reached_is_reached_now() -> None:
    trend = trend_of([500.0] * 40)
    assert exhaustion(trend, 500, 500, NOW) == Exhaustion(NOW, NOW, NOW)
    above = Trend(NOW, 510, 1, 1, 1)
    assert exhaustion(above, 490, 500, NOW + 5) == Exhaustion(NOW + 5, NOW + 5, NOW + 5), "never in the past"


def test_what_is_years_ahead_is_no_end_in_sight() -> None:
    assert days_until(Trend(NOW, 0, 1, 0.5, 2), 0, 5 * 365 + 1) == [None, 913, None]
    assert days_until(Trend(NOW, 0, 1e-300, 1e-300, 1e-300), 0, 2**63 - 1) == [None, None, None]


def test_a_week_is_enough() -> None:
    assert days_until(trend_of([float(day) for day in range(7)]), 6, 106) == [100, 100, 100]
