"""A collector with all of its jobs, in a cloud where quota of cores follows usage: from nothing to the backend."""

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import structs

from limes.app.composition.collector import build_collector
from limes.app.context import Cluster
from limes.backends import AZCapacity, AZUsage
from limes.catalog.catalog import Catalog
from limes.collector.runner import Collector
from limes.db.migrate import limes_migrations
from tests.autogrow.in_lab import GROWTH, distributions
from tests.collector.lab import COMPUTE, VOLUME, NoJitter
from tests.collector.process import settings
from tests.collector.test_collector import Cloud
from tests.support.clock import FrozenClock
from tests.support.databases import MigratedUrlFactory

RULE = structs.replace(GROWTH, project_base_quota=10)


class GrowingCloud(Cloud):
    """With a clock, 20 cores in one AZ, and berlin, which uses 10 of them."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.clock = FrozenClock()
        self.capacitor.capacity = {"compute": {"cores": {"az-one": AZCapacity(20)}}}
        self.compute.usage["berlin"] = {"cores": {"az-one": AZUsage(10)}}

    @property
    def parts(self) -> Cluster:
        catalog = Catalog(["az-one"], [COMPUTE, VOLUME], distributions=distributions(RULE))
        return structs.replace(super().parts, catalog=catalog)

    def build(self) -> Collector:
        return build_collector(self.engine, self.parts, settings(), self.clock, NoJitter())

    @property
    def enforced(self) -> dict[str, int]:
        """Quota of cores in the backend, by project."""
        return {project: quotas["cores"] for project, quotas in sorted(self.compute.quota.items())}


def work(collector: Collector) -> None:
    """Does all that is due, and what becomes due by it."""
    for _ in range(3):
        for loop in collector.loops:
            loop.drain()


def metric(collector: Collector, name: str, **labels: str) -> Any:
    return collector.registry.get_sample_value(name, labels)


@pytest.fixture
def cloud(database_url_with: MigratedUrlFactory) -> Iterator[GrowingCloud]:
    cloud = GrowingCloud(database_url_with(limes_migrations))
    yield cloud
    cloud.engine.close()


def test_from_nothing_to_the_backend(cloud: GrowingCloud) -> None:
    collector = cloud.build()
    work(collector)
    cloud.clock.advance(10)
    work(collector)
    # 12 for berlin, and 4 each of the 20 that are wanted for the others
    assert cloud.enforced == {"berlin": 12, "dresden": 4, "paris": 4}
    done = {"service": "compute", "resource": "cores"}
    assert metric(collector, "limes_quota_distributions", task_outcome="success", **done) >= 1
    assert metric(collector, "limes_quota_distributions", task_outcome="failure", **done) == 0
    assert metric(collector, "limes_tasks_due", task="distribute-quota", service="compute") == 0
    assert metric(collector, "limes_task_duration_seconds_count", task="distribute-quota", service="") >= 1
    cloud.capacitor.capacity = {"compute": {"cores": {"az-one": AZCapacity(100)}}}
    cloud.clock.advance(900)
    assert metric(collector, "limes_tasks_due", task="distribute-quota", service="compute") == 1
    work(collector)
    assert cloud.enforced == {"berlin": 12, "dresden": 10, "paris": 10}


def test_several_collectors_start_at_once(cloud: GrowingCloud) -> None:
    """Each follows the configured model; one of them has changed it."""
    collectors = [cloud.build() for _ in range(3)]
    for _ in range(2):
        for collector in collectors:
            work(collector)
        cloud.clock.advance(10)
    assert cloud.enforced == {"berlin": 12, "dresden": 4, "paris": 4}
    initiators = cloud.rows("SELECT DISTINCT initiator_name FROM quota_history ORDER BY 1")
    assert initiators == [("distribute-quota",), ("scrape-usage:compute",)]
