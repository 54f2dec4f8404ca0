"""Clients of several hosts, who remember what they were told: quota, commitments and allocations."""

import contextlib
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import requests

from tests.faults.house import eventually
from tests.hosts.hosts import CAPACITY, DOMAIN, PROJECTS, TOKEN, Cloud
from tests.placement.world import claim, uuid_of

PROVIDERS = ["h1", "h2", "h3"]
VCPUS = 40
"""Of each provider: less than the clients ask for."""
KINDS = ("quota", "commitment", "allocation", "read")
HEADERS = {"X-Auth-Token": TOKEN, "OpenStack-API-Version": "placement 1.39"}
_READS = {
    "api": ("/v1/clusters/current", f"/v1/domains/{DOMAIN}/projects"),
    "placement": ("/allocation_candidates?resources=VCPU:1&limit=10",),
}
Send = Callable[..., requests.Response]
"""(`api` or `placement`, method, path, json=..., headers=...): sends a request to whichever host there is."""


class Clients:
    """Each thread has projects and consumers of its own."""

    def __init__(self, cloud: Cloud, send: Send, *, may_fail: bool = False) -> None:
        """`may_fail`: whether requests may stay without an answer, or have a 502, 503 or 504."""
        self.cloud = cloud
        self._send = send
        self._may_fail = may_fail
        self.counts: Counter[str] = Counter()
        """How often each kind of request was answered as it should be."""
        self.problems: list[str] = []
        """Answers that there should not be."""
        self.failed: list[str] = []
        """Requests of which nobody knows whether they had their effect."""
        self.quotas: dict[str, set[int]] = {}
        """What each project's quota may be now."""
        self.committed: dict[int, str] = {}
        """Commitments by id, with their project."""
        self.unknown_commitments = 0
        """So many more there may be."""
        self.allocated: dict[str, set[int]] = {}
        """What each consumer may have now; 0 is nothing."""
        self._left_alone: set[str] = set()
        """Projects and consumers with a request that nobody answered: it may still take effect, at any time."""
        self._over = threading.Event()
        self._quota = 1000

    def set_up(self) -> None:
        """Waits for the first scrapes, and makes quota and providers."""
        rows = self.cloud.rows
        unscraped = "SELECT 1 FROM project_services WHERE scraped_at IS NULL"
        capacity = f"SELECT 1 FROM az_resources WHERE raw_capacity = {CAPACITY}"
        known = f"SELECT 1 FROM project_services HAVING COUNT(*) = {len(PROJECTS)}"
        eventually("projects are scraped", lambda: rows(known) and not rows(unscraped))
        eventually("capacity is known", lambda: rows(capacity))
        services = [{"type": "compute", "resources": [{"name": "cores", "quota": 10**12}]}]
        self._must("api", "PUT", f"/v1/domains/{DOMAIN}", {"domain": {"services": services}})
        for name in PROVIDERS:
            self._must("placement", "POST", "/resource_providers", {"name": name, "uuid": uuid_of(name)})
            body = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": VCPUS}}}
            self._must("placement", "PUT", f"/resource_providers/{uuid_of(name)}/inventories", body)

    def _must(self, process: str, method: str, path: str, body: Any) -> None:
        answer = self._send(process, method, path, json=body, headers=HEADERS)
        assert answer.ok, answer.text

    @contextlib.contextmanager
    def at_work(self) -> Iterator["Clients"]:
        """They work for as long as the block lasts."""
        works: list[Callable[[], None]] = [partial(self._set_quotas, PROJECTS[number::2]) for number in range(2)]
        works += [self._commit, partial(self._allocate, "a"), partial(self._allocate, "b"), self._read]
        threads = [threading.Thread(target=self._repeat, args=[work]) for work in works]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._over.set()
            for thread in threads:
                thread.join(150)

    def wait_for_more(self, number: int = 10) -> None:
        """Until so many more requests of each kind were answered."""
        wanted = {kind: self.counts[kind] + number for kind in KINDS}
        eventually(
            f"{number} more answers of each kind",
            lambda: self.problems or all(self.counts[kind] >= count for kind, count in wanted.items()),
        )
        assert self.problems == [], self.problems

    def _repeat(self, work: Callable[[], None]) -> None:
        try:
            while not self._over.wait(0.01):
                work()
        except Exception as error:
            self.problems.append(repr(error))
            raise

    def _ask(
        self, kind: str, process: str, method: str, path: str, body: Any = None, *, may_be_gone: bool = False
    ) -> requests.Response | None:
        """Returns the answer if there is one: a success, 409 (no capacity), or 404 for what may be gone."""
        try:
            answer = self._send(process, method, path, json=body, headers=HEADERS)
            text, has_failed = f"{answer.status_code} {answer.text}", answer.status_code in (502, 503, 504)
        except requests.RequestException as error:
            text, has_failed = repr(error), True
        else:
            if answer.ok or answer.status_code == 409 or (may_be_gone and answer.status_code == 404):
                self.counts[kind] += 1
                return answer
        list_ = self.failed if has_failed and self._may_fail else self.problems
        list_.append(f"{kind}: {method} {path}: {text}")
        self._wait_until_answered(process)
        return None

    def _wait_until_answered(self, process: str) -> None:
        """What is left alone is never used again, so an outage must not cost more of it than one for each thread."""
        path = _READS[process][0]
        while not self._over.wait(0.1):
            with contextlib.suppress(requests.RequestException):
                if self._send(process, "GET", path, headers=HEADERS).ok:
                    return

    def _set_quotas(self, projects: list[str]) -> None:
        for project in projects:
            if project in self._left_alone:
                continue
            self._quota += 1
            quota = self._quota
            resources = [{"name": "cores", "quota": quota}]
            body = {"project": {"services": [{"type": "compute", "resources": resources}]}}
            answer = self._ask("quota", "api", "PUT", f"/v1/domains/{DOMAIN}/projects/{project}", body)
            if answer is None:
                self._left_alone.add(project)
                self.quotas.setdefault(project, {0}).add(quota)
            else:
                assert answer.status_code == 202, answer.text
                self.quotas[project] = {quota}

    def _commit(self) -> None:
        project = random.choice(PROJECTS)
        wanted = {"service_type": "compute", "resource_name": "cores", "availability_zone": "az-one"}
        body = {"commitment": {**wanted, "amount": 1, "duration": "1 year"}}
        path = f"/v1/domains/{DOMAIN}/projects/{project}/commitments/new"
        answer = self._ask("commitment", "api", "POST", path, body)
        if answer is None:
            self.unknown_commitments += 1
        elif answer.ok:
            self.committed[answer.json()["commitment"]["id"]] = project

    def _allocate(self, name: str) -> None:
        """A consumer gets VCPUs, or gives them back; a 409 means that the provider is full."""
        consumer, provider = f"{name}{random.randrange(30)}", random.choice(PROVIDERS)
        if consumer in self._left_alone:
            return
        path = f"/allocations/{uuid_of(consumer)}"
        may_have = self.allocated.get(consumer, {0})
        if may_have != {0}:
            amount = 0
            answer = self._ask("allocation", "placement", "DELETE", path, may_be_gone=0 in may_have)
        else:
            amount = random.randint(1, 12)
            resources: dict[str, Any] = {provider: {"VCPU": amount}}
            body = claim(None, **resources)
            answer = self._ask("allocation", "placement", "PUT", path, body)
        if answer is None:
            self._left_alone.add(consumer)
            self.allocated.setdefault(consumer, {0}).add(amount)
        elif answer.ok or answer.status_code == 404:
            self.allocated[consumer] = {amount}

    def _read(self) -> None:
        for process, paths in _READS.items():
            for path in paths:
                self._ask("read", process, "GET", path)
