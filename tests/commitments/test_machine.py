"""Random lives of commitments through the use cases, on a real database: whatever is asked for, and in whatever order.

After each step: never oversold (nor is what is used in unknown AZs), amounts (or, where they are converted, what they
are worth) conserved, no transition that there is not, nobody waits for what is there, lists and events that agree with
the rows; and who was refused has changed nothing.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from msgspec import structs

from limes.audit.events import Initiator
from limes.catalog.catalog import select
from limes.catalog.queries import lock_resources
from limes.commitments import create, reading, reshape, settle
from limes.commitments.commitment import Commitment, Status
from limes.commitments.events import NumberedEvent
from limes.commitments.reshape import Conversion
from limes.commitments.rules import CommitmentRequest, conversion_rates
from limes.kernel.errors import LimesError
from tests.api.world import World
from tests.commitments.commitment_cloud import AZS, BEHAVIORS, CORES, PROJECTS, RULES, UNKNOWN, VOLUME, WORTH, Cloud
from tests.commitments.commitment_invariants import check_capacity, check_lists, check_transitions

JANE = Initiator("jane", "u1", "germany")
HOUR = 3600

which = st.integers(0, 15)
"""One of those that live; now and then one that is not there."""
projects, refs, azs = (
    st.sampled_from(sorted(PROJECTS)),
    st.sampled_from([CORES, CORES, VOLUME]),
    st.sampled_from(["az-one", *AZS]),
)


class Life(RuleBasedStateMachine):
    """One example: begins with no commitments, on the database of `world`."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.cloud = Cloud(world)
        self.limes = self.cloud.limes.as_initiator(JANE)
        self.seen: dict[int, Commitment] = {}
        self.cursor = self.cloud.last_event()
        self.worth = 0
        """What all live commitments together have to be worth."""

    def pick(self, index: int) -> tuple[Any, ...]:
        """A commitment, its number and the path of its owner."""
        live = [commitment for _, commitment in sorted(self.seen.items()) if commitment.is_live]
        if index == 15 or not live:
            return None, 4711, PROJECTS[1]
        commitment = live[index % len(live)]
        return commitment, commitment.id, PROJECTS[commitment.project_id]

    # -- deeds -----------------------------------------------------------------------------------------------------------

    def attempt(self, deed: Callable[..., Any]) -> Any:
        """Its answer, or None if it was refused: then nothing has changed."""
        try:
            return deed()
        except LimesError:
            assert self.cloud.stored() == self.seen
            assert self.cloud.last_event() == self.cursor
            return None

    @rule(project=projects, ref=refs, az=azs, amount=st.integers(1, 20), duration=st.sampled_from(["1 hour", "1 year"]),
          wait=st.sampled_from([None, None, 0, 0, 3]))  # fmt: skip
    def new(self, project: str, ref: tuple[str, str], az: str, amount: int, duration: str, wait: Any) -> None:
        domain, uuid = PROJECTS[project]
        request = CommitmentRequest(ref, az, amount, duration, None if wait is None else self.cloud.now + wait * HOUR)
        fits = create.preview_commitment(self.limes, domain, uuid, request).is_possible if wait is None else True
        made = self.attempt(lambda: create.create_commitment(self.limes, domain, uuid, request))
        assert (made is not None) == fits  # it does what was said before
        self.worth += WORTH[ref] * amount if made else 0

    @rule(index=which, amount=st.integers(1, 20), status=st.sampled_from(["", "unlisted", "public"]))
    def offer(self, index: int, amount: int, status: str) -> None:
        _, number, owner = self.pick(index)
        self.attempt(lambda: reshape.offer_commitment(self.limes, *owner, number, amount, status))

    @rule(index=which, project=projects, token=st.sampled_from(["right", "right", "wrong", "of another"]))
    def take(self, index: int, project: str, token: str) -> None:
        commitment, number, owner = self.pick(index)
        if commitment and commitment.is_confirmed and not commitment.transfer_token:
            self.attempt(lambda: reshape.offer_commitment(self.limes, *owner, number, commitment.amount, "unlisted"))
            self.all_is_well()
        offered = [commitment for _, commitment in sorted(self.seen.items()) if commitment.transfer_token]
        if not offered:
            return
        held = next((commitment for commitment in offered if commitment.id == number), offered[0])
        other = offered[index % len(offered)]
        given = {"right": held.transfer_token, "wrong": "0" * 48, "of another": other.transfer_token}[token]
        taken = self.attempt(lambda: reshape.take_commitment(self.limes, *PROJECTS[project], held.id, given))
        if taken:
            assert given == held.transfer_token
            moved = structs.replace(held, project_id=project, transfer_status="", transfer_token=None)
            assert taken.commitment == self.cloud.stored()[held.id] == moved

    @rule(indices=st.lists(which, min_size=2, max_size=3), alike=st.booleans())
    def merge(self, indices: list[int], alike: bool) -> None:
        commitment, _, owner = self.pick(indices[0])
        fellows = [self.pick(index) for index in indices]
        if alike and commitment:  # those that go with the first one
            place = (commitment.project_id, commitment.resource_id, commitment.az, commitment.status)
            all_live = [self.pick(index) for index in range(16)]
            fellows = [
                other for other in all_live
                if other[0] and (other[0].project_id, other[0].resource_id, other[0].az, other[0].status) == place
            ]  # fmt: skip
        numbers = [number for _, number, _ in fellows]
        made = self.attempt(lambda: reshape.merge_commitments(self.limes, *owner, numbers))
        assert made is None or made.commitment.amount == sum(self.seen[number].amount for number in set(numbers))

    @rule(index=which)
    def renew(self, index: int) -> None:
        commitment, number, owner = self.pick(index)
        made = self.attempt(lambda: reshape.renew_commitment(self.limes, *owner, number))
        if made:
            self.worth += WORTH[made.ref] * made.commitment.amount
            assert (made.commitment.status, made.commitment.confirm_by) == (Status.PLANNED, commitment.expires_at)

    @rule(index=which, duration=st.sampled_from(["1 hour", "1 year"]))
    def change_duration(self, index: int, duration: str) -> None:
        _, number, owner = self.pick(index)
        self.attempt(lambda: reshape.change_duration(self.limes, *owner, number, duration))

    @rule(index=which, part=st.integers(1, 6), whole=st.booleans())
    def convert(self, index: int, part: int, whole: bool) -> None:
        commitment, number, owner = self.pick(index)
        source = self.cloud.ref_of(commitment) if commitment else CORES
        ((target, rate),) = conversion_rates(RULES.conversions, source).items()
        most = commitment.amount // rate.source if commitment else 6
        amount = commitment.amount if whole and commitment else max(1, min(part, most)) * rate.source
        wanted = amount * rate.target // rate.source
        conversion = Conversion(target, amount, wanted)
        self.attempt(lambda: reshape.convert_commitment(self.limes, *owner, number, conversion))

    @rule(index=which, as_admin=st.booleans())
    def delete(self, index: int, as_admin: bool) -> None:
        commitment, number, owner = self.pick(index)
        before = self.cloud.stored()
        done = self.attempt(lambda: create.delete_commitment(self.limes, *owner, number, as_admin=as_admin) or True)
        if done:
            # what was renewed stays; what was split, merged or converted is superseded, and would be lost
            old = before.get(commitment.predecessor_id)
            is_original = commitment.predecessor_id is None or (old is not None and old.status is not Status.SUPERSEDED)
            fresh = is_original and self.cloud.now < commitment.created_at + RULES.self_delete_grace
            assert fresh or (as_admin and not commitment.is_confirmed)
            self.worth -= WORTH[self.cloud.ref_of(commitment)] * commitment.amount

    @rule(hours=st.sampled_from([0.25, 1, 3, 24 * 340, 24 * 366]), job=st.booleans())
    def time_passes(self, hours: int, job: bool) -> None:
        self.cloud.clock.advance(hours * HOUR)
        if job:
            settle.settle_commitments(self.cloud.limes)
            assert all(
                commitment.expires_at > self.cloud.now
                for commitment in self.cloud.stored().values()
                if commitment.is_live
            )

    @rule(ref=refs, az=azs, capacity=st.integers(0, 60))
    def capacity_is_scraped(self, ref: tuple[str, str], az: str, capacity: int) -> None:
        def work() -> None:
            lock_resources(self.cloud.engine, [self.cloud.ids[ref]])
            self.cloud.engine.execute(
                "UPDATE az_resources SET raw_capacity = %s WHERE resource_id = %s AND az = %s",
                [capacity, self.cloud.ids[ref], az],
            )
            settle.settle_locked(self.cloud.limes, [self.cloud.ids[ref]])

        self.cloud.engine.atomic(work)

    @rule(project=projects, ref=refs, az=st.sampled_from(["az-one", *AZS, *UNKNOWN]), usage=st.integers(0, 25))
    def usage_is_scraped(self, project: str, ref: tuple[str, str], az: str, usage: int) -> None:
        with self.cloud.engine.connection():
            self.cloud.engine.execute(
                "INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)"
                " VALUES (%s, %s, %s, %s, '') ON CONFLICT (project_id, resource_id, az) DO UPDATE"
                " SET usage = excluded.usage",
                [project, self.cloud.ids[ref], az, usage],
            )
        settle.settle_waiting(self.cloud.limes, {self.cloud.ids[ref]})

    # -- what always holds ---------------------------------------------------------------------------------------------

    @invariant()
    def all_is_well(self) -> None:
        before, after = self.seen, self.cloud.stored()
        events = reading.changes_after(
            self.limes, self.cursor, 10_000, select(self.limes.catalog), reading.ChangeFilter()
        ).shown
        check_transitions(before, after)
        self._events(before, after, events)
        check_capacity(self.cloud, before, after)
        check_lists(self.cloud, after)
        self.seen, self.cursor = after, events[-1].number if events else self.cursor

    def _events(self, before: dict[int, Commitment], after: dict[int, Commitment], events: list[NumberedEvent]) -> None:
        assert [event.number for event in events] == list(range(self.cursor + 1, self.cursor + 1 + len(events)))
        sums: defaultdict[str, int] = defaultdict(int)
        for event in events:
            document = orjson.loads(event.document)
            sums[event.event] += WORTH[document["service_type"], document["resource_name"]] * document["amount"]
            assert "transfer_token" not in document
        self.worth -= sums["expired"]
        assert self.cloud.worth(after) == self.worth
        made, gone = sums["created"], sums["superseded"] + sums["expired"] + sums["deleted"]
        assert self.cloud.worth(after) - self.cloud.worth(before) == made - gone


@pytest.mark.sql
@pytest.mark.timeout(600)  # a failure is made small before it is shown
def test_lives(make: Callable[..., World]) -> None:
    world = make(behaviors=BEHAVIORS, commitment_rules=RULES)
    examples = 40 if world.engine.dialect == "sqlite" else 8  # where nobody else is about, they do not differ
    run_state_machine_as_test(
        lambda: Life(world),
        settings=settings(
            max_examples=examples, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
