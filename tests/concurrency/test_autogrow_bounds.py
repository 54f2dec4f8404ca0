"""Bounds of growth from many clients at once: nothing is lost, recorded wrongly or stuck, while quota is computed."""

import functools
import random
import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from limes.autogrow.distribute import DistributionOutcome, distribute_next
from limes.catalog.catalog import AutogrowRule, Catalog, DistributionRule
from limes.collector.sync_catalog import sync_catalog
from limes.db.engine import Engine
from tests.api.world import SERVICES, World, make_world
from tests.concurrency.test_quota import CLIENTS, at_once
from tests.quota.quotas import DOMAIN, PROJECT, request_quotas

GROWING = [
    DistributionRule(
        re.compile("compute/.*"), "autogrow", autogrow=AutogrowRule(1.5, project_base_quota=5, minor_change=0)
    )
]
DRESDEN = PROJECT.replace("berlin", "dresden")
RESOURCES = ("cores", "ram")
FIELDS = {"max-quota": "max_quota", "min-quota": "min_quota", "forbid-autogrowth": "forbid_autogrowth"}

BOUNDS = """
    SELECT p.uuid, r.name, pr.max_quota, pr.forbids_autogrowth FROM project_resources pr
      JOIN projects p ON p.id = pr.project_id JOIN resources r ON r.id = pr.resource_id
"""


@pytest.fixture
def world(engine: Engine) -> World:
    world = make_world(engine, distributions=GROWING)
    engine.atomic(lambda: engine.execute("UPDATE resources SET quota_due_at = 0 WHERE name IN ('cores', 'ram')"))
    return world


def distribution(world: World) -> Callable[[], DistributionOutcome | None]:
    """What a collector does beside the API."""
    catalog = Catalog(["az-one", "az-two"], SERVICES, distributions=GROWING)
    limes = structs.replace(world.limes, catalog=catalog)
    sync_catalog(limes)
    return functools.partial(distribute_next, limes)


def put(world: World, path: str, what: str, values: dict[str, Any], **headers: str) -> int:
    resources = [{"name": name, FIELDS[what]: value} for name, value in values.items()]
    document = {
        "project" if "/projects/" in path else "domain": {"services": [{"type": "compute", "resources": resources}]}
    }
    return int(world.request("PUT", f"{path}/{what}", json=document, headers=headers).status_code)


def test_storm(world: World) -> None:
    """16 clients set bounds of projects and of all projects, in any order of resources, and quota of what does not
    grow, while two collectors compute. Each entry of the history begins where the one before has ended."""
    collect = distribution(world)
    statuses: list[int] = []

    def client(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(12):
            path = dice.choice([PROJECT, DRESDEN, DOMAIN])
            names = dice.sample(RESOURCES, 2)
            if dice.random() < 0.2:
                statuses.append(
                    request_quotas(world, path, {"capacity": dice.randint(3, 9)}, service="volume").status_code
                )
            elif dice.random() < 0.3:
                values: dict[str, Any] = {name: dice.random() < 0.5 for name in names}
                statuses.append(put(world, path, "forbid-autogrowth", values))
            else:
                values = {name: dice.choice([None, 10, 20, 2000]) for name in names}
                statuses.append(put(world, path, "max-quota", values))

    at_once(*[functools.partial(client, seed) for seed in range(CLIENTS)], meanwhile=[collect, collect])
    assert set(statuses) <= {202, 409, 423}, "423 and 409 are said of volumes"
    assert statuses.count(202) > CLIENTS * 6
    world.engine.atomic(lambda: follow_history(world))


def follow_history(world: World) -> None:
    steps = world.engine.rows(
        "SELECT project_uuid, resource_name, what, old, new FROM quota_history"
        " WHERE what IN ('max_quota', 'forbid_autogrowth') ORDER BY number"
    )
    values: dict[Any, int | None] = defaultdict(lambda: None)
    for project, name, what, old, new in steps:
        key = (project, name, what)
        assert (values[key] or 0, old != new) == (old or 0, True), key
        values[key] = new
    for project, name, maximum, forbids in world.engine.rows(BOUNDS):
        assert values[project, name, "max_quota"] == maximum
        assert bool(values[project, name, "forbid_autogrowth"]) == bool(forbids)


def test_what_is_set_during_a_computation_counts_in_the_next(world: World) -> None:
    """However they meet, once nothing is due any more all quotas are within their bounds."""
    action = distribution(world)
    for limit in (40, 35, 60, 33):
        at_once(
            lambda: action() and None,
            functools.partial(put, world, DOMAIN, "max-quota", {"cores": limit}),
            functools.partial(put, world, PROJECT, "max-quota", {"cores": 6}),
            lambda: action() and None,
        )
        while action() is not None:
            pass
        rows = world.engine.rows(
            "SELECT pr.quota, pr.usage, pr.max_quota FROM project_resources pr"
            " JOIN resources r ON r.id = pr.resource_id AND r.name = 'cores'"
        )
        assert {maximum for _, _, maximum in rows} <= {limit, 6}
        for quota, usage, maximum in rows:
            assert usage <= quota <= max(usage, maximum)


def test_of_several_clients_that_saw_the_same_one_wins(world: World) -> None:
    tag = world.request("GET", PROJECT).headers["etag"]
    statuses: list[int] = []

    def client(number: int) -> None:
        statuses.append(put(world, PROJECT, "max-quota", {"cores": 100 + number}, **{"If-Match": tag}))

    at_once(*[functools.partial(client, number) for number in range(CLIENTS)])
    assert sorted(statuses) == [202] + [412] * (CLIENTS - 1)


def test_grants_never_exceed_the_capacity(world: World) -> None:
    """Admins grant both projects as much as they can, again and again: of 201 cores, no more than there are."""
    statuses: list[int] = []

    def client(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(10):
            path, amount = dice.choice([PROJECT, DRESDEN]), dice.choice([None, 60, 90, 120, 150])
            statuses.append(put(world, path, "min-quota", {"cores": amount}))
            granted = world.engine.rows(
                "SELECT SUM(CASE WHEN pr.min_quota > pr.usage THEN pr.min_quota ELSE pr.usage END)"
                " FROM project_resources pr JOIN resources r ON r.id = pr.resource_id AND r.name = 'cores'"
            )
            assert granted[0][0] <= 201

    at_once(*[functools.partial(client, seed) for seed in range(CLIENTS)])
    assert set(statuses) == {202, 409}
