"""The account of a project in several zones, compared with one that looks at every moment: commitments of one zone and
pooled ones, a project that is deleted, scrapes of the previous release, hosts whose clocks differ."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from limes.actions import scrape_usage
from limes.core.metering.account import Account
from limes.core.metering.calendar import DAY, HOUR, Granularity, buckets, day_of, month_of, next_month
from tests.collector.lab import BERLIN, DRESDEN, GERMANY, PARIS, FakeKeystone, Lab
from tests.collector.metering import entries, job, scrape
from tests.collector.test_metering_histories import SLOT, VALID_FOR, commitment_event

ZONES = ("any", "az-one", "az-two")
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

    def __init__(self, lab: Lab, seed: int, zones: tuple[str, ...]) -> None:
        self.lab, self.dice, self.zones = lab, random.Random(seed), zones
        lab.clock.advance(27 * DAY + 3 * HOUR)
        scrape(lab, {"az-one": 4})
        job(lab).run()
        self.truth = Truth(self.now, [(self.now, {"az-one": 4})])
        self.live: dict[str, int] = {}
        """Commitments with their place in the truth."""

    @property
    def now(self) -> int:
        return int(self.lab.now)

    def step(self) -> None:
        dice = self.dice
        self.lab.clock.advance(SLOT * dice.choice([1, 1, 2, 3, 6, 11, 13, 50]) + dice.choice([0, 0, 17]))
        is_ahead = dice.random() < 0.3
        self.lab.clock.advance(2 if is_ahead else 0)
        actions = [self.scrape, self.scrape, self.scrape, self.scrape_as_before, self.commit, self.end, self.run_job]
        dice.choice(actions if self.is_there else [self.run_job])()
        self.lab.clock.advance(-2 if is_ahead else 0)
        if self.is_there and dice.random() < 0.02:
            self.delete()

    @property
    def is_there(self) -> bool:
        return self.truth.gone_since == 2**40

    def scrape(self) -> None:
        usage = self._any_usage() if self.dice.random() < 0.85 else None
        scrape(self.lab, usage)
        if usage is not None or self.truth.scrapes[-1][1] is not None:  # a failure after a failure says nothing new
            self.truth.scrapes.append((self.now, usage))

    def _any_usage(self) -> Usage:
        zones = self.dice.choice([("az-one",), ("az-two",), ("az-one", "az-two"), ("any", "az-one"), ()])
        return {zone: self.dice.choice([0, 1, 4, 7, 20]) for zone in zones}

    def scrape_as_before(self) -> None:
        """By a collector of the previous release, which adds nothing to the account: it is noticed with the next scrape."""
        lab, last = self.lab, self.truth.usage(self.now)
        if last is None:
            return
        metered = lab.rows("SELECT project_id, resource_id, az, metered_usage FROM project_az_resources")
        times = lab.rows("SELECT id, metered_at FROM project_services")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scrape_usage, "meter_usage", lambda *_: None)
            scrape(lab, self._any_usage())
        lab.execute("UPDATE project_az_resources SET metered_usage = NULL")
        for *key, amount in metered:
            lab.execute(
                "UPDATE project_az_resources SET metered_usage = %s WHERE project_id = %s AND resource_id = %s AND az = %s",
                *(amount, *key),
            )
        for id_, at in times:
            lab.execute("UPDATE project_services SET metered_at = %s WHERE id = %s", at, id_)
        self.truth.scrapes.append((self.now, last))

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
            commitment_event(self.lab, "deleted", uuid, amount, end, availability_zone=zone)
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
        self.lab.discover().discover_projects(GERMANY.id)
        self.truth.gone_since = self.now
        self.truth.scrapes = [each for each in self.truth.scrapes if each[0] <= self.now]

    def run_job(self) -> None:
        job(self.lab).run()

    def check_all(self) -> None:
        now, begun_at = self.now, self.truth.begun_at
        job(self.lab).run()  # commitments are known from then on
        for _ in range(2):
            kept_since = max(day_of(now) - 14 * DAY, begun_at - begun_at % HOUR)
            self.check(Granularity.HOUR, kept_since, now - now % HOUR + HOUR)
            days = self.check(Granularity.DAY, day_of(begun_at), day_of(now) + DAY)
            months = self.check(Granularity.MONTH, month_of(begun_at), next_month(month_of(now)))
            self.check(Granularity.TOTAL, max(kept_since, day_of(begun_at) + 5 * HOUR), now - now % HOUR)
            for (month, zone), account in months.items():
                of_month = [day for (begin, az), day in days.items() if az == zone and month_of(begin) == month]
                before = (
                    max(day_of(begun_at) - month, 0) if account[3] else 0
                )  # nothing can be asked about the days before
                expected = [sum(figures) for figures in zip(*(day[:4] for day in of_month), strict=True)]
                assert account[:3] == tuple(expected[:3]), (month, zone)
                assert account[3] == expected[3] + before, (month, zone)
            job(self.lab).run()

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


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("zones", [("any",), ("az-one", "az-two"), ZONES], ids=["pooled", "by-zone", "both"])
def test_random_histories_of_zones(lab: Lab, zones: tuple[str, ...], seed: int) -> None:
    history = History(lab, seed, zones)
    for _ in range(90):
        history.step()
    history.check_all()
