"""Nested trees that many clients claim, resize, move, release and reshape at once, on several workers.

Every answer is the success or 409: no request names what does not exist. Each client remembers what it was told.

The cloud has thousands of providers more, and is analyzed or not: what PostgreSQL does with rows that changed while it
waited for their locks depends on its plan, and the plan on these.
"""

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.concurrency.conftest import Rounds
from tests.concurrency.placement_fleet import Fleet, at_once, running_fleet
from tests.placement.conformance.servers import empty_database
from tests.placement.world import claim, uuid_of
from tests.support.postgres import PostgresServer

TREES = 3
ROOM = 40
"""Of each class on each provider. Less than all consumers may want, so that what does not fit is refused."""
CLIENTS = 12
STEPS = 60
"""Of each client."""

OTHERS = """
INSERT INTO placement_providers (id, uuid, name, root_id, generation, changed, updated)
SELECT n, n::text, n::text, n, 0, 0, 0 FROM generate_series(1000, 4000) n"""

Placed = dict[str, dict[str, int]]
"""Amounts by class, by provider."""


@pytest.fixture(scope="module")
def analyzed_fleet(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """One of its own, for nobody analyzes the database of the others."""
    with running_fleet(postgres.url(postgres.create_database()), tmp_path_factory.mktemp("fleet")) as fleet:
        yield fleet


@pytest.fixture(params=["fleet_on_postgresql", "analyzed_fleet"], ids=["not analyzed", "analyzed"])
def fleet(request: pytest.FixtureRequest, postgres: PostgresServer) -> Iterator[Fleet]:
    """Trees of a root with VCPU, two NUMA nodes with memory, and a card of VGPU below each node; and two flat hosts."""
    fleet: Fleet = request.getfixturevalue(request.param)
    empty_database(fleet.database_url)
    for tree in range(TREES):
        fleet.provider(f"r{tree}", VCPU=ROOM)
        for node in "ab":
            fleet.provider(f"n{tree}{node}", f"r{tree}", MEMORY_MB=ROOM)
            fleet.provider(f"g{tree}{node}", f"n{tree}{node}", **({"VGPU": ROOM} if node == "a" else {}))
    for host in range(2):
        fleet.provider(f"h{host}", VCPU=ROOM, MEMORY_MB=ROOM)
    with fleet.engine.connection():
        fleet.engine.execute(OTHERS)
        if request.param == "analyzed_fleet":
            fleet.engine.execute("ANALYZE")
    yield fleet
    fleet.check_invariants()


class Client:
    """Acts on four consumers of its own; only reshapes touch those of others, and only move them within their tree."""

    def __init__(self, fleet: Fleet, number: int) -> None:
        self._fleet = fleet
        self._random = random.Random(number)
        self._consumers = [f"c{number}x{one}" for one in range(4)]
        often = [self._place, self._move, self._resize_root]
        self._acts = [*often, *often, *often, self._release, self._release, self._reshape]
        self.told: dict[str, Counter[str]] = {name: Counter() for name in self._consumers}
        """What each consumer was last given, by class and tree."""
        self.seen: Counter[tuple[str, int]] = Counter()
        """Kinds of requests, with what was answered."""

    def step(self) -> None:
        """One request that changes something."""
        self._random.choice(self._acts)()

    def _generation(self, consumer: str) -> int | None:
        generation = self._fleet.ok("GET", f"/allocations/{uuid_of(consumer)}").get("consumer_generation")
        assert generation is None or isinstance(generation, int)
        return generation

    def _placed(self) -> Placed:
        """What a consumer is to get: on a flat host, or on several providers of a tree."""
        amount = self._random.randint(1, 6)
        if self._random.random() < 0.3:
            return {f"h{self._random.randrange(2)}": {"VCPU": amount, "MEMORY_MB": amount}}
        tree = self._random.randrange(TREES)
        placed = {f"r{tree}": {"VCPU": amount}, f"n{tree}{self._random.choice('ab')}": {"MEMORY_MB": amount}}
        if self._random.random() < 0.6:
            placed[f"g{tree}{self._random.choice('ab')}"] = {"VGPU": 1}
        return placed

    def _note(self, kind: str, answer: requests.Response, changes: dict[str, Placed]) -> None:
        """Remembers what was acknowledged. `changes` are of this client's consumers."""
        assert answer.status_code in (200, 204, 409), (kind, answer.text)
        self.seen[kind, answer.status_code] += 1
        if answer.ok:
            self.told |= {consumer: _in_trees(placed) for consumer, placed in changes.items()}

    def _place(self) -> None:
        """A first claim, or a resize that may go elsewhere."""
        consumer, placed = self._random.choice(self._consumers), self._placed()
        kind = "resize" if self.told[consumer] else "claim"
        self._note(kind, self._fleet.allocate(consumer, self._generation(consumer), **placed), {consumer: placed})

    def _move(self) -> None:
        """Two consumers change in one request, as with Nova's migrations: one gets something, the other gives all."""
        one, other = self._random.sample(self._consumers, 2)
        changes = {one: self._placed(), other: {}}
        if not self.told[other]:
            changes[other] = self._placed()
        body = {uuid_of(name): claim(self._generation(name), **placed) for name, placed in changes.items()}
        self._note("move", self._fleet.call("POST", "/allocations", body), changes)

    def _release(self) -> None:
        consumer = self._random.choice(self._consumers)
        if self.told[consumer]:
            answer = self._fleet.call("DELETE", f"/allocations/{uuid_of(consumer)}")
            self._note("release", answer, {consumer: {}})

    def _resize_root(self) -> None:
        """Inventory of a root is reported again, as a Nova does whose settings have changed."""
        root = uuid_of(f"r{self._random.randrange(TREES)}")
        path = f"/resource_providers/{root}/inventories"
        held = self._fleet.ok("GET", path)
        held["inventories"]["VCPU"]["max_unit"] = self._random.randint(10, ROOM)
        self._note("inventory", self._fleet.call("PUT", path, held), {})

    def _reshape(self) -> None:
        """Moves the cards of a tree from one of its nodes to the other, and what is allocated of them.

        Until nobody is faster. It ends: whoever is faster has done one of its steps.
        """
        tree = self._random.randrange(TREES)
        while True:
            body = self._reshaped(f"g{tree}a", f"g{tree}b")
            answer = self._fleet.call("POST", "/reshaper", body)
            self._note("reshape", answer, {})
            if answer.ok:
                return

    def _reshaped(self, *names: str) -> Any:
        held = {name: self._fleet.ok("GET", f"/resource_providers/{uuid_of(name)}/inventories") for name in names}
        source, target = sorted(names, key=lambda name: not held[name]["inventories"])
        shapes = {
            uuid_of(name): {
                "resource_provider_generation": held[name]["resource_provider_generation"],
                "inventories": {"VGPU": {"total": ROOM}} if name == target else {},
            }
            for name in names
        }
        users = self._fleet.ok("GET", f"/resource_providers/{uuid_of(source)}/allocations")["allocations"]
        consumers = {uuid: self._fleet.ok("GET", f"/allocations/{uuid}") for uuid in users}
        claims = {}
        for uuid, consumer in consumers.items():
            placed = {at: {"resources": one["resources"]} for at, one in consumer["allocations"].items()}
            if uuid_of(source) in placed:
                placed[uuid_of(target)] = placed.pop(uuid_of(source))
                claims[uuid] = claim(consumer["consumer_generation"]) | {"allocations": placed}
        return {"inventories": shapes, "allocations": claims}


def _in_trees(placed: Placed) -> Counter[str]:
    """Amounts by class and tree (or flat host): a reshape leaves them as they are."""
    trees = {at: at[:2].translate(_ROOTS) for at in placed}
    return Counter({f"{name} of {trees[at]}": amount for at, of in placed.items() for name, amount in of.items()})


_ROOTS = str.maketrans("ng", "rr")
"""A tree's nodes, cards and root differ in the first letter of their names."""


def test_a_storm_on_nested_trees_is_answered_with_success_or_conflict(fleet: Fleet, rounds: Rounds) -> None:
    """The whole one takes half a minute, for 720 steps of up to a dozen requests each."""
    clients = [Client(fleet, number) for number in range(CLIENTS)]

    def act(number: int) -> None:
        for _ in range(rounds(STEPS)):
            clients[number].step()

    at_once(act, CLIENTS, CLIENTS)
    seen = sum((client.seen for client in clients), Counter[tuple[str, int]]())
    worked = {kind for kind, status in seen if status < 300}
    assert worked == {"claim", "resize", "move", "release", "reshape", "inventory"}, seen
    names = {uuid_of(name): name for name in _providers()}
    for consumer, told in itertools.chain.from_iterable(client.told.items() for client in clients):
        held = fleet.ok("GET", f"/allocations/{uuid_of(consumer)}")["allocations"]
        assert _in_trees({names[uuid]: one["resources"] for uuid, one in held.items()}) == told


def _providers() -> Iterator[str]:
    for tree in range(TREES):
        yield f"r{tree}"
        yield from (f"{kind}{tree}{node}" for kind in "ng" for node in "ab")
    yield from ("h0", "h1")
