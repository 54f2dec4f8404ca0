"""Each critical alert about what scrapes report fires when a backend says so, is told once, and ends with its cause."""

import pytest
from msgspec import structs

from limes.backends import AZUsage, BackendError
from limes.collector.scrape_usage import claim_scrapes
from tests.api.world import FRANCE, GERMANY, SERVICES, World
from tests.collector.lab import FakeService, NoJitter, scrape_project
from tests.commitments.commitments import PATHS
from tests.quota.quotas import request_quotas
from tests.reports.test_critical_commitments import firing, metric, remembered, tell
from tests.support.limes import with_values

DOWN = ("backend_unreachable", "critical")
HOUR = 3600
EVERYWHERE = ("/v1", f"/v1/domains/{GERMANY}", f"/v1/domains/{FRANCE}", *PATHS.values())


@pytest.fixture
def cloud(world: World) -> World:
    """Nothing in it is worth an alert, and the job that tells people has run before."""
    request_quotas(world, PATHS["dresden"], {"cores": 60})  # it uses 31
    assert tell(world) == firing(world) == []
    return world


def scrape(world: World, compute: FakeService) -> None:
    """All projects are scraped when they are due again."""
    world.clock.advance(HOUR)
    settings = with_values(world.limes.settings, {"collector.authoritative": False})
    backends = structs.replace(world.limes.backends, quota={"compute": compute})
    limes = structs.replace(world.limes, backends=backends, settings=settings, jitter=NoJitter())
    claimed = claim_scrapes(limes, "compute", 10)
    for task in claimed:
        scrape_project(limes, task)
    assert len(claimed) == 3


@pytest.fixture
def compute() -> FakeService:
    return FakeService(SERVICES[0])


def use(compute: FakeService, amount: int) -> None:
    compute.usage = {"berlin": {"ram": {"any": AZUsage(amount)}}}


def test_a_quota_is_used_up(cloud: World, compute: FakeService) -> None:
    """Berlin has 1,024 MiB, of which 95 % are 972.8."""
    for amount, expected in (
        (819, []),
        (973, [("quota_used", "critical")]),
        (1025, [("usage_above_quota", "critical")]),
    ):
        use(compute, amount)
        scrape(cloud, compute)
        assert firing(cloud) == tell(cloud) == expected
    request_quotas(cloud, PATHS["berlin"], {"ram": 2048})
    assert (firing(cloud), tell(cloud), remembered(cloud)) == ([], [], [])


def seen(world: World) -> list[list[str]]:
    """The kinds of alerts that each level shows."""
    return [[alert["kind"] for alert in world.get(f"{path}/alerts")["alerts"]] for path in EVERYWHERE]


@pytest.mark.sql
def test_a_backend_is_down(cloud: World, compute: FakeService) -> None:
    scrape(cloud, compute)
    compute.error = BackendError("no answer")
    scrape(cloud, compute)
    cloud.clock.advance(HOUR - 1)
    assert (firing(cloud), tell(cloud)) == ([], [])
    cloud.clock.advance(1)
    assert seen(cloud) == [[DOWN[0]]] * len(EVERYWHERE)
    assert (metric(cloud), tell(cloud)) == ({(*DOWN, "compute"): 1}, [DOWN])
    scrape(cloud, compute)
    assert (seen(cloud)[0], tell(cloud)) == ([DOWN[0]], [])
    compute.error = None
    scrape(cloud, compute)
    assert (firing(cloud), tell(cloud), remembered(cloud)) == ([], [], [])
