"""The account of usage and commitments of a small cloud, compared with one that looks at every ten minutes."""

import random
from dataclasses import dataclass, field, replace

import orjson
import pytest

from limes.actions.metering.close import CloseAccounts
from limes.actions.metering.report import ReportUsage, UsageEntry, UsageQuery
from limes.core.metering.calendar import DAY, HOUR, Granularity, buckets, day_of, month_of, next_month
from limes.db.queries import commitment_events
from limes.db.queries import usage_accounts as accounts
from limes.db.queries.commitment_events import EventRow
from limes.db.queries.metering import StepRow, add_steps
from limes.db.queries.usage_sources import Only
from limes.errors import BackendError
from tests.collector.lab import BERLIN, GERMANY, AZUsage, FakeKeystone, Lab

SLOT = 600
VALID_FOR = 7200
CORES = (BERLIN.id, "compute", "cores", "az-one")
YEAR = 365 * DAY


def job(lab: Lab) -> CloseAccounts:
    return CloseAccounts(lab.engine, lab.clock)


def entries(lab: Lab, begin: int, end: int, granularity: Granularity, **options: object) -> list[UsageEntry]:
    report = ReportUsage(lab.engine, lab.clock)
    page = report.page(replace(UsageQuery(begin, end, granularity), **options))  # type: ignore[arg-type]
    assert page.next is None
    return [entry for part in report.entries(page) for entry in part]


def scrape(lab: Lab, cores: int | None, *, ram: int = 0, service: str = "compute") -> None:
    """Scrapes berlin now, with this usage; None: the backend does not answer."""
    lab.compute.error = BackendError("no answer") if cores is None else None
    if cores is not None:
        lab.compute.usage["berlin"] = {"cores": {"az-one": AZUsage(cores)}, "ram": {"az-two": AZUsage(ram)}}
    lab.execute(
        "UPDATE project_services SET next_scrape_at = %s, is_stale = %s, scrape_claimed_until = NULL"
        " WHERE project_id = (SELECT id FROM projects WHERE name = 'berlin')",
        lab.now - 1,
        True,
    )
    while (found := lab.scrape().claim("compute", 1)) and found[0].project.project_name != "berlin":
        pass
    assert found, "berlin is due"
    lab.scrape().run(found[0])


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


@pytest.mark.parametrize("seed", range(12))
def test_random_histories(lab: Lab, seed: int) -> None:
    """Failures, commitments, runs of the job at any time: hours, days, months and totals are as they were."""
    history = History(lab, seed)
    for _ in range(90):
        history.step()
    check_all(lab, history)


@pytest.mark.parametrize("seed", range(12))
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


@pytest.fixture
def metered(lab: Lab) -> Lab:
    """A lab in which metering has begun at midnight, with 4 cores of berlin in use."""
    scrape(lab, 4)
    job(lab).run()
    return lab


def days_of_cores(lab: Lab, count: int, begin: int | None = None) -> list[tuple[int, int]]:
    """Used and unknown on each of the first days."""
    begin = day_of(begin or START)
    return [
        (entry.account.used, entry.account.unknown)
        for entry in entries(lab, begin, begin + count * DAY, Granularity.DAY)
        if entry.meter == CORES
    ]


START = 1767225600
"""2026-01-01T00:00:00Z, when the lab's clock begins."""


def keep_scraping(lab: Lab, cores: int, until: int) -> None:
    while lab.now < until:
        lab.clock.advance(min(HOUR, until - lab.now))
        scrape(lab, cores)


def test_usage_that_does_not_change_writes_nothing(metered: Lab) -> None:
    (before,) = metered.rows("SELECT COUNT(*) FROM usage_steps")
    keep_scraping(metered, 4, START + 10 * HOUR)
    assert metered.rows("SELECT COUNT(*) FROM usage_steps") == [before]


def test_what_the_previous_release_writes_is_noticed(metered: Lab) -> None:
    """It knows neither steps nor the column: the next scrape finds that the account ends with another usage."""
    metered.clock.advance(HOUR)
    metered.execute("UPDATE project_az_resources SET usage = 9 WHERE az = 'az-one' AND usage = 4")
    scrape(metered, 9)
    assert metered.rows("SELECT usage FROM usage_steps ORDER BY at DESC LIMIT 1") == [(9,)]


def test_a_backend_that_is_silent_makes_a_gap_and_no_zero(metered: Lab) -> None:
    metered.clock.advance(HOUR)
    scrape(metered, None)
    metered.clock.advance(HOUR)
    scrape(metered, None)
    assert days_of_cores(metered, 1) == [(4 * HOUR, HOUR)]
    metered.clock.advance(HOUR)
    scrape(metered, 4)
    assert days_of_cores(metered, 1) == [(4 * HOUR, 2 * HOUR)]


def test_what_nobody_asked_for_is_unknown_after_two_hours(metered: Lab) -> None:
    """No collector was running."""
    metered.clock.advance(9 * HOUR)
    assert days_of_cores(metered, 1) == [(8 * HOUR, 7 * HOUR)]
    scrape(metered, 5)
    metered.clock.advance(HOUR)
    assert days_of_cores(metered, 1) == [(8 * HOUR + 5 * HOUR, 7 * HOUR)]


def test_what_was_before_the_beginning_is_unknown(lab: Lab) -> None:
    """Also of projects that were never scraped until then: Limes is new."""
    lab.clock.advance(9 * DAY + HOUR)
    job(lab).run()
    scrape(lab, 4)
    lab.clock.advance(HOUR)
    found = [entry for entry in entries(lab, START, next_month(START), Granularity.MONTH) if entry.meter == CORES]
    assert [(entry.account.used, entry.account.unknown) for entry in found] == [(4 * HOUR, 9 * DAY + HOUR)]


def test_zero_that_was_unknown_is_told(metered: Lab) -> None:
    """Nothing was ever used of the GPUs. But for an hour nobody knew."""
    metered.clock.advance(HOUR)
    scrape(metered, None)
    metered.clock.advance(HOUR)
    found = {
        entry.meter.resource: entry.account.unknown
        for entry in entries(metered, START, START + DAY, Granularity.DAY)
        if entry.meter.project == BERLIN.id
    }
    assert found == {"cores": HOUR, "ram": HOUR, "gpus": HOUR}


def test_a_vanished_project_stays_billable(metered: Lab) -> None:
    keep_scraping(metered, 4, START + 6 * HOUR)
    metered.keystone = FakeKeystone(replace(BERLIN, id="p-other", name="other"))
    metered.discover().discover_projects(GERMANY.id)
    metered.clock.advance(40 * DAY)
    job(metered).run()
    month = next_month(START)
    (entry,) = [each for each in entries(metered, START, month, Granularity.MONTH) if each.meter.project == BERLIN.id]
    assert (entry.account.used, entry.account.unknown, entry.account.last) == (24 * HOUR, 0, 0)
    assert (entry.names.project_name, entry.names.domain_name) == ("berlin", "germany")


def test_a_closed_month_says_the_same_for_ever(metered: Lab) -> None:
    """Whatever happens later: other usage, another name, the project's end."""
    keep_scraping(metered, 4, START + 3 * DAY)
    metered.clock.advance(29 * DAY)
    job(metered).run()
    first = entries(metered, START, next_month(START), Granularity.MONTH)
    assert first[0].closed == {"month": 1}
    scrape(metered, 9)
    metered.keystone = FakeKeystone(replace(BERLIN, name="renamed"))
    metered.discover().discover_projects(GERMANY.id)
    job(metered).run()
    metered.clock.advance(50 * DAY)
    job(metered).run()
    metered.keystone = FakeKeystone(replace(BERLIN, id="p-other", name="other"))
    metered.discover().discover_projects(GERMANY.id)
    job(metered).run()
    assert entries(metered, START, next_month(START), Granularity.MONTH) == first
    later = entries(metered, next_month(START), next_month(next_month(START)), Granularity.MONTH)
    assert {entry.names.project_name for entry in later if entry.meter.project == BERLIN.id} == {"renamed"}


def late_step(lab: Lab, at: int, usage: int) -> None:
    row = StepRow(BERLIN.id, "compute", "cores", "az-one", at, usage, int(lab.now))
    lab.engine.atomic(lambda: add_steps(lab.engine, [row]))


def test_what_comes_late_is_a_new_version_with_its_reason(metered: Lab) -> None:
    keep_scraping(metered, 4, START + 2 * DAY + HOUR)
    job(metered).run()
    assert days_of_cores(metered, 2) == [(4 * DAY, 0), (4 * DAY, 0)]
    metered.clock.advance(HOUR)
    late_step(metered, START + DAY + 12 * HOUR, 10)
    job(metered).run()
    (first, second) = [
        entry for entry in entries(metered, START, START + 2 * DAY, Granularity.DAY) if entry.meter == CORES
    ]
    assert (first.version, second.version) == (1, 2)
    assert second.account.used == 12 * HOUR * 4 + 12 * HOUR * 10
    (correction,) = metered.engine.snapshot(lambda: accounts.corrections(metered.engine, [BERLIN.id], START, 2**40))
    assert (correction.granularity, correction.begins, correction.version) == ("day", START + DAY, 1)
    assert correction.account.used == 4 * DAY
    assert "recorded afterwards" in correction.reason
    job(metered).run()  # and once is enough
    assert len(metered.rows("SELECT number FROM usage_corrections")) == 1


def test_a_closed_month_is_corrected_with_its_days(metered: Lab) -> None:
    month = next_month(START)
    keep_scraping(metered, 4, month + DAY + HOUR)
    job(metered).run()
    late_step(metered, month - 12 * HOUR, 10)
    job(metered).run()
    (january,) = [entry for entry in entries(metered, START, month, Granularity.MONTH) if entry.meter == CORES]
    assert (january.version, january.account.used) == (2, 4 * (month - START) + 6 * 12 * HOUR)
    found = metered.engine.snapshot(lambda: accounts.corrections(metered.engine, [BERLIN.id], START, 2**40))
    assert [(row.granularity, row.begins) for row in found] == [
        ("day", month - DAY),
        ("day", month),
        ("month", START),
    ]
    february = entries(metered, month, next_month(month), Granularity.MONTH)
    assert [(each.version, each.account.used) for each in february if each.meter == CORES] == [(1, 10 * (DAY + HOUR))]


def test_days_that_a_wrong_clock_has_closed_are_opened_again(metered: Lab) -> None:
    keep_scraping(metered, 4, START + DAY + 6 * HOUR)
    job(metered).run()
    metered.clock.advance(40 * DAY)  # wrong
    scrape(metered, 70)
    job(metered).run()
    metered.clock.advance(-40 * DAY)
    scrape(metered, 5)
    job(metered).run()
    keep_scraping(metered, 5, START + 3 * DAY + HOUR)
    job(metered).run()
    expected = [4 * DAY, 4 * 6 * HOUR + 5 * 18 * HOUR, 5 * DAY]
    assert days_of_cores(metered, 3) == [(used, 0) for used in expected]
    (january,) = [
        entry for entry in entries(metered, START, next_month(START), Granularity.MONTH) if entry.meter == CORES
    ]
    assert january.account.used == sum(expected) + 5 * HOUR
    assert january.account.largest == 5


def test_old_hours_and_days_are_forgotten_and_months_are_not(metered: Lab) -> None:
    keep_scraping(metered, 4, START + 2 * HOUR)
    keep_scraping(metered, 6, START + 4 * HOUR)
    metered.clock.advance(500 * DAY)
    job(metered).run()
    assert metered.rows("SELECT * FROM usage_steps") == []
    assert metered.rows("SELECT * FROM usage_days WHERE begins < %s", START + 60 * DAY) == []
    found = entries(
        metered, START, next_month(START), Granularity.MONTH, only=Only(resources=["cores"], azs=["az-one"])
    )
    (january,) = [entry for entry in found if entry.meter == CORES]
    assert january.account.used == 4 * 3 * HOUR + 6 * (HOUR + 2 * HOUR)
