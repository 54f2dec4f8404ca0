"""Quota that follows usage is written in pieces while everything changes: nothing is promised twice at any time."""

import random
import time
from functools import partial
from itertools import count

import pytest
from msgspec import structs

from limes.app.context import Limes
from limes.audit.events import Initiator, What
from limes.autogrow.distribute import distribute_next
from limes.autogrow.set_bounds import WantedBound, set_project_bounds
from limes.backends import AZCapacity, AZUsage, ProjectInfo
from limes.catalog.catalog import AutogrowRule
from limes.collector.discover import request_sync
from limes.db.engine import Engine
from limes.projects.scope import Place
from tests.autogrow.in_lab import distributions
from tests.collector.lab import GERMANY, FakeKeystone, Lab
from tests.commitments.in_lab import RULE as COMMITMENTS
from tests.commitments.in_lab import add
from tests.concurrency.test_quota import at_once

TOWNS = [ProjectInfo(f"p-{number}", f"town-{number}", GERMANY.id, GERMANY) for number in range(12)]
CAPACITY = {"az-one": 300, "az-two": 200}
COMMITTED = 10
"""Of each project in each AZ. No project uses more, so that nothing has to be granted beyond the capacity."""
RULE = AutogrowRule(growth_multiplier=4, project_base_quota=60, retention=600, minor_change=0)
CORES = ("compute", "cores")
ADMIN = Initiator("admin", id="admin")
ROUNDS = 25


class Killed(BaseException):
    """A process that ends without cleaning up."""


@pytest.fixture
def lab(engine: Engine) -> Lab:
    options = {"distributions": distributions(RULE), "behaviors": [COMMITMENTS]}
    lab = Lab(engine, keystone=FakeKeystone(*TOWNS), catalog_options=options)
    lab.discover()
    lab.capacitors["nova"].capacity = {"compute": {"cores": {az: AZCapacity(one) for az, one in CAPACITY.items()}}}
    assert lab.scrape_capacity()
    lab.scrape_all()
    for number, town in enumerate(TOWNS):
        for position, az in enumerate(CAPACITY):
            add(lab, 10 * number + position, COMMITTED, project=town.name, status="confirmed", az=az)
    due(lab)
    lab.distribute_all()
    return lab


def due(lab: Lab) -> None:
    lab.execute("UPDATE resources SET quota_due_at = %s WHERE quota_due_at IS NOT NULL", lab.now)


def sums(lab: Lab) -> dict[str, int]:
    """Quota by AZ over all projects, in one state."""
    return dict(lab.rows("SELECT az, SUM(quota) FROM project_az_quotas GROUP BY az"))


def assert_fits(lab: Lab) -> None:
    found = sums(lab)
    assert all(found.get(az, 0) <= amount for az, amount in CAPACITY.items()), found
    assert sum(found.values()) <= sum(CAPACITY.values()), found


def mortal(limes: Limes, pieces: int) -> Limes:
    """Its process dies after so many pieces: it looks at the clock for the claim, for the figures and for each piece."""
    looks = count(1)

    class Mortal(Limes):
        def now(self) -> float:
            if next(looks) > 2 + pieces:
                raise Killed
            return super().now()

    return Mortal(**structs.asdict(limes))


class Turmoil:
    """Works that disturb each other, while pieces of two projects are written."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.killed = 0

    def set_bounds(self, seed: int) -> None:
        """So that much quota goes from some projects to others each time."""
        dice = random.Random(seed)
        limes = self.lab.limes.as_initiator(ADMIN)
        for _ in range(ROUNDS):
            for town in dice.sample(TOWNS, 3):
                wanted = dice.choice([None, 0, 30, 60])
                set_project_bounds(limes, Place(GERMANY.id, town.id), What.MAX_QUOTA, [WantedBound(CORES, wanted)])

    def use_and_scrape(self, seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(ROUNDS):
            town = dice.choice(TOWNS)
            usage = {az: AZUsage(dice.randint(0, COMMITTED)) for az in CAPACITY}
            self.lab.compute.usage[town.name] = {"cores": usage}
            request_sync(self.lab.limes, GERMANY.id, town.id)
            while self.lab.scrape_next("compute") is not None:
                pass

    def put(self, seed: int) -> None:
        """Quota of another resource of the same projects."""
        dice = random.Random(seed)
        for _ in range(ROUNDS):
            self.lab.set_quota("ram", dice.randint(1, 100), dice.choice(TOWNS).name)

    def collect(self, dice: random.Random) -> None:
        """One in eight of the computations is killed between two pieces."""
        due(self.lab)
        if dice.random() < 0.125:
            try:
                distribute_next(mortal(self.lab.limes, dice.randint(1, 4)), piece=2)
            except Killed:
                self.killed += 1
            self.lab.clock.advance(301)
            return
        outcome = distribute_next(self.lab.limes, piece=2)
        assert outcome is None or outcome.success

    def watch(self) -> None:
        assert_fits(self.lab)
        time.sleep(0.001)

    def run(self) -> None:
        """All of it."""
        works = [self.set_bounds, self.set_bounds, self.use_and_scrape, self.put]
        collectors = [partial(self.collect, random.Random(seed)) for seed in (8, 9)]
        at_once(*(partial(work, seed) for seed, work in enumerate(works)), meanwhile=[*collectors, self.watch])


def test_never_more_than_there_is(lab: Lab) -> None:
    """The capacity is all given away, so that each raise needs what others have given back before."""
    assert sum(sums(lab).values()) == sum(CAPACITY.values())
    turmoil = Turmoil(lab)
    turmoil.run()
    lab.clock.advance(1000)
    due(lab)
    lab.distribute_all()
    assert_fits(lab)
    for _, quota, split in lab.rows(
        "SELECT pr.project_id, pr.quota, (SELECT SUM(q.quota) FROM project_az_quotas q WHERE q.project_id ="
        " pr.project_id AND q.resource_id = pr.resource_id) FROM project_resources pr"
        " JOIN resources r ON r.id = pr.resource_id WHERE r.name = 'cores'"
    ):
        assert quota == split
    due(lab)
    assert lab.distribute_all() == 0
    if lab.engine.dialect == "postgresql":
        assert lab.rows("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == [(0,)]
