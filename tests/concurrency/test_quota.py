"""Many requests at once: the sum of project quotas never exceeds the domain quota, and nothing fails but for that."""

import functools
import random
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from limes.db.engine import Engine
from tests.api.world import BERLIN, DRESDEN, GERMANY, World, make_world
from tests.quota.quotas import request_quotas

CLIENTS = 16


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine)


def at_once(*works: Callable[[], Any], meanwhile: Sequence[Callable[[], Any]] = ()) -> None:
    """Runs the works in threads that start together, and raises what any of them raised.

    What is done meanwhile is done again and again until the works have ended, and once more after that.
    """
    barrier = threading.Barrier(len(works) + len(meanwhile))
    over, errors = threading.Event(), []

    def run(work: Callable[[], Any], *, again: bool) -> None:
        try:
            barrier.wait(timeout=200)
            while again and not over.is_set():
                work()
            work()
        except BaseException as error:
            errors.append(error)

    def start(work: Callable[[], Any], *, again: bool) -> threading.Thread:
        thread = threading.Thread(target=run, args=[work], kwargs={"again": again})
        thread.start()
        return thread

    running = [start(work, again=False) for work in works]
    beside = [start(work, again=True) for work in meanwhile]
    for threads in (running, beside):
        for thread in threads:
            thread.join(timeout=300)
            assert not thread.is_alive()
        over.set()
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

    def watch() -> None:
        domain, projects = world.engine.snapshot(lambda: quotas(world))
        assert projects["cores"] <= domain["cores"]
        assert projects["ram"] <= domain["ram"]

    at_once(*[functools.partial(client, seed) for seed in range(CLIENTS)], meanwhile=[watch])
    assert set(statuses) <= {202, 409}
    assert statuses.count(202) > 10


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
