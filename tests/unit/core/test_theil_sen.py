"""The slope that the API computes is the one that SciPy computes for the collector."""

import random

import pytest

from limes.actions.growth import theil_sen as program
from limes.core.theil_sen import CONFIDENCE, Slope, slope


@pytest.mark.parametrize("seed", range(40))
def test_it_is_what_scipy_says(seed: int) -> None:
    from scipy.stats import theilslopes  # takes a second, in each process that collects tests

    dice = random.Random(seed)
    days = [day - 90.5 for day in sorted(dice.sample(range(90), dice.choice([2, 3, 7, 8, 30, 89, 90])))]
    growth, noise = dice.uniform(-5, 50), dice.choice([0, 1, 3, 100, 10**6])  # few different amounts: many ties
    amounts = [float(max(int(day * growth + 1000) + dice.randint(0, noise), 0)) for day in days]
    expected = theilslopes(amounts, days, CONFIDENCE)
    found = slope(days, amounts)
    assert found == pytest.approx((expected.slope, expected.low_slope, expected.high_slope), rel=1e-12, abs=1e-9)


def test_both_have_the_same_confidence() -> None:
    assert program.CONFIDENCE == CONFIDENCE


def test_usage_that_stays() -> None:
    assert slope([1.0, 2.0, 5.0], [7.0, 7.0, 7.0]) == Slope(0, 0, 0)
