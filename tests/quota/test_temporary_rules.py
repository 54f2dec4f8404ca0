"""The rules of quota for a time, as tables of numbers."""

from functools import partial

import pytest
from msgspec import structs

from limes.kernel.units import Unit
from limes.quota.constraints import Constraint
from limes.quota.hierarchy import ProjectFigures, QuotaRules, Refusal, judge
from limes.quota.rules import NO_LOWPRIV, Permissions
from limes.quota.temporary import (
    ALWAYS,
    LONGEST,
    Plan,
    RequestedQuota,
    TemporaryQuota,
    TemporaryState,
    Term,
    check_term,
    plan,
    take_step,
)

NOW, END = 1000.0, 5000.0
EVERYTHING = QuotaRules("compute", Unit.COUNT, Permissions(True, True, True, True), NO_LOWPRIV)
ACTIVE = TemporaryQuota(TemporaryState.ACTIVE, 50, 20, 0.0, END, END)
PLANNED = TemporaryQuota(TemporaryState.PLANNED, 50, None, 3000.0, END, 3000.0)


@pytest.mark.parametrize(
    ("term", "is_fine"),
    [
        (ALWAYS, True),
        (Term(keep_until=True), True),
        (Term(until=NOW + 1), True),
        (Term(until=NOW), False),
        (Term(until=NOW + LONGEST), True),
        (Term(until=NOW + LONGEST + 1), False),
        (Term(until=END, starts_at=END - 1), True),
        (Term(until=END, starts_at=END), False),
        (Term(until=END, starts_at=NOW), False),
        (Term(starts_at=END), False),
        (Term(until=END, keep_until=False), False),
    ],
)
def test_terms(term: Term, is_fine: bool) -> None:
    assert (check_term(term, NOW) is None) == is_fine


@pytest.mark.parametrize(
    ("wanted", "term", "before", "ends"),
    [
        # what is wanted, how, what it goes back to afterwards (None: nothing ends), and when
        (50, ALWAYS, 20, END),
        (40, ALWAYS, None, None),
        (60, ALWAYS, None, None),
        (10, ALWAYS, None, None),
        (50, Term(keep_until=True), 20, END),
        (50, Term(keep_until=False), None, None),
        (40, Term(keep_until=True), 20, END),
        (21, Term(keep_until=True), 20, END),
        (60, Term(keep_until=True), 20, END),
        (50, Term(until=9000.0), 20, 9000.0),
        (30, Term(until=2000.0), 20, 2000.0),
        (60, Term(until=9000.0), 20, 9000.0),
    ],
)
def test_a_change_of_a_quota_that_has_an_end(wanted: int, term: Term, before: int | None, ends: float | None) -> None:
    found = plan(RequestedQuota(wanted, term, 50, ACTIVE), Unit.COUNT, NOW)
    assert not isinstance(found, Refusal)
    after = ACTIVE if found is None else found.temporary
    assert (after.before if after else None, after.until if after else None) == (before, ends)
    if after is not None:
        assert after.quota == wanted


@pytest.mark.parametrize(
    ("wanted", "term"), [(20, Term(until=END)), (20, Term(keep_until=True)), (60, Term(until=END, starts_at=3000.0))]
)
def test_a_change_that_makes_no_sense(wanted: int, term: Term) -> None:
    assert isinstance(plan(RequestedQuota(wanted, term, 50, ACTIVE), Unit.COUNT, NOW), Refusal)


@pytest.mark.parametrize(("wanted", "before"), [(15, 20), (20, 20), (30, 30), (49, 49), (50, None), (60, None)])
def test_a_raise_for_good_beside_more_for_a_time(wanted: int, before: int | None) -> None:
    """A request that is granted raises what stays, and never lowers anything."""
    found = plan(RequestedQuota(wanted, ALWAYS, 50, ACTIVE, only_raises=True), Unit.COUNT, NOW)
    assert found is None or isinstance(found, Plan)
    after = ACTIVE if found is None else found.temporary
    assert (after.before if after else None) == before


def figures(**numbers: int) -> ProjectFigures:
    return structs.replace(ProjectFigures(50, 0, 50, 100, 1000), **numbers)


@pytest.mark.parametrize(
    ("numbers", "quota", "over"),
    [
        ({}, 20, None),
        ({"usage": 20}, 20, None),
        ({"usage": 21}, 21, 1),
        ({"usage": 49}, 49, 29),
        ({"usage": 50}, 50, 30),
        ({"usage": 99}, 50, 30),
        ({"committed": 30}, 30, 10),
        ({"usage": 25, "committed": 30}, 30, 10),
        ({"backend_minimum": 40}, 40, 20),
        ({"quota": 20}, 20, None),
        ({"quota": 3}, 3, None),
        # an overcommitted domain is no reason to keep it
        ({"projects_quota": 500}, 20, None),
    ],
)
def test_how_far_it_goes_back(numbers: dict[str, int], quota: int, over: int | None) -> None:
    present = figures(**numbers)
    step = take_step(ACTIVE, present.quota, partial(judge, figures=present, rules=EVERYTHING), Unit.COUNT, END, 300)
    assert step.quota == quota
    assert (step.quota - 20 if step.temporary else None) == over
    if step.temporary is not None:
        assert (step.temporary.state, step.temporary.due_at) == (TemporaryState.OVER, END + 300)
        assert step.temporary.problem


@pytest.mark.parametrize("present", [21, 40, 49, 51, 80])
def test_what_others_have_set_since_stays(present: int) -> None:
    """A PUT by a release that does not know temporary quota leaves its row as it was."""
    may_be = partial(judge, figures=figures(quota=present), rules=EVERYTHING)
    step = take_step(ACTIVE, present, may_be, Unit.COUNT, END, 300)
    assert (step.quota, step.temporary) == (present, None)
    assert step.note == f"it was set to {present} since, so it does not go back to 20"
    over = structs.replace(ACTIVE, state=TemporaryState.OVER)
    assert take_step(over, present, may_be, Unit.COUNT, END, 300).quota == 20, "a part of it was given back"


@pytest.mark.parametrize(
    ("present", "constraint", "after"), [(30, Constraint(maximum=30), 20), (60, Constraint(minimum=60), 60)]
)
def test_what_a_constraint_has_moved_goes_back(present: int, constraint: Constraint, after: int) -> None:
    rules = structs.replace(EVERYTHING, constraint=constraint)
    may_be = partial(judge, figures=figures(quota=present), rules=rules)
    step = take_step(ACTIVE, present, may_be, Unit.COUNT, END, 300)
    assert step.quota == after
    assert (step.temporary is None) == (after == 20)


@pytest.mark.parametrize(
    ("numbers", "now", "quota", "state"),
    [
        ({"quota": 20, "projects_quota": 70}, 3000.0, 50, TemporaryState.ACTIVE),
        ({"quota": 20, "projects_quota": 71}, 3000.0, 20, TemporaryState.PLANNED),
        ({"quota": 50}, 3000.0, 50, None),
        ({"quota": 20}, END, 20, None),
    ],
)
def test_how_it_begins(numbers: dict[str, int], now: float, quota: int, state: TemporaryState | None) -> None:
    present = figures(**numbers)
    step = take_step(PLANNED, present.quota, partial(judge, figures=present, rules=EVERYTHING), Unit.COUNT, now, 300)
    assert (step.quota, step.temporary.state if step.temporary else None) == (quota, state)
    if state is TemporaryState.ACTIVE:
        assert step.temporary is not None
        assert (step.temporary.before, step.temporary.due_at) == (20, END)


def test_the_next_try_is_not_after_the_end() -> None:
    full = partial(judge, figures=figures(quota=20, projects_quota=100), rules=EVERYTHING)
    step = take_step(PLANNED, 20, full, Unit.COUNT, END - 10, 300)
    assert step.temporary is not None
    assert step.temporary.due_at == END
