"""Random lives of commitments through the use cases, on a real database: whatever is asked for, and in whatever order.

After each step: never oversold, amounts (or, where they are converted, what they are worth) conserved, no transition
that there is not, nobody waits for what is there, lists and events that agree with the rows; and who was refused has
changed nothing.
"""

import re
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import replace

import orjson
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from limes.actions.commitments.create import Creator
from limes.actions.commitments.reshape import Conversion
from limes.actions.commitments.settle import SettleCommitments
from limes.actions.commitments.use_cases import CommitmentUseCases
from limes.core.catalog import BehaviorRule
from limes.core.commitment_request import CommitmentRequest
from limes.core.commitment_rules import CommitmentRules
from limes.core.commitments import Commitment, Status
from limes.core.committable import Balance
from limes.core.conversion import rates
from limes.core.selection import select
from limes.db.queries import commitments as queries
from limes.db.queries.quotas import lock_resources
from limes.errors import LimesError
from limes.seams import SystemIds
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS
from tests.support.clock import FrozenClock

CORES, VOLUME = ("compute", "cores"), ("volume", "capacity")
WORTH = {CORES: 2, VOLUME: 3}
RULES = CommitmentRules(conversions=(WORTH,), self_delete_grace=1800, renewal_window=86400 * 400)
BEHAVIORS = [
    BehaviorRule(re.compile(name), commitment_durations=("1 hour", "1 year"), commitment_is_az_aware=True)
    for name in ("compute/cores", "volume/capacity")
]
PROJECTS = {1: (GERMANY, BERLIN), 2: (GERMANY, DRESDEN), 3: (FRANCE, PARIS)}
AZS = ("az-one", "az-two")
JANE = Creator("u1", "jane@germany")
HOUR = 3600
ALLOWED = {
    Status.PLANNED: {Status.PENDING, Status.CONFIRMED, Status.EXPIRED, Status.SUPERSEDED},
    Status.PENDING: {Status.CONFIRMED, Status.EXPIRED, Status.SUPERSEDED},
    Status.CONFIRMED: {Status.EXPIRED, Status.SUPERSEDED},
    Status.SUPERSEDED: set(),
    Status.EXPIRED: set(),
}
"""Planned to confirmed is two steps, which may be made at once."""

which = st.integers(0, 15)
"""One of those that live; now and then one that is not there."""
projects, refs, azs = (
    st.sampled_from(sorted(PROJECTS)),
    st.sampled_from([CORES, CORES, VOLUME]),
    st.sampled_from(["az-one", *AZS]),
)


class Life(RuleBasedStateMachine):
    """One example: begins with no commitments, on the database of `world`."""

    def __init__(self, world):
        super().__init__()
        self.engine, self.clock = world.engine, FrozenClock()
        ledger = world.commitments.create.ledger
        self.cases = CommitmentUseCases.build(self.engine, ledger.catalog, self.clock, SystemIds(), RULES, ledger.trail)
        self.ledger = self.cases.create.ledger
        self.settle = SettleCommitments(self.ledger)
        self.engine.atomic(self._clean)
        self.ids = {ref: id_ for id_, ref in self.engine.snapshot(self.ledger.refs).items()}
        self.seen: dict[int, Commitment] = {}
        self.cursor = self._last_event()
        self.worth = 0
        """What all live commitments together have to be worth."""

    def _clean(self):
        for table in ("project_commitments", "project_az_resources", "az_resources"):
            self.engine.execute(f"DELETE FROM {table}")
        for ref in (CORES, VOLUME):
            for project in PROJECTS:
                self.engine.execute(
                    "INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)"
                    " SELECT %s, r.id, 0, 0, 0 FROM resources r WHERE r.name = %s ON CONFLICT DO NOTHING",
                    [project, ref[1]],
                )
            for az in AZS:
                self.engine.execute(
                    "INSERT INTO az_resources (resource_id, az, raw_capacity, subcapacities)"
                    " SELECT id, %s, 30, '[]' FROM resources WHERE name = %s",
                    [az, ref[1]],
                )

    # -- what there is -------------------------------------------------------------------------------------------------

    @property
    def now(self):
        return int(self.ledger.now())

    def stored(self):
        def read():
            return {one.id: one for project in PROJECTS for one in queries.of_project(self.engine, project)}

        return self.engine.snapshot(read)

    def pick(self, index):
        """A commitment, its number and the path of its owner."""
        live = [one for _, one in sorted(self.seen.items()) if one.is_live]
        if index == 15 or not live:
            return None, 4711, PROJECTS[1]
        one = live[index % len(live)]
        return one, one.id, PROJECTS[one.project_id]

    def figures(self):
        """Usage by project, and capacity, by place."""
        usage: defaultdict[tuple[int, str], dict[int, int]] = defaultdict(dict)
        with self.engine.connection():
            for resource, az, project, used in self.engine.rows(
                "SELECT resource_id, az, project_id, usage FROM project_az_resources"
            ):
                usage[resource, az][project] = used
            capacity = self.engine.rows("SELECT resource_id, az, raw_capacity FROM az_resources")
        return [((resource, az), amount, usage[resource, az]) for resource, az, amount in capacity]

    def _last_event(self):
        with self.engine.connection():
            return self.engine.rows("SELECT last FROM commitment_event_counter")[0][0]

    # -- deeds -----------------------------------------------------------------------------------------------------------

    def attempt(self, deed):
        """Its answer, or None if it was refused: then nothing has changed."""
        try:
            return deed()
        except LimesError:
            assert self.stored() == self.seen
            assert self._last_event() == self.cursor
            return None

    @rule(project=projects, ref=refs, az=azs, amount=st.integers(1, 20), duration=st.sampled_from(["1 hour", "1 year"]),
          wait=st.sampled_from([None, None, 0, 0, 3]))  # fmt: skip
    def new(self, project, ref, az, amount, duration, wait):
        domain, uuid = PROJECTS[project]
        request = CommitmentRequest(ref, az, amount, duration, None if wait is None else self.now + wait * HOUR)
        fits = self.cases.create.can_confirm(domain, uuid, request) if wait is None else True
        made = self.attempt(lambda: self.cases.create.run(domain, uuid, request, JANE))
        assert (made is not None) == fits  # it does what was said before
        self.worth += WORTH[ref] * amount if made else 0

    @rule(index=which, amount=st.integers(1, 20), status=st.sampled_from(["", "unlisted", "public"]))
    def offer(self, index, amount, status):
        _, number, owner = self.pick(index)
        self.attempt(lambda: self.cases.transfer.start(*owner, number, amount, status))

    @rule(index=which, project=projects, token=st.sampled_from(["right", "right", "wrong", "of another"]))
    def take(self, index, project, token):
        one, number, owner = self.pick(index)
        if one and one.is_confirmed and not one.transfer_token:
            self.attempt(lambda: self.cases.transfer.start(*owner, number, one.amount, "unlisted"))
            self.all_is_well()
        offered = [one for _, one in sorted(self.seen.items()) if one.transfer_token]
        if not offered:
            return
        held = next((one for one in offered if one.id == number), offered[0])
        other = offered[index % len(offered)]
        given = {"right": held.transfer_token, "wrong": "0" * 48, "of another": other.transfer_token}[token]
        taken = self.attempt(lambda: self.cases.transfer.take(*PROJECTS[project], held.id, given))
        if taken:
            assert given == held.transfer_token
            moved = replace(held, project_id=project, transfer_status="", transfer_token=None)
            assert taken.commitment == self.stored()[held.id] == moved

    @rule(indices=st.lists(which, min_size=2, max_size=3), alike=st.booleans())
    def merge(self, indices, alike):
        one, _, owner = self.pick(indices[0])
        fellows = [self.pick(index) for index in indices]
        if alike and one:  # those that go with the first one
            place = (one.project_id, one.resource_id, one.az, one.status)
            all_live = [self.pick(index) for index in range(16)]
            fellows = [
                other for other in all_live
                if other[0] and (other[0].project_id, other[0].resource_id, other[0].az, other[0].status) == place
            ]  # fmt: skip
        numbers = [number for _, number, _ in fellows]
        made = self.attempt(lambda: self.cases.reshape.merge(*owner, numbers))
        assert made is None or made.commitment.amount == sum(self.seen[number].amount for number in set(numbers))

    @rule(index=which)
    def renew(self, index):
        one, number, owner = self.pick(index)
        made = self.attempt(lambda: self.cases.reshape.renew(*owner, number))
        if made:
            self.worth += WORTH[made.ref] * made.commitment.amount
            assert (made.commitment.status, made.commitment.confirm_by) == (Status.PLANNED, one.expires_at)

    @rule(index=which, duration=st.sampled_from(["1 hour", "1 year"]))
    def change_duration(self, index, duration):
        _, number, owner = self.pick(index)
        self.attempt(lambda: self.cases.reshape.change_duration(*owner, number, duration))

    @rule(index=which, part=st.integers(1, 6), whole=st.booleans())
    def convert(self, index, part, whole):
        one, number, owner = self.pick(index)
        source = self.ref_of(one) if one else CORES
        ((target, rate),) = rates(RULES.conversions, source).items()
        most = one.amount // rate.source if one else 6
        amount = one.amount if whole and one else max(1, min(part, most)) * rate.source
        wanted = amount * rate.target // rate.source
        conversion = Conversion(target, amount, wanted)
        self.attempt(lambda: self.cases.reshape.convert(*owner, number, conversion))

    @rule(index=which, as_admin=st.booleans())
    def delete(self, index, as_admin):
        one, number, owner = self.pick(index)
        before = self.stored()
        done = self.attempt(lambda: self.cases.delete.run(*owner, number, as_admin=as_admin) or True)
        if done:
            # what was renewed stays; what was split, merged or converted is superseded, and would be lost
            old = before.get(one.predecessor_id)
            is_original = one.predecessor_id is None or (old is not None and old.status is not Status.SUPERSEDED)
            fresh = is_original and self.now < one.created_at + RULES.self_delete_grace
            assert fresh or (as_admin and not one.is_confirmed)
            self.worth -= WORTH[self.ref_of(one)] * one.amount

    def ref_of(self, one):
        return next(ref for ref, id_ in self.ids.items() if id_ == one.resource_id)

    @rule(hours=st.sampled_from([0.25, 1, 3, 24 * 340, 24 * 366]), job=st.booleans())
    def time_passes(self, hours, job):
        self.clock.advance(hours * HOUR)
        if job:
            self.settle.run()
            assert all(one.expires_at > self.now for one in self.stored().values() if one.is_live)

    @rule(ref=refs, az=azs, capacity=st.integers(0, 60))
    def capacity_is_scraped(self, ref, az, capacity):
        def work():
            lock_resources(self.engine, [self.ids[ref]])
            self.engine.execute(
                "UPDATE az_resources SET raw_capacity = %s WHERE resource_id = %s AND az = %s",
                [capacity, self.ids[ref], az],
            )
            self.settle.locked([self.ids[ref]])

        self.engine.atomic(work)

    @rule(project=projects, ref=refs, az=azs, usage=st.integers(0, 25))
    def usage_is_scraped(self, project, ref, az, usage):
        with self.engine.connection():
            self.engine.execute(
                "INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)"
                " VALUES (%s, %s, %s, %s, '') ON CONFLICT (project_id, resource_id, az) DO UPDATE"
                " SET usage = excluded.usage",
                [project, self.ids[ref], az, usage],
            )
        self.settle.freed({(self.ids[ref], az)})

    # -- what always holds ---------------------------------------------------------------------------------------------

    @invariant()
    def all_is_well(self):
        before, after = self.seen, self.stored()
        events = self.cases.read.events(self.cursor, 10_000)
        self._transitions(before, after)
        self._events(before, after, events)
        self._capacity(before, after)
        self._lists(after)
        self.seen, self.cursor = after, events[-1].number if events else self.cursor

    def _transitions(self, before, after):
        for number, one in after.items():
            old = before.get(number)
            assert old is None or one.status is old.status or one.status in ALLOWED[old.status]
            if old is not None:
                assert (one.amount, one.resource_id, one.az, one.uuid) == (
                    old.amount,
                    old.resource_id,
                    old.az,
                    old.uuid,
                )
                assert one.expires_at >= old.expires_at
                assert not (old.confirmed_at and one.confirmed_at != old.confirmed_at)
            assert (one.transfer_token is None) == (one.transfer_status == "")
            assert not one.transfer_status or one.is_confirmed

    def _events(self, before, after, events):
        assert [one.number for one in events] == list(range(self.cursor + 1, self.cursor + 1 + len(events)))
        sums: defaultdict[str, int] = defaultdict(int)
        for event in events:
            document = orjson.loads(event.document)
            sums[event.event] += WORTH[document["service_type"], document["resource_name"]] * document["amount"]
            assert "transfer_token" not in document
        self.worth -= sums["expired"]
        assert self._worth(after) == self.worth
        made, gone = sums["created"], sums["superseded"] + sums["expired"] + sums["deleted"]
        assert self._worth(after) - self._worth(before) == made - gone

    def _worth(self, commitments):
        return sum(WORTH[self.ref_of(one)] * one.amount for one in commitments.values() if one.is_live)

    def _capacity(self, before, after):
        for place, capacity, usage in self.figures():
            balance = _balance(capacity, usage, place, after)
            was = _balance(capacity, usage, place, before)  # with the usage and capacity of now
            assert balance.claimed <= max(capacity, was.claimed)
            for one in after.values():  # nobody waits for nothing
                if (one.resource_id, one.az) == place and one.status is Status.PENDING:
                    assert not balance.allows(one.project_id, one.amount)

    def _lists(self, after):
        live = {one.id for one in after.values() if one.is_live and one.expires_at > self.now}
        everything = select(self.ledger.catalog)
        listed = [
            one.commitment for owner in PROJECTS.values() for one in self.cases.read.of_project(*owner, everything)
        ]
        assert {one.id for one in listed} == live
        public = {one.id for one in after.values() if one.transfer_status == "public" and one.id in live}
        assert {one.commitment.id for one in self.cases.read.public(everything)} == public
        for one in after.values():
            if one.transfer_token is not None:
                with suppress(LimesError):
                    assert self.cases.read.by_token(one.transfer_token).commitment.id == one.id


def _balance(capacity, usage, place, commitments):
    """As the decision sees it, but counted by hand."""
    committed: Counter[int] = Counter()
    for one in commitments.values():
        if one.is_confirmed and (one.resource_id, one.az) == place:
            committed[one.project_id] += one.amount
    return Balance(capacity, sum(usage.values()), dict(committed), usage)


@pytest.mark.timeout(600)  # a failure is made small before it is shown
def test_lives(make):
    world = make(behaviors=BEHAVIORS, commitment_rules=RULES)
    examples = 40 if world.engine.dialect == "sqlite" else 8  # where nobody else is about, they do not differ
    run_state_machine_as_test(
        lambda: Life(world),
        settings=settings(
            max_examples=examples, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
