"""Everything that the collector does, at once and against itself: nothing fails, and in the end all is as it should be."""

import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

from limes.backends import AZCapacity, AZUsage, ProjectInfo
from limes.collector.discover import request_sync
from limes.db.engine import Engine
from limes.kernel.errors import NotFound
from limes.quota.push_quota import push_quota
from tests.collector.lab import GERMANY, FakeKeystone, Lab
from tests.concurrency.conftest import Rounds
from tests.concurrency.test_quota import at_once

TOWNS = [ProjectInfo(f"p-{number}", f"town-{number}", GERMANY.id, GERMANY) for number in range(12)]
STAYING, LEAVING = TOWNS[:8], TOWNS[8:]
ROUNDS = 25


@pytest.fixture
def lab(engine: Engine) -> Lab:
    lab = Lab(engine, keystone=FakeKeystone(*TOWNS))
    lab.discover()
    lab.scrape_all()
    return lab


def drain(step: Callable[..., Any]) -> None:
    while step() is not None:
        pass


class Turmoil:
    """Works that disturb each other."""

    def __init__(self, lab: Lab, rounds: int) -> None:
        self.lab = lab
        self.rounds = rounds
        self.chance = random.Random(1)
        self.wanted: dict[str, int] = {}
        self.lock = threading.Lock()

    def come_and_go(self) -> None:
        for _ in range(self.rounds):
            self.lab.keystone.found = {GERMANY: STAYING + self.chance.sample(LEAVING, 2)}
            self.lab.discover()

    def sync_and_scrape(self) -> None:
        for _ in range(self.rounds):
            for town in self.chance.sample(TOWNS, 4):
                try:
                    request_sync(self.lab.limes, GERMANY.id, town.id)
                except NotFound:
                    assert town in LEAVING
            drain(lambda: self.lab.scrape_together(limit=3))

    def set_quota(self) -> None:
        ids = {name: id_ for id_, name in self.lab.rows("SELECT id, name FROM projects")}
        for number in range(self.rounds):
            town = self.chance.choice(STAYING)
            with self.lock:
                self.wanted[town.name] = number
                self.lab.set_quota("cores", number, project=town.name)
            assert push_quota(self.lab.limes, ids[town.name], ["compute"]) == []

    def push(self) -> None:
        for _ in range(self.rounds):
            drain(lambda: self.lab.push_next("compute"))

    def scrape_capacity(self) -> None:
        for _ in range(self.rounds):
            self.lab.execute("UPDATE capacitors SET next_scrape_at = %s", self.lab.now)
            drain(lambda: self.lab.scrape_capacity())


def test_all_jobs_at_once(lab: Lab, rounds: Rounds) -> None:
    """Projects come and go while their usage is scraped, their quota set and written, and capacity replaced."""
    lab.capacitors["nova"].capacity = {"compute": {"cores": {"az-one": AZCapacity(100)}}}
    lab.compute.usage = {town.name: {"cores": {"az-one": AZUsage(3)}} for town in TOWNS}
    turmoil = Turmoil(lab, rounds(ROUNDS))
    works = [
        turmoil.come_and_go,
        *[turmoil.sync_and_scrape] * 2,
        *[turmoil.set_quota] * 2,
        *[turmoil.push] * 2,
        turmoil.scrape_capacity,
    ]
    at_once(*works)
    lab.keystone.found = {GERMANY: STAYING}
    lab.discover()
    lab.clock.advance(1801)
    lab.scrape_all()
    drain(lambda: lab.push_next("compute"))
    assert [row[0] for row in lab.rows("SELECT uuid FROM projects ORDER BY id")] == [town.id for town in STAYING]
    assert lab.rows("SELECT COUNT(*) FROM project_services WHERE quota_desynced_at IS NOT NULL") == [(0,)]
    for town in STAYING:
        quota = turmoil.wanted.get(town.name, 0)
        assert lab.quotas(town.name)["cores"] == (quota, quota)
        assert lab.compute.quota.get(town.name, {"cores": 0})["cores"] == quota
    assert lab.rows("SELECT az, raw_capacity FROM az_resources") == [("az-one", 100)]
    usage = lab.rows("SELECT COUNT(*), SUM(usage) FROM project_az_resources WHERE az = 'az-one'")
    assert usage == [(len(STAYING), 3 * len(STAYING))]
