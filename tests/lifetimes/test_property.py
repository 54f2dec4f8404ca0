"""Lifetimes of subresources are what a naive computation makes of the same history; two collectors change nothing."""

import itertools
import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from limes.backends import BackendError, ProjectInfo
from limes.collector.discover import request_sync
from limes.lifetimes.rules import identify
from tests.collector.lab import BERLIN, DRESDEN, GERMANY, FakeKeystone, Lab
from tests.lifetimes.in_lab import FOLLOWED, billed, clean_up, following, periods, report, scrape, server
from tests.support.levels import few_of

pytestmark = pytest.mark.sql
Present = tuple[tuple[str, str, str], ...]
"""Of each server: AZ, id and flavor."""

SEEDS, STEPS = range(2, 22), 30


@dataclass
class Naive:
    """What scrapes have found, by project; what is billed is computed from that alone."""

    found: dict[str, list[tuple[int, Present]]] = field(default_factory=lambda: {BERLIN.id: [], DRESDEN.id: []})

    def billed(self, since: int, until: int) -> dict[tuple[str, ...], int]:
        """Seconds by project, AZ, id and attributes."""
        sums: Counter[tuple[str, ...]] = Counter()
        for project, scrapes in self.found.items():
            for (begin, present), (end, _) in itertools.pairwise([*scrapes, (until, ())]):
                seconds = min(end, until) - max(begin, since)
                for az, id_, flavor in present:
                    attributes = identify(
                        "cores", az, server(id_, flavor), FOLLOWED["compute", "cores"]
                    ).what.attributes
                    sums[project, az, id_, attributes] += max(0, seconds)
        return {key: seconds for key, seconds in sums.items() if seconds}


class History:
    """Carries out steps in the lab, and notes them for the naive computation."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.naive = Naive()
        self.names = {"berlin": BERLIN, "dresden": DRESDEN}
        self.present: dict[str, Present] = {}
        self.began = int(lab.now)

    def run(self, step: tuple[Any, ...]) -> None:
        kind, *values = step
        getattr(self, kind.replace(" ", "_"))(*values)

    def change(self, town: str, present: Present) -> None:
        if town in self.names:
            self.present[town] = present
            entries = [(az, server(id_, flavor)) for az, id_, flavor in present]
            report(self.lab, *entries, project=self.names[town].name)

    def scrape(self, pause: int) -> None:
        self.lab.clock.advance(pause)
        scrape(self.lab)
        for town, project in self.names.items():
            self.naive.found[project.id].append((int(self.lab.now), self.present.get(town, ())))

    def fail(self, pause: int) -> None:
        self.lab.clock.advance(pause)
        self.lab.compute.error = BackendError("down")
        scrape(self.lab)
        self.lab.compute.error = None

    def rename(self, town: str) -> None:
        if town in self.names:
            old = self.names[town]
            self.names[town] = ProjectInfo(old.id, f"{old.name}-x", old.parent_id, GERMANY)
            self.lab.compute.usage[f"{old.name}-x"] = self.lab.compute.usage.get(old.name, {})
            self.discover()

    def delete(self, town: str, pause: int) -> None:
        if town in self.names and len(self.names) > 1:
            self.lab.clock.advance(pause)
            self.naive.found[self.names.pop(town).id].append((int(self.lab.now), ()))
            self.discover()

    def clean_up(self) -> None:
        clean_up(self.lab)

    def discover(self) -> None:
        self.lab.keystone.found = {GERMANY: list(self.names.values())}
        self.lab.discover()


def random_present(chance: random.Random) -> Present:
    return tuple(
        (chance.choice(["az-one", "az-two"]), chance.choice("abc"), chance.choice(["small", "big"]))
        for _ in range(chance.randrange(5))
    )


def random_step(chance: random.Random) -> tuple[Any, ...]:
    town, pause = chance.choice(["berlin", "dresden"]), chance.randint(1, 5000)
    possible: list[tuple[int, tuple[Any, ...]]] = [
        (10, ("scrape", pause)),
        (10, ("change", town, random_present(chance))),
        (3, ("fail", pause)),
        (1, ("rename", town)),
        (1, ("delete", town, pause)),
        (1, ("clean up",)),
    ]
    [(_, step)] = chance.choices(possible, [weight for weight, _ in possible])
    return step


@pytest.mark.parametrize("seed", few_of(SEEDS, 3))
def test_random_histories(make_lab: Callable[..., Lab], seed: int) -> None:
    chance = random.Random(seed)
    lab = make_lab(keystone=FakeKeystone(BERLIN, DRESDEN))
    lab.discover()
    history = History(lab)
    past: list[tuple[int, int, dict[tuple[str, ...], int]]] = []
    for _ in range(STEPS):
        history.run(random_step(chance))
        now = int(lab.now)
        since, until = sorted(chance.randint(history.began, now) for _ in range(2))
        for begin, end in ((since, until), (history.began, now)):
            assert billed(lab, begin, end) == history.naive.billed(begin, end)
        past.append((since, until, billed(lab, since, until)))
    assert history.naive.billed(history.began, now), "this history has nothing to bill"
    for since, until, before in past:
        assert billed(lab, since, until) == before, "what is billed of the past never changes"


TOWNS = [ProjectInfo(f"p-{number}", f"town-{number}", GERMANY.id, GERMANY) for number in range(10)]


def test_several_collectors_at_once(make_lab: Callable[..., Lab]) -> None:
    """Each round, all collectors scrape all projects; a sync asks for further scrapes meanwhile."""
    lab = make_lab(keystone=FakeKeystone(*TOWNS))
    lab.discover()
    rounds, collectors = 6, 4
    for number in range(rounds):
        for index, town in enumerate(TOWNS):
            flavor = "big" if (number + index) % 3 else "small"
            entries = [("az-one", server(f"{index}-{k}", flavor)) for k in range((number * (index + 1)) % 7)]
            report(lab, *entries, project=town.name)
        lab.execute("UPDATE project_services SET next_scrape_at = %s", lab.now)
        barrier = threading.Barrier(collectors)

        def collect(worker: int, barrier: threading.Barrier = barrier) -> None:
            barrier.wait(60)
            request_sync(lab.limes, GERMANY.id, TOWNS[worker].id)
            follower = following(lab)
            while follower.scrape_next("compute") is not None:
                pass

        with ThreadPoolExecutor(collectors) as pool:
            list(pool.map(collect, range(collectors)))
        scrape(lab)  # rows that all had to skip because another one held them
        open_periods = sorted(
            (row.project_name, row.id, row.attributes) for row in periods(lab) if row.ended_at is None
        )
        expected = [
            (town.name, entry["id"], identify("cores", "", entry, ("flavor",)).what.attributes)
            for town in TOWNS
            for item in lab.compute.usage[town.name]["cores"].values()
            for entry in item.subresources
        ]
        assert open_periods == sorted(expected)
        lab.clock.advance(1800)


def test_scrapes_race_with_deletions(make_lab: Callable[..., Lab]) -> None:
    """Whatever a scrape writes at the last moment, nothing of a project goes on after its deletion."""
    lab = make_lab(keystone=FakeKeystone(*TOWNS))
    lab.discover()
    staying, leaving = TOWNS[:4], TOWNS[4:]
    for town in TOWNS:
        report(lab, ("az-one", server(town.name)), project=town.name)
    is_over = threading.Event()

    def come_and_go() -> None:
        for number in range(12):
            lab.keystone.found = {GERMANY: staying if number % 2 else TOWNS}
            lab.discover()
        is_over.set()

    def collect() -> None:
        flavors = itertools.cycle(["small", "big"])
        while not is_over.is_set():
            flavor = next(flavors)
            for town in TOWNS:
                report(lab, ("az-one", server(town.name, flavor)), project=town.name)
            for town in staying:
                request_sync(lab.limes, GERMANY.id, town.id)
            follower = following(lab)
            while follower.scrape_next("compute") is not None:
                pass

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda work: work(), [come_and_go, collect, collect]))
    ends = lab.rows(
        "SELECT p.uuid, l.ended_at FROM subresource_lifetimes l JOIN lifetime_projects p ON p.id = l.project_id"
        " WHERE l.ended_at IS NULL ORDER BY 1"
    )
    assert {uuid for uuid, _ in ends} == {town.id for town in staying}
    assert len(ends) == len(staying)
    assert lab.rows("SELECT COUNT(*) FROM subresource_lifetimes WHERE ended_at < began_at") == [(0,)]
    gone = {uuid for (uuid,) in lab.rows("SELECT uuid FROM lifetime_projects")} - {town.id for town in staying}
    assert gone <= {town.id for town in leaving}
