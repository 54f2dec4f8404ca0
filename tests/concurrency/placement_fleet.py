"""A Placement server of four workers on PostgreSQL, and many clients that write to it at once."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import requests

from limes.db.engine import Engine
from tests.placement.conformance.servers import make_database, running_server
from tests.placement.world import Builder, uuid_of

T = TypeVar("T")
CLIENTS = 16
WORKERS = 4


class Fleet(Builder):
    """The server's clients, one HTTP connection a thread, and the database behind it."""

    def __init__(self, url: str, database_url: str, log: Path) -> None:
        self.url = url
        self.database_url = database_url
        self.engine = Engine(database_url)
        self.log = log
        self._local = threading.local()

    def call(self, method: str, path: str, body: Any = None, *, version: str = "1.39") -> requests.Response:
        """One request of an administrator."""
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
            self._local.session.trust_env = False
        headers = {"x-auth-token": "admin", "x-roles": "admin,service", "openstack-api-version": f"placement {version}"}
        answer: requests.Response = self._local.session.request(
            method, self.url + path, headers=headers, json=body, timeout=200
        )
        return answer

    def ok(self, method: str, path: str, body: Any = None) -> Any:
        """One request that has to succeed."""
        answer = self.call(method, path, body)
        assert answer.ok, answer.text
        return answer.json() if answer.content else None

    def usages(self, name: str) -> dict[str, int]:
        """What is used of a provider."""
        found: dict[str, int] = self.ok("GET", f"/resource_providers/{uuid_of(name)}/usages")["usages"]
        return found

    def check_invariants(self) -> None:
        """What must be true of the rows at any moment, whatever happened."""
        with self.engine.connection():
            assert self.engine.rows(OVERUSED) == []
            assert self.engine.rows(WITHOUT_ALLOCATIONS) == []
            assert self.engine.rows(_WRONG_ROOTS) == []


OVERUSED = """
SELECT i.provider_id, i.class_id FROM placement_inventories i
JOIN placement_allocations a ON a.provider_id = i.provider_id AND a.class_id = i.class_id
GROUP BY i.provider_id, i.class_id, i.total, i.reserved, i.allocation_ratio
HAVING SUM(a.used) > (i.total - i.reserved) * i.allocation_ratio"""
WITHOUT_ALLOCATIONS = """
SELECT uuid FROM placement_consumers c
WHERE NOT EXISTS (SELECT 1 FROM placement_allocations a WHERE a.consumer_id = c.id)"""
_WRONG_ROOTS = """
WITH RECURSIVE tree (id, root) AS (
    SELECT id, id FROM placement_providers WHERE parent_id IS NULL
    UNION ALL SELECT p.id, tree.root FROM placement_providers p JOIN tree ON p.parent_id = tree.id
)
SELECT p.id FROM placement_providers p LEFT JOIN tree ON tree.id = p.id
WHERE tree.root IS NULL OR tree.root <> p.root_id"""


@contextmanager
def running_fleet(database_url: str, folder: Path) -> Iterator[Fleet]:
    """A fleet on an empty database, for as long as the block lasts."""
    make_database(database_url)
    with running_server(database_url, folder, workers=WORKERS, threads=4) as url:
        fleet = Fleet(url, database_url, next(folder.glob("placement-*.log")))
        yield fleet
        fleet.engine.close()


def at_once(work: Callable[[int], T], times: int, clients: int = CLIENTS) -> list[T]:
    """Runs `work(0)` to `work(times - 1)` by many threads that start together."""
    gate = threading.Barrier(clients)
    local = threading.local()

    def run(number: int) -> T:
        if not hasattr(local, "waited"):
            local.waited = True
            if number < clients:
                gate.wait(100)
        return work(number)

    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(run, range(times)))


def statuses(answers: list[requests.Response]) -> Counter[int]:
    """How often each status was answered."""
    return Counter(answer.status_code for answer in answers)
