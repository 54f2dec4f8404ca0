"""The account of a project in several zones, compared with one that looks at every moment: scrapes that fail, commitments
of one zone and pooled ones, a project that is deleted, scrapes and days of the previous release, units that change, hosts
whose clocks differ, and clocks that jump."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from msgspec import structs

from limes.app.context import Limes
from limes.collector.discover import discover_projects
from limes.kernel.calendar import DAY, HOUR, Granularity, buckets, day_of, month_of, next_month, previous_month
from limes.kernel.units import Unit
from limes.metering import close
from limes.metering.close import close_days
from limes.metering.rules import Account
from tests.collector.lab import BERLIN, DRESDEN, GERMANY, PARIS, FakeKeystone, Lab
from tests.collector.previous_release import close_as_previous, close_some_as_previous
from tests.metering.in_lab import commitment_event, cores_in, entries, scrape
from tests.support.levels import few_of

pytestmark = pytest.mark.sql
ZONES = ("any", "az-one", "az-two")
SLOT = 600
VALID_FOR = 7200
Usage = Mapping[str, int]
Figures = tuple[int, int, int, int]
"""Used, committed, beyond and unknown."""


@dataclass
class Truth:
    """What happened, as somebody would write it down who was there."""

    begun_at: int
    scrapes: list[tuple[int, Usage | None]] = field(default_factory=list)
    """None: it failed."""
    commitments: list[tuple[int, int, str, int]] = field(default_factory=list)
    """Begin, end, zone, amount."""
    gone_since: int = 2**40
    units: list[tuple[int, str]] = field(default_factory=list)
    """What amounts were told in, from a time on."""

    def note(self, now: int, usage: Usage | None) -> None:
        """What a scrape has found. A clock that was put back makes what it said before untrue; a failure after a failure
        says nothing new."""
        if usage is not None:
            self.scrapes = [each for each in self.scrapes if each[0] < now]
        elif self.scrapes[-1][1] is None:
            return
        self.scrapes.append((now, usage))

    def unit(self, month: int) -> str:
        """The last one in this month."""
        return [unit for since, unit in self.units if since < next_month(month)][-1]

    def usage(self, time: int) -> Usage | None:
        """What was used; None: nobody knows."""
        if time >= self.gone_since:
            return {}
        before = [each for each in self.scrapes if each[0] <= time]
        if time < self.begun_at or not before:
            return None
        since, usage = before[-1]
        return None if time >= since + VALID_FOR else usage

    def accounts(self, begin: int, end: int) -> dict[str, Figures]:
        """By zone, and in all of them ("")."""
        moments = {begin, end, self.begun_at, self.gone_since}
        moments |= {at + later for at, _ in self.scrapes for later in (0, VALID_FOR)}
        moments |= {time for commitment in self.commitments for time in commitment[:2]}
        sums = {zone: [0, 0, 0, 0] for zone in (*ZONES, "")}
        for start, stop in pairwise(sorted(time for time in moments if begin <= time <= end)):
            for zone, figures in self._moment(start).items():
                sums[zone] = [
                    total + figure * (stop - start) for total, figure in zip(sums[zone], figures, strict=True)
                ]
        return {zone: (used, committed, beyond, unknown) for zone, (used, committed, beyond, unknown) in sums.items()}

    def _moment(self, time: int) -> dict[str, Figures]:
        usage = self.usage(time)
        committed = dict.fromkeys(ZONES, 0)
        for begin, end, zone, amount in self.commitments:
            committed[zone] += amount if begin <= time < end else 0
        if usage is None:
            found = {zone: (0, committed[zone], 0, 1) for zone in ZONES}
            return found | {"": (0, sum(committed.values()), 0, 1)}
        used = {zone: usage.get(zone, 0) for zone in ZONES}
        beyond = {zone: max(used[zone] - committed[zone], 0) for zone in ZONES}
        if committed["any"]:
            pooled = max(used["any"] + beyond["az-one"] + beyond["az-two"] - committed["any"], 0)
            beyond = {"any": pooled, "az-one": 0, "az-two": 0}
        found = {zone: (used[zone], committed[zone], beyond[zone], 0) for zone in ZONES}
        return found | {"": (sum(used.values()), sum(committed.values()), sum(beyond.values()), 0)}


class History:
    """Lets time pass in the lab, and writes down what happens."""

    used = [("az-one",), ("az-two",), ("az-one", "az-two"), ("any", "az-one"), ()]
    """Zones that a scrape may find."""

    def __init__(self, lab: Lab, seed: int, zones: tuple[str, ...] = ZONES, *, previous: bool = False) -> None:
        self.lab, self.dice, self.zones, self.previous = lab, random.Random(seed), zones, previous
        lab.clock.advance(27 * DAY + 3 * HOUR)
        scrape(lab, {"az-one": 4})
        self.truth = Truth(self.now, [(self.now, {"az-one": 4})], units=[(self.now, "MiB")])
        close_days(self.limes)
        self.live: dict[str, int] = {}
        """Commitments with their place in the truth."""

    @property
    def now(self) -> int:
        return int(self.lab.now)

    @property
    def limes(self) -> Limes:
        return structs.replace(self.lab.limes, catalog=cores_in(Unit(self.truth.units[-1][1])))

    def step(self) -> None:
        dice = self.dice
        self.lab.clock.advance(SLOT * dice.choice([1, 1, 2, 3, 6, 11, 13, 50]) + dice.choice([0, 0, 17]))
        is_ahead = dice.random() < 0.3
        self.lab.clock.advance(2 if is_ahead else 0)
        jobs = [self.run_job, self.close_some, self.change_unit]
        jobs += [self.run_job_as_before] if self.previous else []
        actions = [self.scrape, self.scrape, self.scrape, self.commit, self.end, *jobs]
        actions += [self.scrape_as_before] if self.previous else []
        dice.choice(actions if self.is_there else jobs)()
        self.lab.clock.advance(-2 if is_ahead else 0)
        if self.is_there and dice.random() < 0.02:
            self.delete()

    def step_or_jump(self) -> None:
        """The clock may be put back, but not to before the beginning. (Events of commitments never go back.)"""
        seconds = SLOT * self.dice.choice([1, 2, 6, 13, 50, 400, -1, -5, -30, -300])
        self.lab.clock.advance(max(seconds, self.truth.begun_at + SLOT - self.now))
        self.dice.choice([self.scrape, self.scrape, self.run_job])()

    @property
    def is_there(self) -> bool:
        return self.truth.gone_since == 2**40

    def scrape(self) -> None:
        usage = self._any_usage() if self.dice.random() < 0.85 else None
        scrape(self.lab, usage)
        self.truth.note(self.now, usage)

    def _any_usage(self) -> Usage:
        return {zone: self.dice.choice([0, 1, 4, 7, 20]) for zone in self.dice.choice(self.used)}

    def scrape_as_before(self) -> None:
        """By a collector of the previous release, which adds nothing to the account: it is noticed with the next scrape."""
        lab, last = self.lab, self.truth.usage(self.now)
        if last is None:
            return
        metered = lab.rows("SELECT project_id, resource_id, az, metered_usage FROM project_az_resources")
        times = lab.rows("SELECT id, metered_at FROM project_services")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lab, "listeners", ())
            scrape(lab, self._any_usage())
        lab.execute("UPDATE project_az_resources SET metered_usage = NULL")
        for *key, amount in metered:
            lab.execute(
                "UPDATE project_az_resources SET metered_usage = %s WHERE project_id = %s AND resource_id = %s AND az = %s",
                *(amount, *key),
            )
        for id_, at in times:
            lab.execute("UPDATE project_services SET metered_at = %s WHERE id = %s", at, id_)
        self.truth.note(self.now, last)

    def commit(self) -> None:
        uuid, zone, amount = f"c-{len(self.truth.commitments)}", self.dice.choice(self.zones), self.dice.randint(1, 9)
        end = self.now + SLOT * self.dice.choice([5, 100, 400])
        commitment_event(self.lab, "created", uuid, amount, end, availability_zone=zone)
        self.live[uuid] = len(self.truth.commitments)
        self.truth.commitments.append((self.now, end, zone, amount))

    def end(self) -> None:
        if self.live:
            uuid, index = self.live.popitem()
            begin, end, zone, amount = self.truth.commitments[index]
            kind, changes = self.dice.choice(
                [("deleted", {}), ("superseded", {"status": "superseded", "superseded_at": self.now})]
            )
            commitment_event(self.lab, kind, uuid, amount, end, availability_zone=zone, **changes)
            self.truth.commitments[index] = (begin, max(begin, min(end, self.now)), zone, amount)

    def delete(self) -> None:
        """Commitments end before. The host that notices it may be behind the one that has scraped just now."""
        while self.live:
            self.end()
        if self.dice.random() < 0.5:
            self.lab.clock.advance(2)
            self.scrape()
            self.lab.clock.advance(-2)
        self.lab.keystone = FakeKeystone(DRESDEN, PARIS)
        discover_projects(self.lab.limes, GERMANY.id)
        self.truth.gone_since = self.now
        self.truth.scrapes = [each for each in self.truth.scrapes if each[0] <= self.now]

    def run_job(self) -> None:
        close_days(self.limes)

    def run_job_as_before(self) -> None:
        close_as_previous(self.lab)

    def close_some(self) -> None:
        """Either release closes a day for some projects, and is killed."""
        if not self.previous or self.dice.random() < 0.5:
            close._close_some(self.limes, self.now)
        else:
            close_some_as_previous(self.lab)

    def change_unit(self) -> None:
        self.truth.units.append((self.now, self.dice.choice(["MiB", "GiB", "TiB"])))
        close_days(self.limes)

    def check_all(self) -> None:
        now, begun_at = self.now, self.truth.begun_at
        close_days(self.limes)  # commitments are known from then on
        for _ in range(2):
            kept_since = max(day_of(now) - 14 * DAY, begun_at - begun_at % HOUR)
            self.check(Granularity.HOUR, kept_since, now - now % HOUR + HOUR)
            days = self.check(Granularity.DAY, day_of(begun_at), day_of(now) + DAY)
            months = self.check(Granularity.MONTH, month_of(begun_at), next_month(month_of(now)))
            self.check_units()
            # a total has one entry for each unit
            since = max([self.total_since(), kept_since, day_of(begun_at) + 5 * HOUR])
            self.check(Granularity.TOTAL, since, now - now % HOUR)
            for (month, zone), account in months.items():
                of_month = [day for (begin, az), day in days.items() if az == zone and month_of(begin) == month]
                before = (
                    max(day_of(begun_at) - month, 0) if account[3] else 0
                )  # nothing can be asked about the days before
                expected = [sum(figures) for figures in zip(*(day[:4] for day in of_month), strict=True)]
                assert account[:3] == tuple(expected[:3]), (month, zone)
                assert account[3] == expected[3] + before, (month, zone)
            close_days(self.limes)

    def check_units(self) -> None:
        """Of months, and of all that is in them."""
        for granularity in (Granularity.DAY, Granularity.MONTH):
            begin = month_of(self.truth.begun_at) if granularity is Granularity.MONTH else day_of(self.truth.begun_at)
            for every_az in (True, False):
                told = entries(self.lab, begin, next_month(month_of(self.now)), granularity, every_az=every_az)
                units = {entry.begin: entry.unit for entry in told if entry.meter[1:3] == ("compute", "cores")}
                assert units == {time: self.truth.unit(month_of(time)) for time in units}

    def total_since(self) -> int:
        """Since when months have had the same unit."""
        month, unit = month_of(self.now), self.truth.unit(month_of(self.now))
        while month > self.truth.begun_at and self.truth.unit(previous_month(month)) == unit:
            month = previous_month(month)
        return month

    def check(self, granularity: Granularity, begin: int, end: int) -> dict[tuple[int, str], Account]:
        """Compares, and returns what is told."""
        told = {
            (entry.begin, entry.meter.az): entry.account
            for every_az in (True, False)
            for entry in entries(self.lab, begin, end, granularity, every_az=every_az)
            if entry.meter[:3] == (BERLIN.id, "compute", "cores")
        }
        times = [(begin, end)] if granularity is Granularity.TOTAL else []
        for first, last in times or [bucket[1:] for bucket in buckets(begin, end, granularity)]:
            for zone, expected in self.truth.accounts(first, min(last, self.now)).items():
                found = told[first, zone][:4] if (first, zone) in told else (0, 0, 0, 0)
                # what was unknown is not told of zones in which nothing was ever used until then
                figures = 3 if zone else 4
                assert found[:figures] == expected[:figures], (granularity, first, last, zone)
        return told


@pytest.mark.parametrize("seed", few_of(range(12), 2))
@pytest.mark.parametrize("zones", [("any",), ("az-one", "az-two"), ZONES], ids=["pooled", "by-zone", "both"])
def test_random_histories(lab: Lab, zones: tuple[str, ...], seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other one has the previous release beside this one."""
    monkeypatch.setattr(close, "_PROJECTS", 2)  # of three
    history = History(lab, seed, zones, previous=seed % 2 == 1)
    for _ in range(90):
        history.step()
    history.check_all()


@pytest.mark.parametrize("seed", few_of(range(12), 2))
def test_a_clock_that_jumps(lab: Lab, seed: int) -> None:
    """Forward by days, and back again: what was recorded last counts."""
    history = History(lab, seed)
    for _ in range(60):
        history.step_or_jump()
    lab.clock.advance(400 * SLOT)
    history.scrape()
    history.check_all()
