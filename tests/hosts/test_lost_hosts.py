"""A host is paused, or cut off from everything, for longer than its leases last, and comes back: nothing is lost, written
twice or oversold, and the other host goes on meanwhile."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.faults.backend import FakeBackend
from tests.faults.house import eventually
from tests.hosts.clients import Clients
from tests.hosts.hosts import LEASE, Cloud, Host
from tests.hosts.invariants import check_backends_in_the_end, check_nothing_is_lost, check_nothing_is_oversold
from tests.hosts.proxies import PROCESSES, HAProxy
from tests.hosts.release import this_release
from tests.support.cable import Cable, cable
from tests.support.databases import UrlFactory

pytestmark = [pytest.mark.timeout(600)]
SECONDS = float(os.environ.get("LIMES_LOST_SECONDS", 2 * LEASE))
"""How long the host is away, at least."""
PATIENCE = 5
"""Seconds until the proxy gives up on an answer."""


class Lab:
    """Two hosts and a proxy. All that the second one says to the proxy and to the database goes through cables."""

    def __init__(self, cloud: Cloud, cables: contextlib.ExitStack, database_url: str) -> None:
        url = urlsplit(database_url)
        assert url.port is not None
        to_database = cables.enter_context(cable(("127.0.0.1", url.port)))
        through = database_url.replace(f":{url.port}/", f":{to_database.port}/")
        self.cloud = cloud
        self.whole = Host(cloud, 1, this_release())
        self.lost = Host(cloud, 2, this_release(), LIMES_DATABASE_URL=through)
        self.cables: list[Cable] = [to_database]
        for name in PROCESSES:
            self.cables.append(cables.enter_context(cable((self.lost.address, cloud.ports[name]))))
            self.lost.reached_at[name] = f"127.0.0.1:{self.cables[-1].port}"
        self.proxy = HAProxy(cloud, [self.whole, self.lost], PATIENCE)

    @contextlib.contextmanager
    def trouble(self, kind: str) -> Iterator[None]:
        """The second host is paused, or cut off, for the block."""
        if kind == "paused":
            self.lost.signal(signal.SIGSTOP)
        else:
            for one in self.cables:
                one.cut()
        try:
            yield
        finally:
            self.lost.signal(signal.SIGCONT)
            for one in self.cables:
                one.mend()


@pytest.fixture
def lab(backend: FakeBackend, postgres_url_factory: UrlFactory, tmp_path: Path) -> Iterator[Lab]:
    url = postgres_url_factory()
    backend.delay = 0.05
    cloud = Cloud(tmp_path, url, backend)
    cloud.upgrade(this_release())
    with contextlib.ExitStack() as cables, ThreadPoolExecutor(2) as pool:
        lab = Lab(cloud, cables, url)
        try:
            for started in [pool.submit(host.start) for host in (lab.whole, lab.lost)]:
                started.result()
            with lab.proxy.process:
                yield lab
        finally:
            lab.whole.stop()
            lab.lost.stop()


@pytest.mark.parametrize("kind", ["paused", "cut off"])
def test_nothing_is_lost_or_oversold(lab: Lab, kind: str) -> None:
    clients = Clients(lab.cloud, lab.proxy.send, may_fail=True)
    clients.set_up()
    eventually("the proxy uses both hosts", lambda: lab.proxy.uses(lab.whole) and lab.proxy.uses(lab.lost))
    with clients.at_work():
        clients.wait_for_more()
        with lab.trouble(kind):
            leases_are_over = time.monotonic() + SECONDS
            eventually("the proxy leaves the host", lambda: not lab.proxy.uses(lab.lost))
            while time.monotonic() < leases_are_over:
                clients.wait_for_more(2)
        eventually("the proxy uses the host again", lambda: lab.proxy.uses(lab.lost))
        clients.wait_for_more()
    check_backends_in_the_end(lab.cloud)
    check_nothing_is_lost(clients)
    check_nothing_is_oversold(lab.cloud)
