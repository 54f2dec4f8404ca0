"""The decision whether a quota may be set: pure functions of numbers.

Cluster capacity is given to domains as domain quota, and domain quota to projects as project quota. Invariant, for each
domain and resource: a change through us never makes the sum of project quotas exceed the domain quota.

A change that makes nothing worse is never refused: a project's quota may be lowered in an overcommitted domain, and a
domain's quota in an overcommitted cluster. This is milder than the original (docs/adr/0004).
"""

import enum
from collections.abc import Callable
from functools import partial

from msgspec import Struct

from limes.kernel.units import MAX_AMOUNT, Unit
from limes.quota.constraints import Constraint
from limes.quota.rules import LowPrivLimit, Permissions

_BELOW_COMMITMENTS = "quota may not be lower than confirmed commitments, which guarantee that their amount can be used"


class RefusalKind(enum.Enum):
    """The kind of reason why a quota is not acceptable (source: the API document)."""

    FORBIDDEN = "forbidden"
    """A higher permission level is needed."""
    CONFLICT = "conflict"
    """The quota contradicts quotas on other levels of the hierarchy."""
    INVALID = "invalid"
    """The request itself makes no sense."""


class Bounding(enum.StrEnum):
    """Which rule has refused a quota."""

    AMOUNT = "amount"
    """The request itself: its unit, its size."""
    CONSTRAINT = "constraint"
    MIN_NONZERO = "min_nonzero_project_quota"
    PERMISSION = "permission"
    CAPACITY = "capacity"
    PROJECTS_QUOTA = "projects_quota"
    DOMAIN_QUOTA = "domain_quota"
    USAGE = "usage"
    COMMITMENTS = "commitments"
    BACKEND = "backend"
    MODEL = "quota_distribution_model"
    """Quota follows usage by itself, and users do not set it."""


class Refusal(Struct, frozen=True):
    """Why a quota is not acceptable, and which quotas would be, in the resource's unit where known."""

    kind: RefusalKind
    message: str
    minimum: int | None = None
    maximum: int | None = None
    unit: Unit | None = None
    """None where the bounds are given without a unit."""
    rule: Bounding = Bounding.AMOUNT


class QuotaRules(Struct, frozen=True):
    """What bounds a quota besides the numbers of other levels."""

    service_type: str
    unit: Unit
    permissions: Permissions
    lowpriv_limit: LowPrivLimit
    constraint: Constraint | None = None
    min_nonzero_quota: int = 0
    """Applies to project quotas only."""


class DomainFigures(Struct, frozen=True):
    quota: int
    projects_quota: int
    other_domains_quota: int
    capacity: int
    """Effective capacity of the cluster; 0 where none is known."""
    strict_limit: bool = False
    """Whether all domain quotas together may not exceed the capacity."""


class ProjectFigures(Struct, frozen=True):
    quota: int
    usage: int
    projects_quota: int
    """Of all projects in the domain together, including this one."""
    domain_quota: int
    capacity: int
    backend_minimum: int | None = None
    backend_maximum: int | None = None
    """What the backend accepts, where it says so."""
    committed: int = 0
    """Confirmed commitments over all AZs."""


Figures = DomainFigures | ProjectFigures

forbidden = partial(Refusal, RefusalKind.FORBIDDEN, rule=Bounding.PERMISSION)
conflict = partial(Refusal, RefusalKind.CONFLICT)
invalid_value = partial(Refusal, RefusalKind.INVALID)

NO_SUCH_SERVICE = invalid_value("no such service")
NO_SUCH_RESOURCE = invalid_value("no such resource")
NO_QUOTA = Refusal(RefusalKind.FORBIDDEN, "resource does not track quota")
PROJECT_QUOTA_GROWS = conflict(
    "it follows usage and commitments by itself (quota_distribution_model is autogrow) and cannot be set;"
    " to limit it, set max_quota or forbid_autogrowth; to raise it, make a commitment or a quota request",
    rule=Bounding.MODEL,
)
DOMAIN_QUOTA_GROWS = conflict(
    "it is the sum of the quotas of the projects, which follow usage and commitments by themselves"
    " (quota_distribution_model is autogrow), and cannot be set; to limit them, set max_quota or forbid_autogrowth",
    rule=Bounding.MODEL,
)
QUOTA_IS_SET = conflict(
    "the quota of this resource does not grow by itself (quota_distribution_model is hierarchical);"
    " set the quota instead",
    rule=Bounding.MODEL,
)


def judge(new_quota: int, figures: Figures, rules: QuotaRules) -> Refusal | None:
    """Returns whether the quota may become `new_quota`; None means yes. The first check that fails decides."""
    if new_quota == figures.quota:
        return None
    if isinstance(figures, DomainFigures):
        return (
            _against_constraint(new_quota, rules, "domain")
            or _against_permissions(new_quota, figures, figures.other_domains_quota, rules, "domain")
            or _domain_against_others(new_quota, figures, rules)
        )
    return (
        _against_constraint(new_quota, rules, "project")
        or _against_minimum(new_quota, rules)
        or _against_permissions(new_quota, figures, 0, rules, "project")
        or _project_against_others(new_quota, figures, rules)
        or _against_backend(new_quota, figures)
    )


def _against_constraint(new_quota: int, rules: QuotaRules, level: str) -> Refusal | None:
    constraint, shown = rules.constraint, rules.unit.render
    if constraint is None or constraint.allows(new_quota):
        return None
    text = f'requested value "{shown(new_quota)}" contradicts constraint "{constraint.render(rules.unit)}"'
    text += f" for this {level} and resource"
    return invalid_value(text, constraint.minimum, constraint.maximum, rules.unit, Bounding.CONSTRAINT)


def _against_minimum(new_quota: int, rules: QuotaRules) -> Refusal | None:
    minimum = rules.min_nonzero_quota
    if new_quota == 0 or new_quota >= minimum:
        return None
    text = f"must allocate at least {rules.unit.render(minimum)} quota"
    return invalid_value(text, minimum, unit=rules.unit, rule=Bounding.MIN_NONZERO)


def _against_permissions(
    new_quota: int, figures: Figures, other_domains_quota: int, rules: QuotaRules, level: str
) -> Refusal | None:
    permissions, old_quota = rules.permissions, figures.quota
    limit = rules.lowpriv_limit.evaluate(figures.capacity, other_domains_quota)
    quotas = f'"{rules.service_type}" quotas'
    if new_quota > old_quota:
        if permissions.can_raise or (permissions.can_raise_lowpriv and new_quota <= limit):
            return None
        if permissions.can_raise_lowpriv and limit > 0:
            text = f"user is not allowed to raise {quotas} that high in this {level}"
            return forbidden(text, maximum=limit, unit=rules.unit)
        return forbidden(f"user is not allowed to raise {quotas} in this {level}")
    lowers_lowpriv = permissions.can_lower_lowpriv and rules.lowpriv_limit.also_lowers and old_quota <= limit
    if permissions.can_lower or lowers_lowpriv:
        return None
    return forbidden(f"user is not allowed to lower {quotas} in this {level}")


def _domain_against_others(new_quota: int, figures: DomainFigures, rules: QuotaRules) -> Refusal | None:
    if new_quota < figures.quota:
        minimum = figures.projects_quota
        if new_quota >= minimum:
            return None
        text = "domain quota may not be smaller than sum of project quotas in that domain"
        return conflict(text, minimum=minimum, unit=rules.unit, rule=Bounding.PROJECTS_QUOTA)
    maximum = max(0, figures.capacity - figures.other_domains_quota)
    if not figures.strict_limit or new_quota <= maximum:
        return None
    text = "cluster capacity may not be exceeded for this resource"
    return conflict(text, maximum=maximum, unit=rules.unit, rule=Bounding.CAPACITY)


def _project_against_others(new_quota: int, figures: ProjectFigures, rules: QuotaRules) -> Refusal | None:
    if new_quota < figures.quota:
        minimum = max(figures.usage, figures.committed)
        if new_quota >= minimum:
            return None
        text = "quota may not be lower than current usage" if new_quota < figures.usage else _BELOW_COMMITMENTS
        rule = Bounding.COMMITMENTS if figures.committed > figures.usage else Bounding.USAGE
        return conflict(text, minimum=minimum, unit=rules.unit, rule=rule)
    maximum = max(0, figures.domain_quota - (figures.projects_quota - figures.quota))
    if new_quota <= maximum:
        return None
    return conflict("domain quota exceeded", maximum=maximum, unit=rules.unit, rule=Bounding.DOMAIN_QUOTA)


def _against_backend(new_quota: int, figures: ProjectFigures) -> Refusal | None:
    low, high = figures.backend_minimum, figures.backend_maximum
    if (low is None or new_quota >= low) and (high is None or new_quota <= high):
        return None
    return invalid_value("not acceptable for this project", low, high, rule=Bounding.BACKEND)


# -- which quotas would be acceptable: the decision itself is asked, so the two cannot disagree ------------------------

Judge = Callable[[int], Refusal | None]
"""`judge` with everything but the quota filled in."""

NO_LESS = invalid_value("there is no quota below zero", minimum=0, rule=Bounding.AMOUNT)
NO_MORE = invalid_value("this is the largest amount there is", maximum=MAX_AMOUNT, rule=Bounding.AMOUNT)


class Bound(Struct, frozen=True):
    """The smallest or largest acceptable quota, and the refusal of the next one beyond it."""

    quota: int
    because: Refusal


class Bounds(Struct, frozen=True):
    """The range of acceptable quotas. The present quota is always one of them."""

    minimum: Bound
    maximum: Bound


def bounds(present: int, judge: Judge) -> Bounds:
    """Returns the smallest and the largest acceptable quota. Not everything in between needs to be acceptable."""
    smallest, largest = lowest(0, present, judge), _highest(present, judge)
    return Bounds(
        Bound(smallest, (judge(smallest - 1) if smallest > 0 else None) or NO_LESS),
        Bound(largest, (judge(largest + 1) if largest < MAX_AMOUNT else None) or NO_MORE),
    )


def _highest(present: int, judge: Judge) -> int:
    """Goes down from the largest amount, from each refusal to the maximum that it names."""
    candidate = MAX_AMOUNT
    while candidate > present:
        refusal = judge(candidate)
        if refusal is None:
            return candidate
        if refusal.maximum is None or refusal.maximum >= candidate:  # nothing above the present quota is acceptable
            break
        candidate = refusal.maximum
    return present


def lowest(start: int, present: int, judge: Judge) -> int:
    """Returns the smallest acceptable quota from `start` on; the present quota if nothing below it is."""
    candidate = start
    while candidate < present:
        refusal = judge(candidate)
        if refusal is None:
            return candidate
        if refusal.minimum is None or refusal.minimum <= candidate:
            break
        candidate = refusal.minimum
    return present
