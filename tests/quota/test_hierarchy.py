"""The decision whether a quota may be set, as tables of numbers."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limes.kernel.units import Unit
from limes.quota.constraints import Constraint
from limes.quota.hierarchy import Bounding, DomainFigures, ProjectFigures, QuotaRules, Refusal, RefusalKind, judge
from limes.quota.rules import NO_LOWPRIV, LowPrivLimit, Permissions

ALL = Permissions(True, True, True, True)
NOTHING = Permissions(False, False, False, False)
LOWPRIV = Permissions(False, True, False, True)

FORBIDDEN, CONFLICT, INVALID = RefusalKind.FORBIDDEN, RefusalKind.CONFLICT, RefusalKind.INVALID
MIB = Unit.MIB


def beyond_domain(maximum: int) -> Refusal:
    return Refusal(CONFLICT, "domain quota exceeded", maximum=maximum, unit=MIB, rule=Bounding.DOMAIN_QUOTA)


def beyond_capacity(maximum: int) -> Refusal:
    message = "cluster capacity may not be exceeded for this resource"
    return Refusal(CONFLICT, message, maximum=maximum, unit=MIB, rule=Bounding.CAPACITY)


def no_rights_to(change: str, level: str) -> Refusal:
    message = f'user is not allowed to {change} "compute" quotas in this {level}'
    return Refusal(FORBIDDEN, message, rule=Bounding.PERMISSION)


def too_high(level: str, maximum: int) -> Refusal:
    message = f'user is not allowed to raise "compute" quotas that high in this {level}'
    return Refusal(FORBIDDEN, message, maximum=maximum, unit=MIB, rule=Bounding.PERMISSION)


BELOW_USAGE = Refusal(CONFLICT, "quota may not be lower than current usage", minimum=5, unit=MIB, rule=Bounding.USAGE)
BELOW_PROJECTS = Refusal(
    CONFLICT,
    "domain quota may not be smaller than sum of project quotas in that domain",
    minimum=60,
    unit=MIB,
    rule=Bounding.PROJECTS_QUOTA,
)
AGAINST_CONSTRAINT = Refusal(
    INVALID,
    'requested value "30 MiB" contradicts constraint "at most 25 MiB" for this project and resource',
    maximum=25,
    unit=MIB,
    rule=Bounding.CONSTRAINT,
)
TOO_SMALL = Refusal(INVALID, "must allocate at least 10 MiB quota", minimum=10, unit=MIB, rule=Bounding.MIN_NONZERO)
BY_BACKEND = partial(Refusal, INVALID, "not acceptable for this project", rule=Bounding.BACKEND)
UP_TO_30, HALF = LowPrivLimit(amount=30), LowPrivLimit(until_percent_assigned=50)


def rules(
    permissions: Permissions = ALL,
    lowpriv: LowPrivLimit = NO_LOWPRIV,
    constraint: Constraint | None = None,
    minimum: int = 0,
    unit: Unit = MIB,
) -> QuotaRules:
    return QuotaRules("compute", unit, permissions, lowpriv, constraint, minimum)


def project(
    quota: int = 20,
    usage: int = 5,
    projects: int = 60,
    domain: int = 100,
    capacity: int = 1000,
    low: int | None = None,
    high: int | None = None,
) -> ProjectFigures:
    """60 = this project's 20 + 40 of others; 100 - 40 = 60 is the most that this project can get."""
    return ProjectFigures(quota, usage, projects, domain, capacity, low, high)


def domain(
    quota: int = 100, projects: int = 60, others: int = 300, capacity: int = 1000, strict: bool = False
) -> DomainFigures:
    """1000 - 300 = 700 is the most that this domain can get under a strict limit."""
    return DomainFigures(quota, projects, others, capacity, strict)


@pytest.mark.parametrize(
    ("new", "figures", "how", "expected"),
    [
        # within the domain's quota: 100 - (60 - 20) = 60
        (60, project(), rules(), None),
        (61, project(), rules(), beyond_domain(60)),
        # already overcommitted: 140 > 100, nothing can be given, but lowering is always fine
        (21, project(projects=160), rules(), beyond_domain(0)),
        (19, project(projects=160), rules(), None),
        # below usage
        (5, project(), rules(), None),
        (4, project(), rules(), BELOW_USAGE),
        # raising towards a usage that is above is fine
        (30, project(usage=50), rules(), None),
        # the value that it has: nobody needs a permission, not even against a constraint
        (20, project(), rules(NOTHING, constraint=Constraint(30, 30)), None),
        # permissions
        (30, project(), rules(NOTHING), no_rights_to("raise", "project")),
        (10, project(), rules(NOTHING), no_rights_to("lower", "project")),
        # low privilege
        (30, project(), rules(LOWPRIV, UP_TO_30), None),
        (31, project(), rules(LOWPRIV, UP_TO_30), too_high("project", 30)),
        (50, project(), rules(LOWPRIV, LowPrivLimit(percent_of_capacity=5)), None),
        (10, project(), rules(LOWPRIV, UP_TO_30), None),
        (10, project(quota=40, projects=80), rules(LOWPRIV, UP_TO_30), no_rights_to("lower", "project")),
        # constraints come before permissions
        (30, project(), rules(NOTHING, constraint=Constraint(None, 25)), AGAINST_CONSTRAINT),
        # the smallest quota that is not zero
        (9, project(), rules(minimum=10), TOO_SMALL),
        (0, project(usage=0), rules(minimum=10), None),
        # the backend's own bounds come last
        (30, project(high=25), rules(), BY_BACKEND(maximum=25)),
        (10, project(low=15), rules(), BY_BACKEND(minimum=15)),
    ],
)
def test_project(new: int, figures: ProjectFigures, how: QuotaRules, expected: Refusal | None) -> None:
    assert judge(new, figures, how) == expected


@pytest.mark.parametrize(
    ("new", "figures", "how", "expected"),
    [
        (5000, domain(), rules(), None),
        (60, domain(), rules(), None),
        (59, domain(), rules(), BELOW_PROJECTS),
        # a strict limit: 1000 - 300 = 700
        (700, domain(strict=True), rules(), None),
        (701, domain(strict=True), rules(), beyond_capacity(700)),
        # without any capacity nothing can be given under a strict limit, and nothing breaks
        (101, domain(strict=True, capacity=0), rules(), beyond_capacity(0)),
        # lowering towards the capacity is always fine
        (90, domain(strict=True, capacity=10), rules(), None),
        # until 50% of 1000 is assigned: 500 - 300 = 200
        (200, domain(), rules(LOWPRIV, HALF), None),
        (201, domain(), rules(LOWPRIV, HALF), too_high("domain", 200)),
        # "until" says nothing about lowering
        (90, domain(), rules(LOWPRIV, HALF), no_rights_to("lower", "domain")),
        # the smallest quota is a matter of projects only
        (61, domain(), rules(minimum=1000), None),
    ],
)
def test_domain(new: int, figures: DomainFigures, how: QuotaRules, expected: Refusal | None) -> None:
    assert judge(new, figures, how) == expected


amounts = st.integers(0, 200)


@given(new=amounts, quota=amounts, usage=amounts, others=amounts, domain_quota=amounts)
def test_no_accepted_project_quota_makes_the_domain_worse(
    new: int, quota: int, usage: int, others: int, domain_quota: int
) -> None:
    figures = ProjectFigures(quota, usage, others + quota, domain_quota, 1000)
    if judge(new, figures, rules()) is None:
        assert others + new <= max(domain_quota, others + quota)
        assert new >= min(usage, quota)


@given(new=amounts, quota=amounts, usage=amounts, others=amounts, domain_quota=amounts)
def test_the_bounds_of_a_refusal_are_acceptable(
    new: int, quota: int, usage: int, others: int, domain_quota: int
) -> None:
    figures = ProjectFigures(quota, usage, others + quota, domain_quota, 1000)
    refusal = judge(new, figures, rules())
    if refusal is not None and refusal.minimum is not None and refusal.minimum <= quota:
        assert judge(refusal.minimum, figures, rules()) is None
    if refusal is not None and refusal.maximum is not None and refusal.maximum >= quota:
        assert judge(refusal.maximum, figures, rules()) is None
