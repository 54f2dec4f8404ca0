"""Two `limes metrics` behind HAProxy, as docs/metrics.md has it: when the first one is lost, no series is, and none is there twice."""

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.db.migrate import limes_migrations
from tests.setup.needs import HAPROXY
from tests.support.databases import MigratedUrlFactory
from tests.support.limes_process import ROOT, limes_server, run_here
from tests.support.machine import require
from tests.support.processes import ServerProcess, free_port, http_answers
from tests.support.prometheus import PrometheusServer

pytestmark = pytest.mark.long
DOMAIN = {"id": "d", "name": "acme", "projects": [{"id": "p", "name": "shop", "parent_id": "d"}]}
PROXY = "192.0.2.10:8084"
HOSTS = ("192.0.2.11:8084", "192.0.2.12:8084")


@pytest.fixture
def configuration(database_url_with: MigratedUrlFactory, tmp_path: Path) -> Path:
    """Of a cloud in which everything was collected."""
    resources = {"capacity": {"usage": 7, "quota": 20}}
    document = {
        "availability_zones": ["az-one"],
        "database": {"url": database_url_with(limes_migrations)},
        "discovery": {"method": "static", "params": {"domains": [DOMAIN]}},
        "services": [{"service_type": "s", "type": "static", "params": {"area": "s", "resources": resources}}],
        "collector": {"listen": f"127.0.0.1:{free_port()}"},
        "identity": {"method": "sample", "sample": {}},
    }
    file = tmp_path / "limes.yaml"
    file.write_text(yaml.safe_dump(document))
    done = run_here("collect", "--once", "--config", file)
    assert done.returncode == 0, done.stderr
    return file


@pytest.fixture
def processes(configuration: Path) -> Iterator[dict[str, ServerProcess]]:
    """The two, by their addresses."""
    document, started = yaml.safe_load(configuration.read_text()), {}
    try:
        for number in (1, 2):
            listen = f"127.0.0.1:{free_port()}"
            file = configuration.with_name(f"limes{number}.yaml")
            file.write_text(yaml.safe_dump({**document, "metrics": {"listen": listen}}))
            log = configuration.with_name(f"metrics{number}.log")
            started[listen] = limes_server("metrics", "--config", file, listen=listen, log=log).start()
        yield started
    finally:
        for process in started.values():
            process.stop(timeout=200)


@pytest.fixture
def proxy(processes: dict[str, ServerProcess], tmp_path: Path) -> Iterator[str]:
    """Its address."""
    (text,) = re.findall(r"```text\n(listen limes_metrics\n.*?)```", (ROOT / "docs" / "metrics.md").read_text(), re.S)
    listen = f"127.0.0.1:{free_port()}"
    for documented, real in zip((PROXY, *HOSTS), (listen, *processes), strict=True):
        assert documented in text
        text = text.replace(documented, real)
    config = tmp_path / "haproxy.cfg"
    config.write_text(f"global\n    log stdout format raw local0\n{text}")
    ready = http_answers(f"http://{listen}/healthcheck")
    with ServerProcess([require(HAPROXY), "-db", "-f", config], ready=ready, log=tmp_path / "haproxy.log"):
        yield listen


@pytest.fixture
def prometheus(proxy: str, tmp_path: Path) -> Iterator[PrometheusServer]:
    folder = tmp_path / "prometheus"
    folder.mkdir()
    targets: dict[str, Any] = {"limes-api": [], "limes-placement": [], "limes-collector": [], "limes-metrics": [proxy]}
    server = PrometheusServer(folder, targets)
    with server.process:
        yield server


def test_the_spare_takes_over(prometheus: PrometheusServer, processes: dict[str, ServerProcess]) -> None:
    usage = 'limes_project_usage{project="shop"}'
    prometheus.wait_for(f"count({usage} == 7) == 1")
    first, _ = processes.values()
    first.signal(signal.SIGKILL)
    assert prometheus.wait_for("changes(process_start_time_seconds{job='limes-metrics'}[5m]) == 1"), "the spare answers"
    prometheus.wait_for(f"count({usage} == 7) == 1")
    assert prometheus.query('count(count_over_time(limes_project_usage{project="shop"}[5m])) == 1'), (
        "and nobody else did"
    )
