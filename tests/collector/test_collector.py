"""The collector as a whole: all jobs, its HTTP server, its end."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from limes.app.composition.collector import build_collector
from limes.app.context import Cluster
from limes.backends import AZCapacity, AZUsage, BackendError
from limes.collector.runner import Collector
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.kernel.errors import StartupError
from limes.lifetimes.settings import SubresourceLifetimeSettings
from tests.collector.lab import (
    BERLIN,
    COMPUTE,
    DRESDEN,
    PARIS,
    VOLUME,
    FakeCapacitor,
    FakeKeystone,
    FakeService,
    NoJitter,
)
from tests.collector.process import cluster, settings
from tests.support.databases import MigratedUrlFactory
from tests.support.processes import ServerProcess

pytestmark = pytest.mark.process


class Cloud:
    """Fake backends, a database, and as many collectors as a test starts."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = Engine(url)
        self.compute, self.volume = FakeService(COMPUTE), FakeService(VOLUME)
        self.capacitor, self.keystone = FakeCapacitor(), FakeKeystone(BERLIN, DRESDEN, PARIS)
        self.capacitor.capacity = {"compute": {"cores": {"az-one": AZCapacity(100)}}}
        self.compute.usage["berlin"] = {"cores": {"az-one": AZUsage(3)}}

    @property
    def parts(self) -> Cluster:
        return cluster(self.compute, self.volume, self.capacitor, self.keystone)

    @contextmanager
    def collector(
        self, grace: float = 10.0, update: dict[str, Any] | None = None, **options: Any
    ) -> Iterator[Collector]:
        """With other settings of the collector, and an update of all settings."""
        configured = settings(**options).model_copy(update=update)
        collector = build_collector(self.engine, self.parts, configured, jitter=NoJitter())
        collector.start()
        try:
            yield collector
        finally:
            collector.stop(grace)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.engine.connection():
            return self.engine.rows(sql)

    @property
    def jobs(self) -> list[str]:
        """Those for the whole cluster: only PostgreSQL keeps sums."""
        names = "commitment-use commitments consistency discovery expire-requests growth history lifetimes metering"
        sums = ["sums"] if self.engine.dialect == "postgresql" else []
        return [*names.split(), *sums, "temporary-quotas"]

    def wait_until(self, sql: str, expected: list[Any], timeout: float = 200.0) -> None:
        deadline = time.monotonic() + timeout
        while (found := self.rows(sql)) != expected:
            assert time.monotonic() < deadline, f"{sql}: still {found}"
            time.sleep(0.02)


SCRAPED = "SELECT COUNT(*) FROM project_services WHERE scraped_at IS NOT NULL"
PENDING = "SELECT COUNT(*) FROM project_services WHERE next_push_at IS NOT NULL"
JOBS_RUN = "SELECT COUNT(*) FROM jobs WHERE ran_at IS NOT NULL OR name = 'growth'"
"""The growth job waits a quarter of a minute more if it comes before discovery."""


@pytest.fixture
def cloud(database_url_with: MigratedUrlFactory) -> Iterator[Cloud]:
    cloud = Cloud(database_url_with(limes_migrations))
    yield cloud
    cloud.engine.close()


def test_a_job_is_the_initiator_of_what_it_changes(cloud: Cloud) -> None:
    cloud.compute.quota["berlin"] = {"cores": 8}
    with cloud.collector(lease=300):
        cloud.wait_until(SCRAPED, [(6,)])
    found = cloud.rows("SELECT initiator_id, initiator_name, request_id FROM quota_history")
    assert found == [("", "scrape-usage:compute", "job-scrape-usage:compute")]


def test_from_an_empty_database_to_quota_in_force(cloud: Cloud) -> None:
    cloud.compute.default_quota = {"cores": 99, "ram": 0}
    with cloud.collector(lease=300):
        cloud.wait_until(SCRAPED, [(6,)])
        cloud.wait_until(PENDING, [(0,)])
        cloud.wait_until("SELECT raw_capacity FROM az_resources", [(100,)])
        cloud.wait_until(JOBS_RUN, [(len(cloud.jobs),)])
    assert sorted(cloud.compute.reports) == ["berlin", "dresden", "paris"]
    assert cloud.compute.quota == {name: {"cores": 0, "ram": 0} for name in ("berlin", "dresden", "paris")}
    assert cloud.rows("SELECT name, error FROM jobs ORDER BY 1") == [(name, "") for name in cloud.jobs]


def test_metrics_and_healthcheck(cloud: Cloud) -> None:
    cloud.volume.error = BackendError("no answer")
    expected = {
        'limes_resource_scrapes{service_name="fake-nova",service_type="compute",task_outcome="success"} 3.0',
        'limes_resource_scrapes{service_name="fake-nova",service_type="compute",task_outcome="failure"} 0.0',
        'limes_resource_scrapes{service_name="fake-cinder",service_type="volume",task_outcome="failure"} 3.0',
        'limes_capacity_scrapes{capacitor_id="nova",task_outcome="success"} 1.0',
        'limes_capacity_scrapes{capacitor_id="nova",task_outcome="failure"} 0.0',
        'limes_keystone_syncs{task_outcome="success"} 1.0',
        'limes_cron_consistency_runs{task_outcome="success"} 1.0',
        'limes_quota_pushes_pending{service="compute",service_name="fake-nova"} 0.0',
        'limes_scrape_errors{service="volume",service_name="fake-cinder"} 3.0',
        'limes_unscraped_projects{service="volume",service_name="fake-cinder"} 3.0',
        'limes_unscraped_projects{service="compute",service_name="fake-nova"} 0.0',
        'limes_tasks_due{service="compute",task="scrape-usage"} 0.0',
        'limes_task_lag_seconds{service="",task="discovery"} 0.0',
        'limes_task_duration_seconds_count{service="compute",task="scrape-usage"} 3.0',
        'limes_task_duration_seconds_count{service="",task="discovery"} 1.0',
        'limes_quota_drift_found_total{service_name="fake-nova",service_type="compute"} 0.0',
        'limes_lease_takeovers_total{task="scrape-usage"} 0.0',
        'limes_capacity_stale{capacitor="nova"} 0.0',
        'limes_capacity_plugin_metrics_ok{capacitor="nova"} 1.0',
        'limes_plugin_metrics_ok{domain="germany",domain_id="d-germany",project="berlin",project_id="p-berlin",'
        'service="compute"} 1.0',
        'limes_plugin_metrics_ok{domain="germany",domain_id="d-germany",project="berlin",project_id="p-berlin",'
        'service="volume"} 0.0',
    }
    with cloud.collector(lease=300) as collector:
        for path in ("/healthcheck", "/metrics"):
            head = requests.head(f"http://127.0.0.1:{collector.port}{path}", timeout=200)
            assert (head.status_code, head.content, int(head.headers["content-length"]) > 0) == (200, b"", True)
        health = requests.get(f"http://127.0.0.1:{collector.port}/healthcheck", timeout=200)
        assert (health.status_code, health.text) == (200, "ok\n")
        address = f"http://127.0.0.1:{collector.port}/metrics"
        assert requests.get(address, timeout=200).headers["content-encoding"] == "gzip"
        plain = requests.get(address, timeout=200, headers={"Accept-Encoding": "identity"})
        assert (plain.status_code, "content-encoding" in plain.headers) == (200, False)
        deadline = time.monotonic() + 100
        while True:
            lines = requests.get(f"http://127.0.0.1:{collector.port}/metrics", timeout=200).text.splitlines()
            if not (missing := expected.difference(lines)):
                break
            assert time.monotonic() < deadline, missing
            time.sleep(0.1)
    scraped_at = {line.partition(" ")[0] for line in lines if "est_scraped_at{" in line}
    labels = '{service="compute",service_name="fake-nova"}'
    assert scraped_at == {f"limes_oldest_scraped_at{labels}", f"limes_newest_scraped_at{labels}"}


@pytest.mark.sql
def test_several_collectors_share_the_work(cloud: Cloud) -> None:
    with cloud.collector(lease=300), cloud.collector(lease=300), cloud.collector(lease=300):
        cloud.wait_until(SCRAPED, [(6,)])
        cloud.wait_until(JOBS_RUN, [(len(cloud.jobs),)])
    assert sorted(cloud.compute.reports) == ["berlin", "dresden", "paris"]
    assert sorted(cloud.volume.reports) == ["berlin", "dresden", "paris"]


def test_a_backend_that_hangs_holds_up_neither_others_nor_the_end(cloud: Cloud) -> None:
    released = threading.Event()
    cloud.compute.during = lambda: released.wait(280)
    with cloud.collector(grace=0.2, lease=300):
        cloud.wait_until(SCRAPED, [(3,)])
        begun = time.monotonic()
    assert time.monotonic() - begun < 200, "else the collector has waited for the thread that hangs"
    assert cloud.rows(
        "SELECT DISTINCT s.type FROM project_services ps JOIN services s ON s.id = ps.service_id"
        " WHERE ps.scraped_at IS NULL"
    ) == [("compute",)]
    released.set()  # else the threads would wake up in the middle of other tests
    # the last worker leaves its report to a thread of that name
    while threads := [thread for thread in threading.enumerate() if thread.name == "scrape-usage:compute"]:
        threads[0].join(100)


def test_an_address_that_is_taken_is_refused(cloud: Cloud) -> None:
    with cloud.collector() as collector:
        second = cloud.collector(listen=f"127.0.0.1:{collector.port}")
        with pytest.raises(StartupError, match=f"collector.listen: cannot listen on 127.0.0.1:{collector.port}"):
            second.__enter__()


def process(cloud: Cloud, tmp_path: Path, hang_in: str, grace: float = 5.0) -> ServerProcess:
    log = tmp_path / "collector.log"
    return ServerProcess(
        [sys.executable, "-m", "tests.collector.process", cloud.url, hang_in, str(grace)],
        ready=lambda: ("hanging in" if hang_in != "nothing" else "collector started") in log.read_text(),
        log=log,
    )


@pytest.mark.sql
def test_a_collector_that_is_killed_in_the_middle_of_a_scrape_loses_nothing(cloud: Cloud, tmp_path: Path) -> None:
    killed = process(cloud, tmp_path, "report_usage").start()
    killed.signal(signal.SIGKILL)
    killed.stop()
    assert cloud.rows("SELECT COUNT(*) FROM project_resources pr JOIN resources r ON r.id = pr.resource_id"
                      " WHERE r.name = 'cores'") == [(0,)]  # fmt: skip
    with cloud.collector():
        cloud.wait_until(SCRAPED, [(6,)])
        cloud.wait_until(PENDING, [(0,)])
    assert sorted(set(cloud.compute.reports)) == ["berlin", "dresden", "paris"]


def test_a_collector_that_is_killed_in_the_middle_of_a_push_loses_nothing(cloud: Cloud, tmp_path: Path) -> None:
    cloud.compute.default_quota = {"cores": 0, "ram": 0}
    with cloud.collector():
        cloud.wait_until(SCRAPED, [(6,)])
        cloud.wait_until(PENDING, [(0,)])
    now = time.time()
    with cloud.engine.connection():
        cloud.engine.execute(
            "UPDATE project_resources SET quota = 5 WHERE resource_id = (SELECT id FROM resources WHERE name = 'cores')"
        )
        cloud.engine.execute(
            "UPDATE project_services SET quota_desynced_at = %s, next_push_at = %s"
            " WHERE service_id = (SELECT id FROM services WHERE type = 'compute')",
            [now, now],
        )
    killed = process(cloud, tmp_path, "set_quota").start()
    killed.signal(signal.SIGKILL)
    killed.stop()
    assert cloud.rows(PENDING) == [(3,)]
    with cloud.collector():
        cloud.wait_until(PENDING, [(0,)])
    assert cloud.compute.quota == {name: {"cores": 5, "ram": 0} for name in ("berlin", "dresden", "paris")}


@pytest.mark.parametrize("hang_in", ["nothing", "report_usage"])
def test_sigterm_ends_it_cleanly(cloud: Cloud, tmp_path: Path, hang_in: str) -> None:
    collector = process(cloud, tmp_path, hang_in, grace=0.5).start()
    collector.signal(signal.SIGTERM)
    code = collector.stop(timeout=200)
    assert code == 0, collector.log_text()
    text = collector.log_text()
    assert "collector stopped" in text
    assert text.endswith("ended\n")
    assert "Traceback" not in text
    assert ("stopped in the middle of: scrape-usage:compute" in text) == (hang_in != "nothing")


def test_what_is_about_the_process_has_a_path_of_its_own(cloud: Cloud) -> None:
    """So that what all collectors show alike is scraped once, from `limes metrics`."""
    with cloud.collector(lease=300) as collector:
        address = f"http://127.0.0.1:{collector.port}/metrics"
        own = requests.get(f"{address}/process", timeout=200).text
        everything = requests.get(address, timeout=200).text
    assert {"limes_resource_scrapes", "limes_backend_circuit_state", "process_cpu_seconds_total"} <= names_of(own)
    assert names_of(own) < names_of(everything)
    state = {"limes_tasks_due", "limes_plugin_metrics_ok", "limes_alerts", "limes_oldest_scraped_at"}
    assert state <= names_of(everything)
    assert not state & names_of(own)


def test_the_figures_of_the_cloud_are_there_if_wanted(cloud: Cloud) -> None:
    figures = {"limes_project_usage", "limes_cluster_capacity", "limes_data_metrics_age_seconds"}
    for expose in (True, False):
        with cloud.collector(lease=300, data_metrics={"expose": expose}) as collector:
            address = f"http://127.0.0.1:{collector.port}/metrics"
            cloud.wait_until(SCRAPED, [(6,)])
            everything = requests.get(address, timeout=200)
            assert everything.headers["content-encoding"] == "gzip"
            own = requests.get(f"{address}/process", timeout=200).text
        assert figures & names_of(everything.text) == (figures if expose else set())
        assert not figures & names_of(own)


def names_of(text: str) -> set[str]:
    return {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}


def test_a_collector_follows_what_is_configured(cloud: Cloud) -> None:
    one = AZUsage(1, subresources=({"id": "a", "name": "web", "flavor": "small", "status": "ACTIVE"},))
    cloud.compute.usage["berlin"] = {"cores": {"az-one": one}, "gpus": {"az-one": one}}
    followed = SubresourceLifetimeSettings.model_validate({"resources": [{"resource": "compute/cores"}]})
    with cloud.collector(lease=300, update={"subresource_lifetimes": followed}):
        cloud.wait_until(SCRAPED, [(6,)])
        cloud.wait_until(JOBS_RUN, [(len(cloud.jobs),)])
    query = "SELECT resource_name, subresource_id, name, attributes, ended_at FROM subresource_lifetimes"
    assert cloud.rows(query) == [("cores", "a", "web", '{"flavor":"small"}', None)]
