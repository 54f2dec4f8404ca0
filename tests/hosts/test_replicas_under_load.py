"""Two hosts with a hot standby that lags, stops, comes back and is promoted: no request fails, and nobody misses what
was written, whichever host and server answers."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.faults.backend import FakeBackend
from tests.faults.house import eventually
from tests.hosts.clients import HEADERS, PROVIDERS, Clients
from tests.hosts.hosts import DOMAIN, PROJECTS, Cloud, Host
from tests.hosts.proxies import PROCESSES, HAProxy
from tests.hosts.release import this_release
from tests.placement.world import claim, uuid_of
from tests.setup.needs import POSTGRESQL
from tests.support.machine import require
from tests.support.postgres_replica import Replicated, replicated_postgres

pytestmark = [pytest.mark.postgresql, pytest.mark.timeout(600)]
READERS = 4


@pytest.fixture
def pair() -> Iterator[Replicated]:
    require(POSTGRESQL)
    with replicated_postgres() as pair:
        yield pair


@pytest.fixture
def cloud(pair: Replicated, backend: FakeBackend, tmp_path: Path) -> Iterator[Cloud]:
    section = {"url": pair.url(pair.primary), "read_urls": [pair.url(pair.standby)], "max_replica_lag": 2}
    cloud = Cloud(tmp_path, pair.url(pair.primary), backend, database=section)
    cloud.upgrade(this_release())
    yield cloud
    cloud.engine.close()


@pytest.fixture
def proxy(cloud: Cloud) -> Iterator[HAProxy]:
    hosts = [Host(cloud, number, this_release()) for number in (1, 2)]
    with ThreadPoolExecutor(2) as pool:
        try:
            for started in [pool.submit(host.start) for host in hosts]:
                started.result()
            proxy = HAProxy(cloud, hosts)
            with proxy.process:
                Clients(cloud, proxy.send).set_up()
                yield proxy
        finally:
            for host in hosts:
                host.stop()


class Readers:
    """Each writes, and reads at once what it has written. They keep cookies, as browsers and Nova do."""

    def __init__(self, proxy: HAProxy) -> None:
        self._proxy = proxy
        self.problems: list[str] = []
        self.rounds: Counter[int] = Counter()
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=[number]) for number in range(READERS)]

    def __enter__(self) -> "Readers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(150)

    def wait_for_more(self, rounds: int = 5) -> None:
        """Until each of them has done so many more."""
        wanted = {number: self.rounds[number] + rounds for number in range(READERS)}
        eventually(
            "the readers go on",
            lambda: self.problems or all(self.rounds[number] >= count for number, count in wanted.items()),
        )
        assert self.problems == []

    def _work(self, number: int) -> None:
        session = requests.Session()
        session.trust_env = False
        session.headers.update(HEADERS)
        try:
            while not self._over.is_set():
                self._quota(session, number, 1000 + self.rounds[number])
                self._allocations(session, number, 1 + self.rounds[number] % 5)
                self.rounds[number] += 1
        except Exception as error:
            self.problems.append(repr(error))
            raise

    def _quota(self, session: requests.Session, number: int, quota: int) -> None:
        path = f"/v1/domains/{DOMAIN}/projects/{PROJECTS[number]}"
        body = {"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": quota}]}]}}
        self._ask(session, "api", "PUT", path, body)
        for _ in range(2):
            (service,) = self._ask(session, "api", "GET", path).json()["project"]["services"]
            found = next(one["quota"] for one in service["resources"] if one["name"] == "cores")
            self._expect(found, quota, path)

    def _allocations(self, session: requests.Session, number: int, amount: int) -> None:
        path, provider = f"/allocations/{uuid_of(f'reader{number}')}", PROVIDERS[number % len(PROVIDERS)]
        resources: dict[str, Any] = {provider: {"VCPU": amount}}
        self._ask(session, "placement", "PUT", path, claim(None, **resources))
        found = self._ask(session, "placement", "GET", path).json()["allocations"][uuid_of(provider)]["resources"]
        self._expect(found, {"VCPU": amount}, path)
        self._ask(session, "placement", "DELETE", path)
        self._expect(self._ask(session, "placement", "GET", path).json()["allocations"], {}, path)

    def _ask(self, session: requests.Session, process: str, method: str, path: str, body: Any = None) -> Any:
        url = f"http://127.0.0.1:{self._proxy.ports[process]}{path}"
        answer = session.request(method, url, json=body, timeout=200)
        if not answer.ok:
            self.problems.append(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer

    def _expect(self, found: Any, wanted: Any, path: str) -> None:
        if found != wanted:
            self.problems.append(f"{path}: {found} instead of {wanted}")


def reads_of(cloud: Cloud, pair: Replicated) -> float:
    """How many requests the standby has answered, at both hosts."""
    total = 0.0
    for number in (1, 2):
        for name in PROCESSES:
            text = requests.get(f"http://127.0.0.{number}:{cloud.ports[name]}/metrics", timeout=100).text
            lines = [line for line in text.splitlines() if line.startswith("limes_database_reads_total{")]
            total += sum(float(line.split()[-1]) for line in lines if f":{pair.standby.port}" in line)
    return total


def ask_until_the_standby_answers(proxy: HAProxy, cloud: Cloud, pair: Replicated) -> None:
    """By somebody who writes nothing."""
    before = reads_of(cloud, pair)

    def is_read() -> bool:
        for process, path in (("api", "/v1/domains"), ("placement", "/resource_classes")):
            answer = proxy.send(process, "GET", path, headers=HEADERS)
            assert answer.ok, answer.text
        return reads_of(cloud, pair) > before

    eventually("the standby answers", is_read)


def test_a_standby_in_trouble(proxy: HAProxy, cloud: Cloud, pair: Replicated) -> None:
    standby = pair.standby
    with Readers(proxy) as readers:
        readers.wait_for_more()
        ask_until_the_standby_answers(proxy, cloud, pair)
        standby.configure("recovery_min_apply_delay", "300ms")
        readers.wait_for_more()
        pair.pause()
        paused_until = time.monotonic() + 3  # longer than the bound
        while time.monotonic() < paused_until:
            readers.wait_for_more(1)
        pair.resume()
        standby.configure("recovery_min_apply_delay", "0")
        standby.crash()
        readers.wait_for_more()
        standby.start()
        ask_until_the_standby_answers(proxy, cloud, pair)
        readers.wait_for_more()
        standby.promote()
        readers.wait_for_more()
    assert readers.problems == []
