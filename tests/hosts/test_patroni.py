"""Hosts on a Patroni cluster while its primary moves: by way of HAProxy, of PgBouncer before HAProxy, or of neither.

The cluster is what docs/postgresql.md has operators set up.
"""

import itertools
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import requests

from tests.faults.backend import fake_backend
from tests.faults.house import eventually, longer
from tests.hosts.clients import Clients
from tests.hosts.hosts import TOKEN, Cloud, Host
from tests.hosts.invariants import check_backends, check_nothing_is_lost, check_nothing_is_oversold
from tests.hosts.release import this_release
from tests.hosts.sender import Sender
from tests.placement.world import uuid_of
from tests.support.patroni import PASSWORD, Member, PatroniCluster, patroni_cluster
from tests.support.pgbouncer import pgbouncer

pytestmark = [pytest.mark.faults, pytest.mark.postgresql, pytest.mark.timeout(900), longer]

ROUNDS = min(3, int(os.environ.get("LIMES_FAULT_ROUNDS", "1")))
"""Each takes more than a minute, so that three have to do."""
_HEADERS = {"X-Auth-Token": TOKEN, "OpenStack-API-Version": "placement 1.39"}
_FREE = """
SELECT p.uuid, i.total, COALESCE(SUM(a.used), 0) FROM placement_providers p
JOIN placement_inventories i ON i.provider_id = p.id
LEFT JOIN placement_allocations a ON a.provider_id = p.id AND a.class_id = i.class_id
GROUP BY p.uuid, i.total HAVING i.total > COALESCE(SUM(a.used), 0)"""


@pytest.fixture
def cluster() -> Iterator[PatroniCluster]:
    with patroni_cluster() as cluster:
        yield cluster


@pytest.fixture
def cloud(cluster: PatroniCluster, tmp_path: Path) -> Iterator[Cloud]:
    with fake_backend() as backend:
        cloud = Cloud(tmp_path, cluster.url("with HAProxy"), backend)
        yield cloud
        cloud.engine.close()


@pytest.fixture
def hosts(cloud: Cloud, cluster: PatroniCluster) -> Iterator[list[Host]]:
    release = this_release()
    cloud.upgrade(release)
    with pgbouncer(cluster.haproxy_port, user="limes", password=PASSWORD) as pooler:
        urls = [cluster.url("with HAProxy"), cluster.url("without HAProxy"), pooler.url("limes")]
        hosts = [
            Host(cloud, number, replace(release, env={**release.env, "LIMES_DATABASE_URL": url}))
            for number, url in enumerate(urls, 1)
        ]
        try:
            yield [host.start() for host in hosts]
        finally:
            for host in hosts:
                host.stop()


class Observer:
    """Measures how long Patroni takes to have a new primary, and how much longer each host takes to write again."""

    def __init__(self, hosts: list[Host]) -> None:
        self._hosts = hosts
        self._numbers = itertools.count()

    def watch(self, what: str, disaster: Callable[[], Member]) -> None:
        """Lets it happen; afterwards, each host writes, and its next read sees that."""
        began = time.monotonic()
        primary = disaster()
        elected = time.monotonic()
        figures = [f"{what}: Patroni has {primary.name} after {elected - began:.1f} s"]
        for host in self._hosts:
            number = next(self._numbers)
            eventually("it writes again", lambda host=host, number=number: self._can_write(host, f"after-{number}"))
            figures.append(f"{host.address} writes {time.monotonic() - elected:.1f} s later")
        print(", ".join(figures))

    def _can_write(self, host: Host, name: str) -> bool:
        """Makes a provider, and looks for it. A request that failed before may have made it."""
        sender, uuid = Sender(host), uuid_of(name)
        path = f"/resource_providers/{uuid}"
        body = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 3}}}
        try:
            made = sender.send(
                "placement", "POST", "/resource_providers", json={"name": name, "uuid": uuid}, headers=_HEADERS
            )
            filled = sender.send("placement", "PUT", f"{path}/inventories", json=body, headers=_HEADERS)
            found = sender.send("placement", "GET", f"{_CANDIDATES}&in_tree={uuid}", headers=_HEADERS)
        except requests.RequestException:
            return False
        if 503 in (made.status_code, filled.status_code, found.status_code):
            return False
        assert made.status_code in (200, 409), made.text
        assert filled.status_code in (200, 409), filled.text
        assert len(found.json()["allocation_requests"]) == 1, found.text
        return True


_CANDIDATES = "/allocation_candidates?resources=VCPU:1"


def check_candidates(cloud: Cloud, hosts: list[Host]) -> None:
    """What each Placement finds in its memory is what the database has."""
    free = {uuid: {"VCPU": {"capacity": int(total), "used": int(used)}} for uuid, total, used in cloud.rows(_FREE)}
    assert free
    for host in hosts:
        answer = Sender(host).send("placement", "GET", _CANDIDATES, headers=_HEADERS).json()
        found = {uuid: summary["resources"] for uuid, summary in answer["provider_summaries"].items()}
        assert found == free


def test_the_primary_moves(cluster: PatroniCluster, cloud: Cloud, hosts: list[Host]) -> None:
    clients, observer = Clients(cloud, Sender(*hosts).send, may_fail=True), Observer(hosts)
    clients.set_up()
    with clients.at_work():
        clients.wait_for_more()
        for _ in range(ROUNDS):
            observer.watch("switch-over", cluster.switch_over)
            cluster.wait_until_whole()
            clients.wait_for_more()
            killed = cluster.primary()
            observer.watch("fail-over", cluster.fail_over)
            killed.patroni.start()
            cluster.wait_until_whole()
            clients.wait_for_more()
    print(f"{sum(clients.counts.values())} requests answered, {len(clients.failed)} failed")
    assert clients.problems == []
    check_candidates(cloud, hosts)
    check_nothing_is_lost(clients)
    check_nothing_is_oversold(cloud)
    check_backends(cloud)
