"""Each critical alert fires when what it is about happens for real, and ends when that is over.

With the recommended configuration of Prometheus; all times of its rules are divided by 20.
"""

import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.faults.house import DOMAIN, PROJECTS, FaultHouse, eventually, longer
from tests.setup.needs import HAPROXY
from tests.support.limes_process import ROOT
from tests.support.machine import require
from tests.support.postgres_cluster import PostgresCluster
from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.prometheus import PrometheusServer

pytestmark = longer
SECTIONS = {
    # once the circuit is open, each collector tries one project every 20 seconds: most of the 20 are not tried
    "circuit_breaker": {"failures": 3, "pause": 20, "pause_max": 20},
    "alerts": {"unreachable_after": 10},
}


@contextmanager
def documented_pair(house: FaultHouse) -> Iterator[str]:
    """Two `limes metrics` behind HAProxy as docs/metrics.md has it. Yields the address."""
    (text,) = re.findall(r"```text\n(listen limes_metrics\n.*?)```", (ROOT / "docs" / "metrics.md").read_text(), re.S)
    addresses = [f"127.0.0.1:{free_port()}" for _ in range(3)]
    for documented, real in zip(("192.0.2.10:8084", "192.0.2.11:8084", "192.0.2.12:8084"), addresses, strict=True):
        text = text.replace(documented, real)
    for address in addresses[1:]:
        house.add_metrics(address)
    file = house.folder / "haproxy.cfg"
    file.write_text(f"global\n    log stdout format raw local0\n{text}")
    ready = http_answers(f"http://{addresses[0]}/healthcheck")
    with ServerProcess([require(HAPROXY), "-db", "-f", file], ready=ready, log=house.folder / "haproxy.log"):
        yield addresses[0]


@pytest.fixture
def house(make_house: Callable[..., FaultHouse], cluster: PostgresCluster) -> FaultHouse:
    house = make_house(cluster.url("postgres"), sections=SECTIONS)
    house.start()
    house.set_up_quota()
    return house


@pytest.fixture
def prometheus(house: FaultHouse, tmp_path: Path) -> Iterator[PrometheusServer]:
    """Scrapes the house."""
    folder = tmp_path / "prometheus"
    folder.mkdir()
    with ExitStack() as stack:
        targets = {
            "limes-api": [house.api_url.removeprefix("http://")],
            "limes-placement": [],
            "limes-collector": house.collector_addresses,
            "limes-metrics": [stack.enter_context(documented_pair(house))],
        }
        server = PrometheusServer(folder, targets, quicker=20)
        stack.enter_context(server.process)
        server.wait_for("count(up == 1) == 4")
        yield server


def firing(name: str) -> str:
    return f'ALERTS{{alertname="{name}", alertstate="firing"}}'


@contextmanager
def asking(house: FaultHouse) -> Iterator[None]:
    """Somebody asks the API all the time."""
    over = threading.Event()

    def ask() -> None:
        while not over.wait(0.1):
            house.request("GET", "/v1/domains")

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(200)


def set_quota(house: FaultHouse, quota: int) -> None:
    body = {"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": quota}]}]}}
    answer = house.request("PUT", f"/v1/domains/{DOMAIN}/projects/{PROJECTS[0]}", body)
    assert answer.status_code == 202, answer.text


def alerts(house: FaultHouse, project: str = "") -> list[Any]:
    """Those of cores that are critical."""
    scope = f"/domains/{DOMAIN}/projects/{project}" if project else ""
    found = house.request("GET", f"/v1{scope}/alerts?service=compute&resource=cores").json()["alerts"]
    return [alert for alert in found if alert["severity"] == "critical"]


def kinds(house: FaultHouse, project: str = "") -> set[str]:
    return {alert["kind"] for alert in alerts(house, project)}


def test_a_backend_is_down(house: FaultHouse, prometheus: PrometheusServer) -> None:
    house.backend.hanging = {"compute"}
    eventually("it is known", lambda: "backend_unreachable" in kinds(house))
    (alert,) = [one for one in alerts(house) if one["kind"] == "backend_unreachable"]
    assert alert["failing_projects"] < alert["projects"], "the circuit is open"
    set_quota(house, 7)
    prometheus.wait_for(firing("LimesBackendUnreachable"))
    prometheus.wait_for(firing("LimesQuotaNotInForce"))
    house.backend.hanging = set()
    eventually("it is over", lambda: "backend_unreachable" not in kinds(house))
    prometheus.wait_until_gone(firing("LimesBackendUnreachable"))
    prometheus.wait_until_gone(firing("LimesQuotaNotInForce"))


def test_the_database_is_away(house: FaultHouse, prometheus: PrometheusServer, cluster: PostgresCluster) -> None:
    with asking(house):
        cluster.primary.crash()
        prometheus.wait_for(firing("LimesRequestsFail"))
        prometheus.wait_for(firing("LimesFiguresNotRead"))
        cluster.primary.start()
        prometheus.wait_until_gone(firing("LimesRequestsFail"))
        prometheus.wait_until_gone(firing("LimesFiguresNotRead"))


def test_a_process_is_gone(house: FaultHouse, prometheus: PrometheusServer) -> None:
    house.collectors[0].signal(signal.SIGKILL)
    down = f'{firing("LimesProcessDown")[:-1]}, instance="{house.collector_addresses[0]}"}}'
    prometheus.wait_for(down)
    house.collectors[0].start()
    prometheus.wait_until_gone(down)


def test_a_quota_is_used_up(house: FaultHouse) -> None:
    """The backend uses one core in each project."""
    project = PROJECTS[0]
    eventually("one of none is used", lambda: kinds(house, project) == {"usage_above_quota"})
    set_quota(house, 1)
    eventually("one of one is used", lambda: kinds(house, project) == {"quota_used"})
    set_quota(house, 100)
    eventually("that is enough", lambda: kinds(house, project) == set())
