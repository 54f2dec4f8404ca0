"""Random lives of commitments in two AZs, without any database. `tests/commitments/test_machine.py` has all deeds."""

import itertools
from collections.abc import Callable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec import structs

from limes.commitments import commitment as life
from limes.commitments import reshaping
from limes.commitments.claims import Tally
from limes.commitments.commitment import Commitment, Status
from limes.commitments.reshaping import Reshaped
from tests.commitments.test_rules import DAY, make, tally_of

PROJECTS = (1, 2, 3)
AZS = ("az-one", "az-two")
azs = st.sampled_from(AZS)
projects = st.sampled_from(PROJECTS)


def committed_by(commitments: list[Any]) -> dict[tuple[str, int], int]:
    """What is confirmed, by AZ and project."""
    committed: dict[tuple[str, int], int] = {}
    for one in commitments:
        if one.is_confirmed:
            committed[one.az, one.project_id] = committed.get((one.az, one.project_id), 0) + one.amount
    return committed


class Cloud(RuleBasedStateMachine):
    """Random lives: never oversold by what we do, amounts conserved, no transition that there is not."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.all: dict[int, Commitment] = {}
        self.promised = 0
        """What all live commitments together are, counted beside."""

    @initialize(
        capacity=st.tuples(*[st.integers(0, 100)] * 2),
        usage=st.dictionaries(st.tuples(st.sampled_from([*AZS, "any", "unknown"]), projects), st.integers(0, 40)),
    )
    def begin(self, capacity: int, usage: int) -> None:
        self.capacity, self.usage = dict(zip(AZS, capacity, strict=True)), usage

    @property
    def live(self) -> list[Any]:
        return [one for one in self.all.values() if one.is_live]

    @property
    def tally(self) -> Tally:
        return tally_of(self.capacity, committed_by(self.live), self.usage)

    @property
    def claimed(self) -> dict[Any, Any]:
        """What is claimed in each AZ, and overall."""
        claimed = self.tally.claims.claimed
        return {**{az: claimed.get(az, 0) for az in AZS}, "": sum(claimed.values())}

    def assert_not_oversold(self, before: dict[Any, Any]) -> None:
        """Nothing that was done since has made too many claims, or more than the too many that there were."""
        bounds = dict(self.capacity)
        if self.claimed[""] > sum(self.claimed[az] for az in AZS):  # something is used nobody knows where
            bounds[""] = sum(self.capacity.values())
        assert all(amount <= max(bounds[az], before[az]) for az, amount in self.claimed.items() if az in bounds)

    def store(self, commitment: Commitment) -> None:
        number = len(self.all) + 1
        self.all[number] = structs.replace(commitment, id=number, uuid=f"u{number}")

    def write(self, commitment: Commitment) -> None:
        before = self.all[commitment.id]
        allowed = {
            Status.PLANNED: {Status.PENDING, Status.EXPIRED, Status.SUPERSEDED},
            Status.PENDING: {Status.CONFIRMED, Status.EXPIRED, Status.SUPERSEDED},
            Status.CONFIRMED: {Status.EXPIRED, Status.SUPERSEDED},
            Status.SUPERSEDED: set(),
            Status.EXPIRED: set(),
        }
        assert commitment.status is before.status or commitment.status in allowed[before.status]
        self.all[commitment.id] = commitment

    def reshape(self, reshaped: Reshaped) -> None:
        for old in reshaped.old:
            self.write(old)
        for new in reshaped.new:
            self.store(new)

    def pick(self, data: Any, condition: Callable[..., Any]) -> Any:
        return data.draw(st.sampled_from([one for one in self.live if condition(one)]))

    @rule(project=projects, az=azs, amount=st.integers(1, 60), days=st.integers(1, 30))
    def commit_now(self, project: str, az: str, amount: int, days: Any) -> None:
        before = self.claimed
        if self.tally.allows(az, project, amount):
            end = life.end_of(self.now, f"{days} days")
            times = {"created_at": self.now, "confirmed_at": self.now, "expires_at": end}
            self.store(make(project_id=project, az=az, amount=amount, duration=f"{days} days", **times))
            self.promised += amount
            self.assert_not_oversold(before)

    @rule(project=projects, az=azs, amount=st.integers(1, 60), wait=st.integers(1, 10))
    def commit_later(self, project: str, az: str, amount: int, wait: Any) -> None:
        start = self.now + wait * DAY
        self.store(
            make(
                project_id=project,
                az=az,
                amount=amount,
                status=Status.PLANNED,
                created_at=self.now,
                confirm_by=start,
                confirmed_at=None,
                expires_at=life.end_of(start, "10 days"),
            )
        )
        self.promised += amount

    @rule(days=st.integers(0, 12))
    def time_passes(self, days: Any) -> None:
        self.now += days * DAY
        for one in self.live:
            moved = life.advance(one, self.now)
            self.promised -= one.amount if moved.status is Status.EXPIRED else 0
            self.write(moved)
        before = self.claimed
        for one in self.tally.confirm_in_turn([one for one in self.live if one.status is Status.PENDING]):
            self.write(life.confirm(one, self.now))
        self.assert_not_oversold(before)
        for one in self.live:  # nobody waits for nothing
            assert one.status is not Status.PENDING or not self.tally.allows(one.az, one.project_id, one.amount)

    @rule(az=azs, capacity=st.integers(0, 150))
    def capacity_changes(self, az: str, capacity: int) -> None:
        self.capacity[az] = capacity

    @rule(project=projects, az=st.sampled_from([*AZS, "any", "unknown"]), usage=st.integers(0, 60))
    def usage_changes(self, project: str, az: str, usage: int) -> None:
        self.usage[az, project] = usage

    @precondition(lambda self: any(one.amount > 1 for one in self.live))
    @rule(data=st.data())
    def split(self, data: Any) -> None:
        one = self.pick(data, lambda one: one.amount > 1)
        claimed = self.claimed
        self.reshape(reshaping.split(one, data.draw(st.integers(1, one.amount - 1)), self.now, ("", "")))
        assert self.claimed == claimed

    @precondition(lambda self: any(one.is_confirmed for one in self.live))
    @rule(data=st.data(), receiver=projects)
    def transfer(self, data: Any, receiver: Any) -> None:
        one = life.offer(self.pick(data, lambda one: one.is_confirmed), "public", "token")
        self.write(one)
        before = self.claimed
        if self.tally.allows_move(one.az, one.project_id, receiver, one.amount):
            self.write(life.hand_over(one, receiver))
            self.assert_not_oversold(before)

    @rule()
    def merge(self) -> None:
        claimed = self.claimed
        for project, az in itertools.product(PROJECTS, AZS):
            own = [one for one in self.live if (one.project_id, one.az) == (project, az) and one.is_confirmed]
            if len(own) > 1 and not any(one.transfer_status for one in own):
                self.reshape(reshaping.merge(own, self.now, ""))
        assert self.claimed == claimed

    @precondition(lambda self: any(not one.is_confirmed for one in self.live))
    @rule(data=st.data())
    def delete(self, data: Any) -> None:
        one = self.pick(data, lambda one: not one.is_confirmed)
        self.promised -= one.amount
        self.all[one.id] = structs.replace(one, status=Status.EXPIRED)

    @invariant()
    def amounts_are_conserved(self) -> None:
        assert sum(one.amount for one in self.live) == self.promised
        for one in self.all.values():
            assert one.amount > 0
            assert (one.status is Status.SUPERSEDED) == (one.superseded_at is not None)
            assert not one.is_confirmed or one.confirmed_at is not None
            assert (one.transfer_token is None) == (one.transfer_status == "")


TestCloud = Cloud.TestCase
TestCloud.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
