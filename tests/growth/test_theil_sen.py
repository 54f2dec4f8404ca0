"""The slope and its bounds are those of SciPy 1.17.1."""

import json
from pathlib import Path
from typing import Any

import pytest

from limes.growth.rules import Slope, slope

RECORDED = json.loads(Path(__file__).with_suffix(".json").read_text())
"""Random histories with gaps, and with amounts that are the same; and what `scipy.stats.theilslopes(amounts, days, 0.9)`
says of them: growth, lowest and highest."""


@pytest.mark.parametrize("case", RECORDED)
def test_it_is_what_scipy_says(case: Any) -> None:
    assert slope(case["days"], case["amounts"]) == pytest.approx(case["slopes"], rel=1e-12, abs=1e-9)


def test_usage_that_stays() -> None:
    assert slope([1.0, 2.0, 5.0], [7.0, 7.0, 7.0]) == Slope(0, 0, 0)


def test_usage_that_grows_by_the_same_each_day() -> None:
    days = [float(day) for day in range(30)]
    assert slope(days, [5 * day + 3 for day in days]) == (5.0, 5.0, 5.0)
