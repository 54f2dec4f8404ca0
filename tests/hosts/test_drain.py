"""Hosts are rolled one after another, under load and behind a proxy: no request fails, POSTs included."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.faults.backend import FakeBackend
from tests.faults.house import eventually
from tests.hosts.clients import Clients
from tests.hosts.hosts import Cloud, Host
from tests.hosts.invariants import check_backends, check_nothing_is_lost, check_nothing_is_oversold
from tests.hosts.proxies import HAProxy, Nginx
from tests.hosts.release import this_release
from tests.support.databases import UrlFactory

pytestmark = [pytest.mark.timeout(600)]
DRAIN = 15
"""As long as settings allow. The tests end it once the proxy has left the host, however busy the machine is."""


@pytest.fixture
def hosts(backend: FakeBackend, postgres_url_factory: UrlFactory, tmp_path: Path) -> Iterator[list[Host]]:
    """Two, not started, on a database that is ready."""
    clients = {"clients": {"drain": DRAIN}}
    cloud = Cloud(tmp_path, postgres_url_factory(), backend, api=clients, placement=clients)
    cloud.upgrade(this_release())
    hosts = [Host(cloud, number, this_release()) for number in (1, 2)]
    yield hosts
    for host in hosts:
        host.stop()


@pytest.mark.parametrize("kind", [HAProxy, Nginx])
def test_no_request_fails(kind: type[HAProxy] | type[Nginx], hosts: list[Host]) -> None:
    cloud = hosts[0].cloud
    with ThreadPoolExecutor(2) as pool:
        proxy = kind(cloud, hosts)
        for started in [pool.submit(host.start) for host in hosts]:
            started.result()
        with proxy.process:
            clients = Clients(cloud, proxy.send)
            clients.set_up()
            with clients.at_work():
                clients.wait_for_more()
                for host in hosts:
                    host.terminate()
                    if isinstance(proxy, HAProxy):  # nginx asks nobody's health
                        eventually("the proxy leaves the host", lambda host=host: not proxy.uses(host))
                    clients.wait_for_more(5)
                    host.terminate()
                    host.wait_until_ended()
                    clients.wait_for_more(5)
                    host.start()
                    eventually("the proxy uses the host again", lambda host=host: proxy.uses(host))
                    clients.wait_for_more(5)
    assert clients.problems == []
    check_nothing_is_lost(clients)
    check_nothing_is_oversold(cloud)
    check_backends(cloud)
