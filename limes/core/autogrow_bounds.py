"""What bounds a quota that grows by itself, and who has set the bound.

An override pins the quota. Without one, the largest minimum and the smallest maximum count, of: the limit that the
project's admins have set, what was granted to the project, the operator's constraint, and what the backend accepts. A
minimum comes before a maximum; but nothing that was granted exceeds the constraint, or what the backend accepts.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from limes.core.autogrow import ProjectBounds, ProjectDemand
from limes.core.constraints import Constraint


class BoundSource(enum.StrEnum):
    """Where a bound comes from."""

    OVERRIDE = "override"
    """The operator's file of quota overrides."""
    MAX_QUOTA = "max-quota"
    """The project's admins."""
    MIN_QUOTA = "min-quota"
    """What was granted to the project."""
    CONSTRAINT = "constraint"
    """The operator's constraint for the project."""
    BACKEND = "backend"
    """What the backend says that it accepts."""


@dataclass(frozen=True, slots=True)
class Limits:
    """All limits of one project. None where there is none."""

    override: int | None = None
    max_quota: int | None = None
    min_quota: int | None = None
    forbids_growth: bool = False
    constraint: Constraint | None = None
    min_backend_quota: int | None = None
    max_backend_quota: int | None = None


@dataclass(frozen=True, slots=True)
class AutogrowBounds:
    """What counts. A source is None where there is no such bound."""

    bounds: ProjectBounds = field(default_factory=ProjectBounds)
    minimum_from: BoundSource | None = None
    maximum_from: BoundSource | None = None


_UNBOUNDED = AutogrowBounds()


def find_bounds(limits: Limits) -> AutogrowBounds:
    if limits.override is not None:
        source = BoundSource.OVERRIDE
        return AutogrowBounds(ProjectBounds(limits.override, limits.override), source, source)
    constraint = limits.constraint or Constraint()
    allowed = [each for each in (constraint.maximum, limits.max_backend_quota) if each is not None]
    minima = [
        (min([limits.min_quota or 0, *allowed]), BoundSource.MIN_QUOTA),
        (constraint.minimum, BoundSource.CONSTRAINT),
        (limits.min_backend_quota, BoundSource.BACKEND),
    ]
    maxima = [
        (limits.max_quota, BoundSource.MAX_QUOTA),
        (constraint.maximum, BoundSource.CONSTRAINT),
        (limits.max_backend_quota, BoundSource.BACKEND),
    ]
    minimum, minimum_from = max(((value, source) for value, source in minima if value), default=(0, None), key=_amount)
    maximum, maximum_from = min(
        ((value, source) for value, source in maxima if value is not None), default=(None, None), key=_amount
    )
    if not minimum and maximum is None and not limits.forbids_growth:
        return _UNBOUNDED  # as for most of thousands of projects
    return AutogrowBounds(ProjectBounds(minimum, maximum, limits.forbids_growth), minimum_from, maximum_from)


def largest_minimum(capacity: Mapping[str, int], others: Iterable[ProjectDemand]) -> int:
    """Returns how much a project can be granted at most, given the capacity by AZ and all other projects: what is left
    of it after what they need and were granted."""
    taken = sum(max(sum(each.needed for each in other.azs.values()), other.bounds.minimum) for other in others)
    return max(0, sum(capacity.values()) - taken)


def _amount(bound: tuple[int, BoundSource]) -> int:
    return bound[0]
