"""All real processes on PostgreSQL, and a real Prometheus that scrapes them as we recommend."""

from collections.abc import Iterator

import pytest

from tests.prometheus.busy import make_busy
from tests.prometheus.cloud import Cloud
from tests.support.postgres import PostgresServer
from tests.support.prometheus import PrometheusServer, find_program


@pytest.fixture(scope="module")
def cloud(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """The cloud, running."""
    cloud = Cloud(tmp_path_factory.mktemp("cloud"), postgres.url(postgres.create_database()))
    try:
        cloud.start()
        yield cloud
    finally:
        cloud.stop()


@pytest.fixture(scope="module")
def busy_cloud(cloud: Cloud) -> Cloud:
    """The same, with something of everything."""
    make_busy(cloud)
    return cloud


@pytest.fixture(scope="module")
def prometheus(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    """A Prometheus that scrapes the cloud."""
    find_program("prometheus")
    server = PrometheusServer(tmp_path_factory.mktemp("prometheus"), cloud.targets)
    with server.process:
        yield server
