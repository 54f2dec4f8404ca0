"""Many requests at once: the sum of project quotas never exceeds the domain quota, and nothing fails but for that."""

import functools
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.api.quotas import request_quotas
from tests.api.world import BERLIN, DRESDEN, GERMANY, World, make_world
from tests.support.databases import MigratedUrlFactory

CLIENTS = 16


@pytest.fixture
def world(database_url_with: MigratedUrlFactory) -> Iterator[World]:
    engine = Engine(database_url_with(limes_migrations), pool_size=CLIENTS + 2)
    yield make_world(engine)
    engine.close()


def at_once(*works: Callable[..., Any]) -> None:
    """Runs the works in threads that start together, and raises what any of them raised."""
    barrier = threading.Barrier(len(works))
    errors = []

    def run(work: Any) -> None:
        try:
            barrier.wait(timeout=200)
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def put(world: World, path: str, quotas: dict[str, Any]) -> Any:
    return request_quotas(world, path, quotas).status_code


def quotas(world: World) -> tuple[dict[Any, Any], dict[Any, Any]]:
    with world.engine.connection():
        domain = dict(
            world.engine.rows(
                "SELECT r.name, dr.quota FROM domain_resources dr JOIN resources r ON r.id = dr.resource_id"
                " WHERE dr.domain_id = 1"
            )
        )
        projects = dict(
            world.engine.rows(
                "SELECT r.name, SUM(pr.quota) FROM project_resources pr JOIN resources r ON r.id = pr.resource_id"
                " WHERE pr.quota IS NOT NULL GROUP BY r.name"
            )
        )
    return domain, projects


def test_two_requests_that_fit_only_alone(world: World) -> None:
    """100 cores, 50 given: of two requests for 25 more + 26 more, exactly one is accepted. The original took both."""
    statuses: list[int] = []
    for _ in range(10):
        statuses.clear()
        at_once(
            lambda: statuses.append(put(world, f"/v1/domains/{GERMANY}/projects/{BERLIN}", {"cores": 45})),
            lambda: statuses.append(put(world, f"/v1/domains/{GERMANY}/projects/{DRESDEN}", {"cores": 56})),
        )
        assert sorted(statuses) == [202, 409]
        assert quotas(world)[1]["cores"] <= 100
        put(world, f"/v1/domains/{GERMANY}/projects/{BERLIN}", {"cores": 20})
        put(world, f"/v1/domains/{GERMANY}/projects/{DRESDEN}", {"cores": 31})


def test_storm(world: World) -> None:
    """Project and domain quotas move at random from 16 clients; a watcher never sees a domain oversold."""
    done = threading.Event()
    statuses: list[int] = []

    def client(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(12):
            if dice.random() < 0.3:
                names = {"cores": dice.randint(40, 140), "ram": dice.randint(1000, 5000)}
                statuses.append(put(world, f"/v1/domains/{GERMANY}", names))
            else:
                project = dice.choice([BERLIN, DRESDEN])
                # the order of the resources differs between clients: locks must not deadlock
                names = [("cores", dice.randint(31, 80)), ("ram", dice.randint(512, 3000))]
                dice.shuffle(names)
                statuses.append(put(world, f"/v1/domains/{GERMANY}/projects/{project}", dict(names)))

    def watcher() -> None:
        while not done.is_set():
            domain, projects = world.engine.snapshot(lambda: quotas(world))
            assert projects["cores"] <= domain["cores"]
            assert projects["ram"] <= domain["ram"]

    watching = threading.Thread(target=watcher)
    watching.start()
    try:
        at_once(*[functools.partial(client, seed) for seed in range(CLIENTS)])
    finally:
        done.set()
        watching.join(timeout=200)
    assert set(statuses) <= {202, 409}
    assert statuses.count(202) > 10
    domain, projects = quotas(world)
    assert projects["cores"] <= domain["cores"]
    assert projects["ram"] <= domain["ram"]


@pytest.mark.parametrize("path", [f"/v1/domains/{GERMANY}", f"/v1/domains/{GERMANY}/projects/{BERLIN}"])
def test_of_many_who_saw_the_same_exactly_one_wins(world: World, path: str) -> None:
    """They change different resources, so that nothing but `If-Match` is between them, and each to a new value."""
    level = "project" if "/projects/" in path else "domain"
    refs = [("compute", "cores"), ("compute", "ram"), ("volume", "capacity")]
    world.engine.atomic(lambda: world.engine.execute("UPDATE domain_resources SET quota = 5000"))
    for turn in range(8):
        tag = world.request("GET", path).headers["etag"]
        statuses = []

        def change(client: Any, turn: int = turn, tag: Any = tag, statuses: list[Any] = statuses) -> None:
            service, name = refs[client % 3]
            quota = (6000 if level == "domain" else 2000) + turn * CLIENTS + client
            document = {level: {"services": [{"type": service, "resources": [{"name": name, "quota": quota}]}]}}
            statuses.append(world.request("PUT", path, json=document, headers={"If-Match": tag}).status_code)

        at_once(*[functools.partial(change, client) for client in range(CLIENTS)])
        assert sorted(statuses) == [202] + [412] * (CLIENTS - 1)
