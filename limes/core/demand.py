"""From the figures of a project to its demand by AZ."""

from collections.abc import Mapping

from limes.core.autogrow import Demand
from limes.core.catalog import ANY_AZ

_NOTHING = Demand()


def demand_by_az(
    usage: Mapping[str, int],
    recent: Mapping[str, tuple[int, int]],
    committed: Mapping[str, int],
    *,
    is_pooled: bool,
) -> dict[str, Demand]:
    """Returns the demand of a project, given its usage, the smallest and largest usage of late where it has changed,
    and its confirmed commitments.

    `is_pooled` says that commitments are not for single AZs: then those in `any` cover usage wherever it is.
    """
    if is_pooled and ANY_AZ in committed:
        elsewhere = sum(amount for az, amount in usage.items() if az != ANY_AZ)
        committed = {**committed, ANY_AZ: max(0, committed[ANY_AZ] - elsewhere)}
    demands = {}
    for az in {**usage, **recent, **committed}:
        used, held = usage.get(az, 0), committed.get(az, 0)
        smallest, largest = recent.get(az, (used, used))
        demands[az] = Demand(used, smallest, largest, held) if largest or held else _NOTHING
    return demands
