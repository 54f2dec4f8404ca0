"""Converts recent usage of the Go Limes to ours.

There it is a JSON document with times `t` (seconds since the epoch) and values `v`. Each value was the usage from its
time until the next one.
"""

from itertools import pairwise
from typing import Any

import orjson

from limes.core.recent_usage import UsageChange, add_change


class UnreadableHistory(ValueError):
    """The document is not what the Go Limes writes."""


def convert(document: str, usage: int, now: float, retention: float) -> list[UsageChange]:
    """Returns how usage has changed within the retention period (seconds), up to the present usage.

    Raises `UnreadableHistory`.
    """
    changes: list[UsageChange] = []
    for (_, before), (when, after) in pairwise([*_points(document), (now, usage)]):
        if before != after and when >= now - retention:
            changes = add_change(changes, min(when, now), before, after, retention)
    return changes


def _points(document: str) -> list[tuple[float, int]]:
    try:
        found: Any = orjson.loads(document or "{}")
        times, values = found.get("t", []), found.get("v", [])
        points = [(float(time), value) for time, value in zip(times, values, strict=True)]
    except (ValueError, TypeError, AttributeError) as error:
        raise UnreadableHistory(str(error)) from None
    are_amounts = all(type(value) is int and 0 <= value < 2**63 for value in values)
    if not are_amounts or any(earlier[0] >= later[0] for earlier, later in pairwise(points)):
        raise UnreadableHistory("times have to go up, and values have to be amounts")
    return points
