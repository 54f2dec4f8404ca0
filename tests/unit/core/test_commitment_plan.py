"""The plan says the same as a slow play of the future, in which nothing is remembered from one time to the next."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from limes.core.commitment_plan import Plan, make_plan
from limes.core.commitments import Status, advance, confirm
from limes.core.committable import Balance, choose_confirmable
from tests.unit.core.test_commitments import make

PROJECTS = (1, 2, 3)


def confirmed_only(balance, commitments):
    committed: dict[int, int] = {}
    for one in commitments:
        if one.is_confirmed:
            committed[one.project_id] = committed.get(one.project_id, 0) + one.amount
    return replace(balance, committed=committed)


def slow_plan(balance, live, project, amount, now, earliest):
    current, blockers, confirmable_now = {one.id: one for one in live}, [], 0
    ahead = {time for one in live for time in (one.expires_at, one.confirm_by or 0.0) if time > now}
    for time in sorted({now, max(now, earliest), *ahead}):
        for number, one in list(current.items()):
            current[number] = advance(one, time)
            if not current[number].is_live:
                del current[number]
                if one.is_confirmed and one.expires_at > now:
                    blockers.append(one)
        waiting = [one for one in current.values() if one.status is Status.PENDING]
        for one in choose_confirmable(confirmed_only(balance, current.values()), waiting):
            current[one.id] = confirm(one, time)
        state = confirmed_only(balance, current.values())
        if time == now:
            confirmable_now = state.committable_by(project)
        if time >= earliest and state.allows(project, amount):
            return Plan(time, confirmable_now, tuple(blockers), 0)
    return Plan(None, confirmable_now, tuple(blockers), state.add(project, amount).claimed - state.capacity)


COMMITMENTS = st.builds(
    lambda project, amount, status, begin, length: (project, amount, status, begin, begin + length),
    st.sampled_from(PROJECTS),
    st.integers(1, 40),
    st.sampled_from([Status.PLANNED, Status.PENDING, Status.CONFIRMED]),
    st.integers(-3, 6),
    st.integers(1, 6),
)


def same(plan, other):
    ids = ({one.id for one in plan.blockers}, {one.id for one in other.blockers})
    return (replace(plan, blockers=()), ids[0]) == (replace(other, blockers=()), ids[1])


@settings(max_examples=400, deadline=None)
@given(
    st.lists(COMMITMENTS, max_size=12),
    st.integers(0, 80),
    st.tuples(*[st.integers(0, 30)] * 3),
    st.integers(1, 50),
    st.integers(-1, 12),
)
def test_as_the_slow_one(drawn, capacity, usage, amount, earliest):
    live = [
        make(
            id=number,
            project_id=project,
            amount=size,
            status=status,
            confirm_by=float(begin),
            created_at=float(begin % 3),
            expires_at=float(end),
        )
        for number, (project, size, status, begin, end) in enumerate(drawn, 1)
    ]
    balance = Balance(capacity, sum(usage), {}, dict(zip(PROJECTS, usage, strict=True)))
    plan = make_plan(balance, live, 1, amount, 0.0, float(earliest))
    assert same(plan, slow_plan(balance, live, 1, amount, 0.0, float(earliest)))


def test_thousands_of_commitments_are_no_burden():
    """3,000 that end one after the other, and we need them all to end: each is looked at a few times, not 3,000."""
    looks = 0

    class Counted(dict[int, int]):
        def get(self, key, default=None):
            nonlocal looks
            looks += 1
            return super().get(key, default)

    live = [make(id=number, project_id=number % 50, amount=1, expires_at=float(number)) for number in range(1, 3001)]
    plan = make_plan(Balance(3000, 0, {}, Counted()), live, 999, 3000, 0.0)
    assert (plan.confirmable_at, len(plan.blockers)) == (3000.0, 3000)
    assert looks < 10 * len(live)
