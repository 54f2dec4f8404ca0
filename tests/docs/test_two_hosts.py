"""The guide to two hosts, played step by step: real Keystone, PostgreSQL, HAProxy, nginx and Nova, all on loopback."""

import contextlib
import csv
import io
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter

from tests.docs.stage.guide import PATIENCE
from tests.docs.stage.names import HOSTS
from tests.docs.stage.two_hosts import TwoHosts, two_hosts
from tests.setup.needs import CURL, HAPROXY, NGINX, OPENSSL
from tests.support.keystone_server import KeystoneServer
from tests.support.machine import require
from tests.support.postgres import PostgresServer
from tests.support.processes import scratch_folder
from tests.support.real import RealVenv

pytestmark = [pytest.mark.site, pytest.mark.long, pytest.mark.timeout(900)]

PROXIES = {"haproxy": HAPROXY, "nginx": NGINX}
CLIENT = "127.0.0.77"
"""Where requests come from, so that they can be told from those of the proxy."""


@pytest.fixture(scope="module")
def stage(
    real_venv: RealVenv, postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TwoHosts]:
    """All machines but the proxy, set up as the guide says."""
    require(OPENSSL)
    require(CURL)
    keystone = KeystoneServer(real_venv, tmp_path_factory.mktemp("keystone"))
    with keystone.process, scratch_folder("limes-stage-") as folder:
        folder.chmod(0o755)
        with two_hosts(folder, keystone.url, real_venv, postgres) as stage:
            for section in ("1.", "2.", "3.", "4."):
                stage.steps(section=section)
            yield stage


@pytest.fixture(scope="module", params=PROXIES)
def proxy(request: pytest.FixtureRequest, stage: TwoHosts) -> Iterator[str]:
    """One of them, with both hosts behind it."""
    name = str(request.param)
    require(PROXIES[name])
    try:
        stage.steps(name)
        yield name
    finally:
        stage.machines["proxy"].systemctl("stop", name)


@pytest.fixture(scope="module")
def token(stage: TwoHosts) -> str:
    return stage.machines["workstation"].run("openstack token issue -f value -c id").strip()


class _From(HTTPAdapter):
    """Connections from a given address."""

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **options: Any) -> None:
        super().init_poolmanager(connections, maxsize, block, source_address=(CLIENT, 0), **options)


@pytest.fixture
def client(stage: TwoHosts, token: str) -> Iterator[requests.Session]:
    """Keeps its connections, and trusts nobody but our authority."""
    with requests.Session() as session:
        session.trust_env = False  # the machine's own authorities have no say
        session.mount("https://", _From())
        session.verify = stage.authority
        session.headers["X-Auth-Token"] = token
        yield session


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


def answers_without_tls(stage: TwoHosts) -> bool:
    """HAProxy closes such a connection, nginx says 400."""
    with contextlib.suppress(requests.ConnectionError):
        return requests.get(stage.api_url.replace("https", "http") + "/healthcheck", timeout=60).ok
    return False


def test_both_apis_answer_with_tls(proxy: str, stage: TwoHosts, client: requests.Session) -> None:
    stage.steps("any proxy")
    assert client.get(f"{stage.api_url}/v1/clusters/current").json()["cluster"]["id"] == "current"
    assert client.get(f"{stage.placement_url}/resource_providers").status_code == 200
    assert not answers_without_tls(stage)
    assert client.get(f"{stage.api_url}/metrics").status_code == 403


def test_the_client_is_who_it_is(proxy: str, stage: TwoHosts, client: requests.Session) -> None:
    """And not whom it claims to be."""
    answer = client.get(f"{stage.api_url}/v1/clusters/current", headers={"X-Forwarded-For": "203.0.113.9"})
    number = answer.headers["X-Openstack-Request-Id"]

    def lines() -> list[str]:
        logs = [stage.machines[name].log_of("limes-api") for name in HOSTS]
        return [line for log in logs for line in log.splitlines() if number in line and "/v1/clusters" in line]

    wait_for(lambda: bool(lines()), "the access log has the request")
    assert CLIENT in lines()[0]
    assert "203.0.113.9" not in lines()[0]


def idle_connections(stage: TwoHosts) -> int:
    """Open connections to the hosts of the API."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    remote = [fields[2] for fields in (line.split() for line in lines) if fields[3] == "01"]
    return sum(one.endswith(f":{stage.ports.api:04X}") for one in remote)


def reused_connections(stage: TwoHosts) -> int:
    """As HAProxy counts them."""
    text = requests.get(f"http://127.0.0.1:{stage.ports.state}/;csv", timeout=60).text.removeprefix("# ")
    rows = csv.DictReader(io.StringIO(text))
    return sum(int(row["reuse"] or 0) for row in rows if row["pxname"] == "limes_api")


def test_connections_to_the_hosts_are_kept(proxy: str, stage: TwoHosts, client: requests.Session) -> None:
    for _ in range(20):
        client.get(f"{stage.api_url}/v1/clusters/current")
    if proxy == "haproxy":
        assert reused_connections(stage) > 0
    else:
        assert idle_connections(stage) > 0


def test_nova_uses_this_placement(proxy: str, stage: TwoHosts) -> None:
    if not stage.has_nova:
        stage.steps(section="6.")
    stage.steps(section="7.")


class Clients:
    """Some that keep asking both APIs, in the background."""

    def __init__(self, stage: TwoHosts, token: str, *, write: bool) -> None:
        self.answers: list[str] = []
        """What was asked, and the status or the error."""
        self._requests = [("GET", f"{stage.api_url}/v1/clusters/current"), ("GET", f"{stage.placement_url}/traits")]
        if write:
            self._requests.append(("PUT", f"{stage.placement_url}/traits/CUSTOM_TWO_HOSTS"))
        self._headers = {"X-Auth-Token": token, "OpenStack-API-Version": "placement 1.39"}
        self._authority = stage.authority
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(index,)) for index in range(4)]

    def _ask(self, index: int) -> None:
        with requests.Session() as session:
            session.trust_env = False
            session.verify = self._authority
            while not self._stop.is_set():
                method, url = self._requests[index % len(self._requests)]
                index += 1
                try:
                    status = str(session.request(method, url, headers=self._headers, timeout=120).status_code)
                except requests.RequestException as error:
                    status = str(error)
                self.answers.append(f"{method} {url}: {status}")

    def wait_for_more(self, count: int = 60) -> None:
        """Until so many more requests were answered."""
        enough = len(self.answers) + count
        wait_for(lambda: len(self.answers) >= enough, f"{count} more answers")

    def failures(self) -> list[str]:
        return [answer for answer in self.answers if not answer.endswith((": 200", ": 201", ": 204"))]

    def __enter__(self) -> "Clients":
        for thread in self._threads:
            thread.start()
        self.wait_for_more()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


def serves(stage: TwoHosts, name: str) -> bool:
    """Whether a host gets requests from the proxy that are no health checks."""
    return "/traits" in stage.machines[name].log_of("limes-placement").rpartition(MARK)[2]


MARK = "--- from here on ---"


def test_requests_go_on_without_a_host(proxy: str, stage: TwoHosts, token: str) -> None:
    with Clients(stage, token, write=True) as clients:
        stage.steps("the loss of a host")
        clients.wait_for_more()
        log = stage.machines["limes1"].root / "limes-placement.log"
        with log.open("a") as file:
            file.write(MARK)
        stage.steps("the return of a host")
        wait_for(lambda: serves(stage, "limes1"), "the proxy uses the host again")
        clients.wait_for_more()
    assert clients.failures() == []


def test_reads_go_on_without_a_host_that_was_cut_off(proxy: str, stage: TwoHosts, token: str) -> None:
    with Clients(stage, token, write=False) as clients:
        for name in ("limes-api", "limes-placement"):
            stage.machines["limes1"].kill(name)
        clients.wait_for_more()
        stage.machines["limes1"].systemctl("start", "limes-api", "limes-placement")
        clients.wait_for_more()
    assert clients.failures() == []


def test_the_database_takes_nobody_without_tls(stage: TwoHosts) -> None:
    for password, mode in (("wrong", "require"), ("$LIMES_DB_PASSWORD", "disable")):
        url = f"postgresql://limes@db.example.com:5432/limes?sslmode={mode}"
        with pytest.raises(AssertionError, match=r"no pg_hba\.conf entry|password authentication failed"):
            stage.machines["workstation"].run(f'. ./secrets.env\nPGPASSWORD={password} psql -c "" "{url}"')
