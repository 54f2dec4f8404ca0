"""The trend of many series, by the method of Theil and Sen: the median of the slopes between all pairs of points.

This is a program of its own, since SciPy takes about 100 MiB of memory, which a collector would never give back. It
reads JSON from stdin, a list of series with days and amounts, and writes a list with growth, lowest and highest growth.
"""

import sys
from typing import Any

import orjson

CONFIDENCE = 0.9


def compute_growth(series: list[tuple[list[float], list[float]]]) -> list[tuple[float, float, float]]:
    """Returns growth per day of each series of days and amounts, with the bounds of its 90 % confidence interval."""
    from scipy.stats import theilslopes

    found: list[tuple[float, float, float]] = []
    for days, amounts in series:
        result: Any = theilslopes(amounts, days, CONFIDENCE)
        found.append((float(result.slope), float(result.low_slope), float(result.high_slope)))
    return found


def main() -> None:
    """The program."""
    sys.stdout.buffer.write(orjson.dumps(compute_growth(orjson.loads(sys.stdin.buffer.read()))))


if __name__ == "__main__":
    main()
