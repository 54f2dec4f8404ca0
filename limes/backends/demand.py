"""What projects demand of a resource, for capacitors whose figures depend on it.

For instance, how many servers of one flavor fit on hypervisors depends on how many of the others have to fit there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from limes.core.catalog import Ref


@dataclass(frozen=True, slots=True)
class AZDemand:
    """What all projects together demand in one AZ, in the resource's unit."""

    usage: int = 0
    unused_commitments: int = 0
    """What is committed to and confirmed, but not used: each project for itself."""
    pending_commitments: int = 0
    """What is to be confirmed as soon as there is capacity."""

    @property
    def total(self) -> int:
        """All of it."""
        return self.usage + self.unused_commitments + self.pending_commitments


@dataclass(frozen=True, slots=True)
class ResourceDemand:
    """The demand for one resource. Every configured AZ has an entry; `any` and `unknown` may have one."""

    overcommit_factor: float = 0
    """By which Limes multiplies the capacity that is reported; 0: it does not."""
    per_az: Mapping[str, AZDemand] = field(default_factory=dict)


Demand = Mapping[Ref, ResourceDemand]
NO_DEMAND: Demand = {}
