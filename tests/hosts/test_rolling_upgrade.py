"""The previous release's processes and this one's, side by side on the new schema and under load, there and back."""

import json
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.faults.backend import FakeBackend
from tests.hosts.clients import Clients
from tests.hosts.hosts import Cloud, Host
from tests.hosts.invariants import check_backends, check_nothing_is_lost, check_nothing_is_oversold
from tests.hosts.release import Release, previous_release, this_release
from tests.support.databases import UrlFactory


class Balancer:
    """Gives each request to one of the hosts in use, and lets a host finish its requests before it goes."""

    def __init__(self) -> None:
        self._hosts: list[Host] = []
        self._lock = threading.Lock()
        self._local = threading.local()

    def send(self, process: str, method: str, path: str, **options: Any) -> requests.Response:
        """As `Send` of the clients."""
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
            self._local.session.trust_env = False
        with self._lock:
            host = random.choice(self._hosts)
            use = host.used()
            use.__enter__()
        try:
            answer: requests.Response = self._local.session.request(
                method, host.url(process) + path, timeout=200, **options
            )
            return answer
        finally:
            use.__exit__(None, None, None)

    def add(self, host: Host) -> None:
        """Uses it from now on."""
        host.start()
        with self._lock:
            self._hosts.append(host)

    def remove(self, host: Host) -> None:
        """Uses it no more, and stops it."""
        with self._lock:
            self._hosts.remove(host)
        host.wait_until_unused()
        host.stop()

    def stop(self) -> None:
        """Stops all that are left."""
        for host in self._hosts:
            host.stop()


@pytest.fixture
def balancer() -> Iterator[Balancer]:
    balancer = Balancer()
    yield balancer
    balancer.stop()


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return previous_release(tmp_path_factory.mktemp("previous"))


def test_both_ways(
    previous: Release, backend: FakeBackend, balancer: Balancer, postgres_url_factory: UrlFactory, tmp_path: Path
) -> None:
    ours = this_release()
    cloud = Cloud(tmp_path, postgres_url_factory(), backend)
    old, new, old_again = Host(cloud, 1, previous), Host(cloud, 2, ours), Host(cloud, 3, previous)
    cloud.upgrade(previous)
    balancer.add(old)
    clients = Clients(cloud, balancer.send)
    clients.set_up()
    with clients.at_work():
        clients.wait_for_more()
        cloud.upgrade(ours)
        clients.wait_for_more()
        balancer.add(new)
        clients.wait_for_more()
        balancer.remove(old)
        clients.wait_for_more()
        balancer.add(old_again)
        clients.wait_for_more()
        balancer.remove(new)
        clients.wait_for_more()
    assert clients.problems == []
    check_nothing_is_lost(clients)
    check_nothing_is_oversold(cloud)
    check_backends(cloud)
    findings = json.loads(ours.run("doctor", "--json", env={"LIMES_CONFIG": str(cloud.config)}, codes=(0, 1)))
    assert findings["worst"] in ("ok", "warning"), findings
