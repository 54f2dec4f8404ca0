"""Scrapes, commitments, bounds, capacity and two collectors at once: quota that follows usage is always right."""

import random
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import pytest
from msgspec import structs

from limes.audit.events import Initiator, What
from limes.autogrow.set_bounds import WantedBound, set_domain_bounds, set_project_bounds
from limes.backends import AZCapacity, AZUsage, ProjectInfo
from limes.catalog.catalog import AutogrowRule
from limes.collector.discover import request_sync
from limes.commitments.create import create_commitment, delete_commitment
from limes.commitments.rules import CommitmentRequest, CommitmentRules
from limes.db.engine import Engine
from limes.kernel.errors import Conflict
from limes.projects import scope as lookup
from tests.autogrow.in_lab import distributions
from tests.collector.lab import GERMANY, FakeKeystone, Lab
from tests.commitments.in_lab import RULE as COMMITMENTS
from tests.concurrency.conftest import Rounds
from tests.concurrency.test_quota import at_once

TOWNS = [ProjectInfo(f"p-{number}", f"town-{number}", GERMANY.id, GERMANY) for number in range(8)]
AZS = ("az-one", "az-two")
CORES = ("compute", "cores")
ADMIN = Initiator("admin", id="admin")
GROWTH = AutogrowRule(growth_multiplier=1.5, project_base_quota=10, retention=600, minor_change=0.1)
ROUNDS = 20

# Of each project and AZ with quota, usage or commitments. One statement, so one state.
STATE = """
    SELECT pr.project_id, places.az, pr.quota, COALESCE(q.quota, 0), COALESCE(u.usage, 0), COALESCE(c.amount, 0)
      FROM project_resources pr JOIN resources r ON r.id = pr.resource_id AND r.name = 'cores'
     CROSS JOIN (SELECT 'any' AS az UNION SELECT 'az-one' UNION SELECT 'az-two') places
      LEFT JOIN project_az_quotas q
             ON q.project_id = pr.project_id AND q.resource_id = pr.resource_id AND q.az = places.az
      LEFT JOIN project_az_resources u
             ON u.project_id = pr.project_id AND u.resource_id = pr.resource_id AND u.az = places.az
      LEFT JOIN (SELECT project_id, resource_id, az, SUM(amount) AS amount FROM project_commitments
                  WHERE status = 'confirmed' GROUP BY project_id, resource_id, az) c
             ON c.project_id = pr.project_id AND c.resource_id = pr.resource_id AND c.az = places.az
"""


class Place(NamedTuple):
    """A project in one AZ. `total` is its quota over all AZs."""

    project: int
    az: str
    total: int
    quota: int
    usage: int
    committed: int

    @property
    def needed(self) -> int:
        return max(self.usage, int(self.committed))


@pytest.fixture
def lab(engine: Engine) -> Lab:
    options = {"distributions": distributions(GROWTH), "behaviors": [COMMITMENTS]}
    lab = Lab(engine, keystone=FakeKeystone(*TOWNS), catalog_options=options)
    lab.discover()
    provide(lab, {"az-one": 300, "az-two": 300})
    lab.scrape_all()
    return lab


def provide(lab: Lab, capacity: Mapping[str, int]) -> None:
    by_az = {az: AZCapacity(amount) for az, amount in capacity.items()}
    lab.capacitors["nova"].capacity = {"compute": {"cores": by_az}}
    lab.execute("UPDATE capacitors SET next_scrape_at = %s", lab.now)
    lab.scrape_capacity()


def places(lab: Lab) -> list[Place]:
    """The present state; asserts that what has to be true of each state is."""
    found = [Place(*row) for row in lab.rows(STATE)]
    for place in found:
        assert place.quota >= place.needed, place
        assert sum(other.quota for other in found if other.project == place.project) == place.total, place
    return found


class Turmoil:
    """Works that disturb each other."""

    def __init__(self, lab: Lab, rounds: int) -> None:
        self.lab = lab
        self.rounds = rounds
        rules = CommitmentRules(self_delete_grace=1e9, retention=1e9)
        settings = lab.limes.settings.model_copy(update={"commitments": rules})
        self.admin = structs.replace(lab.limes, settings=settings, initiator=ADMIN)

    def use_and_scrape(self, seed: int) -> None:
        """Each of them scrapes other projects."""
        dice = random.Random(seed)
        for _ in range(self.rounds):
            town = dice.choice(TOWNS)
            usage = {az: AZUsage(dice.randint(0, 60)) for az in AZS if dice.random() < 0.8}
            self.lab.compute.usage[town.name] = {"cores": usage}
            request_sync(self.lab.limes, GERMANY.id, town.id)
            while self.lab.scrape_next("compute") is not None:
                pass

    def commit_and_take_back(self, seed: int) -> None:
        dice, made = random.Random(seed), list[tuple[str, int]]()
        for _ in range(self.rounds):
            town = dice.choice(TOWNS)
            request = CommitmentRequest(CORES, dice.choice(AZS), dice.randint(1, 40), "1 year")
            try:
                created = create_commitment(self.admin, GERMANY.id, town.id, request)
            except Conflict:
                pass  # there is no capacity
            else:
                made.append((town.id, created.document.id))
            if made and dice.random() < 0.5:
                project, id_ = made.pop(dice.randrange(len(made)))
                delete_commitment(self.admin, GERMANY.id, project, id_, as_admin=True)

    def set_bounds(self, seed: int) -> None:
        dice = random.Random(seed)
        limes = self.lab.limes.as_initiator(ADMIN)
        for _ in range(self.rounds):
            town = dice.choice(TOWNS)
            wanted = dice.choice([None, 0, dice.randint(1, 100)])
            set_project_bounds(limes, lookup.Place(GERMANY.id, town.id), What.MAX_QUOTA, [WantedBound(CORES, wanted)])
            forbid = WantedBound(CORES, dice.randint(0, 1))
            if dice.random() < 0.3:
                set_domain_bounds(limes, lookup.Place(GERMANY.id), What.FORBID_AUTOGROWTH, [forbid])

    def change_capacity(self, seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(self.rounds):
            provide(self.lab, {az: dice.randint(100, 500) for az in AZS})
            self.lab.clock.advance(20)

    def collect(self) -> None:
        outcome = self.lab.distribute()
        assert outcome is None or outcome.success

    def watch(self) -> None:
        self.lab.engine.snapshot(lambda: places(self.lab))

    def run(self) -> None:
        """All of it."""
        works = [self.use_and_scrape, self.use_and_scrape, self.commit_and_take_back, self.set_bounds]
        running = [partial(work, seed) for seed, work in enumerate([*works, self.commit_and_take_back])]
        running.append(partial(self.change_capacity, 99))
        at_once(*running, meanwhile=[self.collect, self.collect, self.watch])


def test_turmoil(lab: Lab, rounds: Rounds) -> None:
    Turmoil(lab, rounds(ROUNDS)).run()
    assert_history_has_no_gaps(lab)
    for _ in range(2):  # much less than before is believed at the second answer
        provide(lab, {"az-one": 250, "az-two": 150})
    lab.clock.advance(4000)  # small changes wait no longer
    lab.execute("UPDATE resources SET quota_due_at = %s WHERE quota_due_at IS NOT NULL", lab.now)
    lab.distribute_all()
    found = places(lab)
    for az, capacity in (("az-one", 250), ("az-two", 150)):
        here = [place for place in found if place.az == az]
        assert sum(place.quota for place in here) <= max(capacity, sum(place.needed for place in here))
    in_all, needed = sum(place.quota for place in found), sum(place.needed for place in found)
    assert in_all <= max(400, needed)
    bounds = dict(lab.rows("SELECT project_id, max_quota FROM project_resources WHERE max_quota IS NOT NULL"))
    for project, maximum in bounds.items():
        own = [place for place in found if place.project == project]
        assert own[0].total <= max(maximum, sum(place.needed for place in own))
    lab.execute("UPDATE resources SET quota_due_at = %s WHERE quota_due_at IS NOT NULL", lab.now)
    assert lab.distribute_all() == 0
    if lab.engine.dialect == "postgresql":
        assert lab.rows("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == [(0,)]


def assert_history_has_no_gaps(lab: Lab) -> None:
    """Each change starts from what the one before has left."""
    last: dict[Any, Any] = {}
    for project, old, new in lab.rows(
        "SELECT project_uuid, old, new FROM quota_history WHERE what = 'quota' ORDER BY number"
    ):
        assert old == last.get(project, 0)
        assert old != new
        last[project] = new
    present = dict(
        lab.rows(
            "SELECT p.uuid, pr.quota FROM project_resources pr JOIN projects p ON p.id = pr.project_id"
            " JOIN resources r ON r.id = pr.resource_id WHERE r.name = 'cores'"
        )
    )
    assert {project: quota for project, quota in present.items() if quota or project in last} == last


def test_two_collectors_compute_a_resource_once(lab: Lab) -> None:
    lab.clock.advance(901)
    outcomes: list[Any] = []
    at_once(*[lambda: outcomes.append(lab.distribute()) for _ in range(6)])
    assert [outcome.ref for outcome in outcomes if outcome] == [CORES]
