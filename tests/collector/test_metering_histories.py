"""The account of usage and commitments, compared with one that looks at every ten minutes."""

import random
from dataclasses import dataclass, field

import orjson
import pytest

from limes.core.metering.calendar import DAY, HOUR, Granularity, buckets, day_of, month_of, next_month
from limes.db.queries import commitment_events
from limes.db.queries.commitment_events import EventRow
from tests.collector.lab import BERLIN, GERMANY, Lab
from tests.collector.metering import CORES, entries, job, scrape
from tests.support.levels import few_of

pytestmark = pytest.mark.sql
SLOT = 600
VALID_FOR = 7200


def commitment_event(lab: Lab, event: str, uuid: str, amount: int, expires_at: float, **changes: object) -> None:
    """What is noted when something happens to a commitment to cores in az-one."""
    now = int(lab.now)
    document = {
        **{"uuid": uuid, "project_id": BERLIN.id, "domain_id": GERMANY.id, "status": "confirmed"},
        **{"service_type": "compute", "resource_name": "cores", "availability_zone": "az-one", "amount": amount},
        **{"created_at": now, "confirmed_at": now, "expires_at": int(expires_at)},
        **changes,
    }
    row = EventRow(event, uuid, str(document["project_id"]), orjson.dumps(document).decode())
    lab.engine.atomic(lambda: commitment_events.append(lab.engine, [row], lambda: lab.now))


@dataclass
class Truth:
    """What happened, as somebody would write it down who was there."""

    begun_at: int
    scrapes: list[tuple[int, int | None]] = field(default_factory=list)
    """Cores of berlin from a time on; None: not known."""
    commitments: list[tuple[int, int, int]] = field(default_factory=list)
    gone_since: int | None = None

    def note(self, now: int, cores: int | None) -> None:
        # a clock that was put back makes what it said before untrue
        if cores is not None:
            self.scrapes = [scrape for scrape in self.scrapes if scrape[0] < now]
        self.scrapes.append((now, cores))

    def at(self, time: int) -> tuple[int | None, int]:
        """What was used (None: not known) and committed."""
        committed = sum(amount for begin, end, amount in self.commitments if begin <= time < end)
        before = [scrape for scrape in self.scrapes if scrape[0] <= time]
        if time < self.begun_at or not before:
            return None, committed
        since, cores = before[-1]
        return (None if cores is None or time >= since + VALID_FOR else cores), committed

    def account(self, begin: int, end: int) -> tuple[int, int, int, int]:
        """Used, committed, beyond and unknown."""
        used = in_commitments = beyond = unknown = 0
        for time in range(begin, end, SLOT):
            cores, committed = self.at(time)
            in_commitments += committed
            unknown += cores is None
            used += cores or 0
            beyond += max((cores or 0) - committed, 0)
        return used * SLOT, in_commitments * SLOT, beyond * SLOT, unknown * SLOT


class History:
    """Lets time pass in the lab, and writes down what happens."""

    def __init__(self, lab: Lab, seed: int) -> None:
        self.lab, self.dice = lab, random.Random(seed)
        lab.clock.advance(11 * DAY + 3 * HOUR)
        scrape(lab, 4)
        job(lab).run()
        self.truth = Truth(int(lab.now))
        self.truth.note(int(lab.now), 4)
        self.live: dict[str, int] = {}
        """Commitments with their place in the truth."""

    def step(self) -> None:
        dice = self.dice
        self.lab.clock.advance(SLOT * dice.choice([1, 1, 2, 3, 6, 11, 13, 50]))
        dice.choice([self.scrape, self.scrape, self.scrape, self.commit, self.end, self.run_job])()

    def step_or_jump(self) -> None:
        """The clock may be put back, but not to before the beginning. (Events of commitments never go back.)"""
        dice = self.dice
        seconds = SLOT * dice.choice([1, 2, 6, 13, 50, 400, -1, -5, -30, -300])
        self.lab.clock.advance(max(seconds, self.truth.begun_at + SLOT - int(self.lab.now)))
        dice.choice([self.scrape, self.scrape, self.run_job])()

    def scrape(self) -> None:
        cores = self.dice.choice([None, 0, 1, 4, 4, 7, 20])
        scrape(self.lab, cores)
        last = self.truth.scrapes[-1]
        if cores is not None or last[1] is not None:  # a failure after a failure says nothing new
            self.truth.note(int(self.lab.now), cores)

    def commit(self) -> None:
        now, lab = int(self.lab.now), self.lab
        uuid, amount, end = f"c-{len(self.truth.commitments)}", self.dice.randint(1, 9), now + SLOT * 200
        commitment_event(lab, "created", uuid, amount, end)
        self.live[uuid] = len(self.truth.commitments)
        self.truth.commitments.append((now, end, amount))

    def end(self) -> None:
        if self.live:
            uuid, index = self.live.popitem()
            begin, end, amount = self.truth.commitments[index]
            kind, changes = self.dice.choice(
                [("deleted", {}), ("superseded", {"status": "superseded", "superseded_at": int(self.lab.now)})]
            )
            commitment_event(self.lab, kind, uuid, amount, end, **changes)
            self.truth.commitments[index] = (begin, max(begin, min(end, int(self.lab.now))), amount)

    def run_job(self) -> None:
        job(self.lab).run()

    def check(self, granularity: Granularity, begin: int, end: int) -> None:
        now = int(self.lab.now)
        found = {
            entry.begin: entry.account for entry in entries(self.lab, begin, end, granularity) if entry.meter == CORES
        }
        times = [(begin, end)] if granularity is Granularity.TOTAL else []
        for first, last in times or [bucket[1:] for bucket in buckets(begin, end, granularity)]:
            account = found.get(first)
            expected = self.truth.account(first, min(last, now))
            assert (account[:4] if account else (0, 0, 0, 0)) == expected, (granularity, first, last)


@pytest.mark.parametrize("seed", few_of(range(12), 2))
def test_random_histories(lab: Lab, seed: int) -> None:
    """Failures, commitments, runs of the job at any time: hours, days, months and totals are as they were."""
    history = History(lab, seed)
    for _ in range(90):
        history.step()
    check_all(lab, history)


@pytest.mark.parametrize("seed", few_of(range(12), 2))
def test_a_clock_that_jumps(lab: Lab, seed: int) -> None:
    """Forward by days, and back again: what was recorded last counts."""
    history = History(lab, seed)
    for _ in range(60):
        history.step_or_jump()
    lab.clock.advance(400 * SLOT)
    history.scrape()
    check_all(lab, history)


def check_all(lab: Lab, history: History) -> None:
    now, begun_at = int(lab.now), history.truth.begun_at
    job(lab).run()  # commitments are known from then on
    for _ in range(2):
        kept_since = max(day_of(now) - 14 * DAY, begun_at - begun_at % HOUR)
        history.check(Granularity.HOUR, kept_since, now - now % HOUR + HOUR)
        history.check(Granularity.DAY, day_of(begun_at), day_of(now) + DAY)
        history.check(Granularity.MONTH, month_of(begun_at), next_month(month_of(now)))
        history.check(Granularity.TOTAL, max(kept_since, day_of(begun_at) + 5 * HOUR), now - now % HOUR)
        job(lab).run()
