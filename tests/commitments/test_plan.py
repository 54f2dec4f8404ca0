"""The plan says the same as a slow play of the future, in which nothing is remembered from one time to the next."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from limes.commitments.commitment import Status, advance, confirm
from limes.commitments.plan import Demand, Plan, make_plan
from tests.commitments.test_lives import AZS, committed_by
from tests.commitments.test_rules import make, tally_of

PROJECTS = (1, 2, 3)


def slow_plan(capacity: dict[str, Any], usage: dict[Any, Any], live: list[Any], want: Demand, now: float) -> Plan:
    """Counts all claims anew at each time."""
    current, blockers, confirmable_now, unplaced = {one.id: one for one in live}, [], 0, 0

    def missing() -> int:
        return tally_of(capacity, committed_by(current.values()), usage).missing(want.az, want.project, want.amount)

    ahead = {time for one in live for time in (one.expires_at, one.confirm_by or 0.0) if time > now}
    for time in sorted({now, max(now, want.earliest), *ahead}):
        for number, one in list(current.items()):
            current[number] = advance(one, time)
            if not current[number].is_live:
                current[number] = one
                before = missing()
                del current[number]
                if one.is_confirmed and one.expires_at > now and missing() < before:
                    blockers.append(one)
        waiting = [one for one in current.values() if one.status is Status.PENDING]
        for one in tally_of(capacity, committed_by(current.values()), usage).confirm_in_turn(waiting):
            current[one.id] = confirm(one, time)
        state = tally_of(capacity, committed_by(current.values()), usage)
        held_back = state.claims.unplaced if state.claims.holds_back(want.az) else 0
        if time == now:
            confirmable_now, unplaced = state.committable_by(want.az, want.project), held_back
        if time >= want.earliest and state.allows(want.az, want.project, want.amount):
            return Plan(time, confirmable_now, tuple(blockers), 0, unplaced)
    return Plan(None, confirmable_now, tuple(blockers), missing(), unplaced or held_back)


COMMITMENTS = st.builds(
    lambda az, project, amount, status, begin, length: (az, project, amount, status, begin, begin + length),
    st.sampled_from(["az-one", *AZS]),
    st.sampled_from(PROJECTS),
    st.integers(1, 40),
    st.sampled_from([Status.PLANNED, Status.PENDING, Status.CONFIRMED]),
    st.integers(-3, 6),
    st.integers(1, 6),
)


def same(plan: Plan, other: Plan) -> bool:
    ids = ({one.id for one in plan.blockers}, {one.id for one in other.blockers})
    return (structs.replace(plan, blockers=()), ids[0]) == (structs.replace(other, blockers=()), ids[1])


@settings(max_examples=400, deadline=None)
@given(
    st.lists(COMMITMENTS, max_size=12),
    st.tuples(st.integers(0, 80), st.integers(0, 40)),
    st.dictionaries(
        st.tuples(st.sampled_from([*AZS, "any", "unknown"]), st.sampled_from(PROJECTS)), st.integers(0, 30)
    ),
    st.integers(1, 50),
    st.integers(-1, 12),
)
def test_as_the_slow_one(
    drawn: list[Any], capacity: tuple[Any, Any], usage: dict[Any, Any], amount: int, earliest: int
) -> None:
    live = [
        make(
            id=number,
            az=az,
            project_id=project,
            amount=size,
            status=status,
            confirm_by=float(begin),
            created_at=float(begin % 3),
            expires_at=float(end),
        )
        for number, (az, project, size, status, begin, end) in enumerate(drawn, 1)
    ]
    by_az, want = dict(zip(AZS, capacity, strict=True)), Demand("az-one", 1, amount, float(earliest))
    confirmed = committed_by([one for one in live if one.expires_at > 0.0])
    plan = make_plan(tally_of(by_az, confirmed, usage), live, want, 0.0)
    assert same(plan, slow_plan(by_az, usage, live, want, 0.0))


def test_what_blocks_in_another_az() -> None:
    """30 are left overall, as 10 are used nobody knows where, and 60 are committed to in the other AZ."""
    live = [make(id=1, az="az-two", amount=60, expires_at=5.0), make(id=2, az="az-one", amount=10, expires_at=9.0)]
    capacity, usage = dict.fromkeys(AZS, 55), {("any", 3): 10}

    def plan(amount: int) -> Plan:
        return make_plan(tally_of(capacity, committed_by(live), usage), live, Demand("az-one", 2, amount), 0.0)

    assert plan(30) == Plan(0.0, 30, (), 0, 10)
    assert plan(31) == Plan(5.0, 30, (live[0],), 0, 10)
    assert plan(46) == Plan(9.0, 30, tuple(live), 0, 10)
    assert plan(56) == Plan(None, 30, tuple(live), 1, 10)


def test_what_ends_in_another_az_blocks_nothing_where_the_az_itself_is_full() -> None:
    live = [make(id=1, az="az-two", amount=5, expires_at=5.0), make(id=2, az="az-one", amount=10, expires_at=9.0)]
    tally = tally_of(dict.fromkeys(AZS, 10), committed_by(live), {})
    assert make_plan(tally, live, Demand("az-one", 2, 1), 0.0) == Plan(9.0, 0, (live[1],), 0)


def test_what_ends_before_a_later_date_blocks_only_what_needs_its_room() -> None:
    """60 of 100 are committed to, and end at 3 and 5."""
    live = [make(id=1, az="az-one", amount=20, expires_at=3.0), make(id=2, az="az-one", amount=40, expires_at=5.0)]

    def plan(amount: int, earliest: float) -> Plan:
        tally = tally_of({"az-one": 100}, committed_by(live), {})
        return make_plan(tally, live, Demand("az-one", 2, amount, earliest), 0.0)

    assert plan(40, 8.0) == Plan(8.0, 40, (), 0)
    assert plan(50, 8.0) == Plan(8.0, 40, (live[0],), 0)
    assert plan(90, 8.0) == Plan(8.0, 40, tuple(live), 0)


def test_the_end_of_a_commitment_that_is_used_anyway_makes_no_room() -> None:
    live = [
        make(id=1, az="az-one", amount=10, expires_at=3.0),
        make(id=2, az="az-one", amount=10, project_id=3, expires_at=5.0),
    ]
    tally = tally_of({"az-one": 20}, committed_by(live), {("az-one", live[0].project_id): 10})
    assert make_plan(tally, live, Demand("az-one", 2, 10), 0.0) == Plan(5.0, 0, (live[1],), 0)


def test_thousands_of_commitments_are_no_burden() -> None:
    """3,000 that end one after the other, and we need them all to end: each is looked at a few times, not 3,000."""
    looks = 0

    class Counted(dict[tuple[str, int], int]):
        def get(self, key: Any, default: Any = None) -> Any:
            nonlocal looks
            looks += 1
            return super().get(key, default)

    live = [make(id=number, project_id=number % 50, amount=1, expires_at=float(number)) for number in range(1, 3001)]
    tally = tally_of({"az-one": 3000}, committed_by(live), Counted())
    looks = 0
    plan = make_plan(tally, live, Demand("az-one", 999, 3000), 0.0)
    assert (plan.confirmable_at, len(plan.blockers)) == (3000.0, 3000)
    assert looks < 10 * len(live)
