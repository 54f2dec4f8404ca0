"""What commitments mean for quota: they guarantee that their amount can be used, and quota must let it be used.

So a quota cannot be lowered below what is committed. One can commit beyond the quota, as in the original: the capacity
is set aside, and the quota may be raised later; but until then the rest cannot be used, and whoever commits is told so.
"""

from limes.core.catalog import Ref
from limes.core.units import Unit

MAY_NOT_LOWER = "quota may not be lower than confirmed commitments, which guarantee that their amount can be used"


def beyond_quota(ref: Ref, unit: Unit, committed: int, quota: int | None) -> str | None:
    """The warning for a project that has committed to more than its quota (None: the resource tracks none)."""
    if quota is None or committed <= quota:
        return None
    return (
        f"the project's commitments to {ref[0]}/{ref[1]} add up to {unit.render(committed)}, but its quota is"
        f" {unit.render(quota)}: what is beyond it cannot be used before the quota is raised"
    )
