"""The outermost acceptable quotas are those that the decision accepts: held against asking it for every single one."""

from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from limes.kernel.units import MAX_AMOUNT, Unit
from limes.quota.constraints import Constraint
from limes.quota.hierarchy import NO_LESS, NO_MORE, DomainFigures, ProjectFigures, QuotaRules, Refusal, bounds, judge
from limes.quota.rules import LowPrivLimit, Permissions

TOP = 40
SMALL = st.integers(0, TOP // 2)
MAYBE = st.none() | SMALL
LIMITS = st.builds(LowPrivLimit, SMALL) | st.builds(
    lambda percent: LowPrivLimit(until_percent_assigned=percent), st.sampled_from([0.0, 50.0, 100.0])
)


@st.composite
def constraints(draw: DrawFn) -> Constraint | None:
    low, high = draw(MAYBE), draw(MAYBE)
    if low is not None and high is not None and low > high:
        low, high = high, low
    return None if low is None and high is None else Constraint(low, high)


RULES = st.builds(
    QuotaRules,
    st.just("compute"),
    st.just(Unit.MIB),
    st.builds(Permissions, st.booleans(), st.booleans(), st.booleans(), st.booleans()),
    LIMITS,
    constraints(),
    st.integers(0, 12),
)


def check(judge: partial[Refusal | None], present: Any) -> None:
    found = bounds(present, judge)
    acceptable = [quota for quota in (*range(TOP + 1), MAX_AMOUNT) if judge(quota) is None]
    assert (found.minimum.quota, found.maximum.quota) == (min(acceptable), max(acceptable))
    for bound, beyond, end in (
        (found.minimum, found.minimum.quota - 1, NO_LESS),
        (found.maximum, found.maximum.quota + 1, NO_MORE),
    ):
        if bound.because is end:
            assert not 0 <= beyond <= MAX_AMOUNT
        else:
            assert isinstance(judge(beyond), Refusal), "one beyond the bound is refused"


@given(
    st.builds(ProjectFigures, *[SMALL] * 5, st.none() | st.integers(0, 8), st.none() | st.integers(8, 20), SMALL), RULES
)
def test_projects(figures: Any, rules: QuotaRules) -> None:
    check(partial(judge, figures=figures, rules=rules), figures.quota)


@given(st.builds(DomainFigures, *[SMALL] * 4, st.booleans()), RULES)
def test_domains(figures: Any, rules: QuotaRules) -> None:
    check(partial(judge, figures=figures, rules=rules), figures.quota)
