"""The parts of a total by AZ, where the total and the parts come from different answers."""

from collections.abc import Mapping

from limes.backends import UNKNOWN_AZ


def within(total: int, used: Mapping[str, int], rest_in: str = UNKNOWN_AZ) -> dict[str, int]:
    """The parts, so that their sum is the total: what they don't explain is in the AZ `rest_in`.

    If they are more than the total, those in `rest_in` count last.
    """
    rest = total
    parts: dict[str, int] = {}
    for az in sorted(used, key=lambda az: (az == rest_in, az)):
        parts[az] = min(used[az], rest)
        rest -= parts[az]
    if rest:
        parts[rest_in] = parts.get(rest_in, 0) + rest
    return parts
