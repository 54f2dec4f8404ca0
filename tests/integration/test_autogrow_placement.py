"""Quota that grows by itself, end to end: our collector with the plugin `placement`, and our Placement, which enforces it."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from limes.app.composition.cluster import build_cluster, open_cloud
from limes.app.composition.collector import build_collector
from limes.app.settings import parse
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.placement.migrations import placement_migrations
from tests.backends.placement_cloud import PlacementCloud, our_placement
from tests.collector.lab import NoJitter
from tests.support.clock import FrozenClock
from tests.support.databases import MigratedUrlFactory

HOUR = 3600.0
SHOP, LAB = "1a000000000000000000000000000001", "1a000000000000000000000000000002"
ZONE = "a0000000-0000-4000-8000-000000000001"


@pytest.fixture
def placement(database_url_with: MigratedUrlFactory) -> Iterator[PlacementCloud]:
    """Our Placement, with 100 cores in az-one."""
    with our_placement(database_url_with(placement_migrations)) as found:
        yield found


class Cloud:
    """A collector for two projects, and what they take from Placement."""

    def __init__(self, engine: Engine, placement: PlacementCloud, overrides: Path) -> None:
        self.placement = placement
        self.clock = FrozenClock()
        self.overrides = overrides
        overrides.write_text("{}")
        self.host = placement.provider("host", {"VCPU": {"total": 100}}, aggregates=(ZONE,))
        settings = parse(configuration(placement.url), {}, overrides.parent)
        cluster = build_cluster(settings, open_cloud(settings))
        self.collector = build_collector(engine, cluster, settings, self.clock, NoJitter())
        self._done: list[str] = []
        self.collector.listeners.append(lambda job, seconds: self._done.append(job))

    def work(self, hours: float = 0.0) -> None:
        """Lets time pass, and does what is due then, and what becomes due by it within half a minute."""
        for seconds in (hours * HOUR, 30):
            self.clock.advance(seconds)
            before = -1
            while before < len(self._done):
                before = len(self._done)
                for loop in self.collector.loops:
                    loop.drain()

    def limit(self, project: str = SHOP) -> int | None:
        """What Placement enforces."""
        quotas = self.placement.request("GET", f"/quotas/{project}").json()["quotas"]
        limit: int | None = quotas["VCPU"]["limit"]
        return limit

    def take(self, cores: int) -> str:
        """Makes a server of the shop; answers its UUID."""
        return self.placement.allocate(SHOP, self.host, VCPU=cores)

    def is_refused(self, cores: int) -> bool:
        """Whether Placement says that the shop may not have so many more."""
        body = {
            "allocations": {self.host: {"resources": {"VCPU": cores}}},
            "project_id": SHOP,
            "user_id": "tester",
            "consumer_generation": None,
            "consumer_type": "INSTANCE",
        }
        headers = {"X-Auth-Token": "admin", "OpenStack-API-Version": "placement 1.39"}
        url = f"{self.placement.url}/allocations/{uuid.uuid4()}"
        answer = requests.put(url, json=body, headers=headers, timeout=120)
        return answer.status_code == 409 and answer.json()["errors"][0]["code"] == "placement.quota.exceeded"

    def delete(self, server: str) -> None:
        self.placement.request("DELETE", f"/allocations/{server}")


def configuration(url: str) -> dict[str, Any]:
    """As an operator would write it."""
    access = {"endpoint": url, "auth": {"type": "token", "token": "admin"}, "availability_zones": {"az-one": ZONE}}
    cores = {"resources": {"cores": "VCPU"}}
    projects = [{"id": id_, "name": name, "parent_id": "d-acme"} for id_, name in ((SHOP, "shop"), (LAB, "lab"))]
    return {
        "availability_zones": ["az-one"],
        "identity": {"method": "sample"},
        "discovery": {
            "method": "static",
            "params": {"domains": [{"id": "d-acme", "name": "acme", "projects": projects}]},
        },
        "services": [
            {
                "service_type": "compute",
                "type": "placement",
                "params": {"area": "compute", **cores, **access, "quota": {"store": "placement"}},
            }
        ],
        "capacitors": [{"id": "hosts", "type": "placement", "params": {"service": "compute", **cores, **access}}],
        "quota_distribution_configs": [
            {
                "resource": "compute/.*",
                "model": "autogrow",
                "autogrow": {
                    "growth_multiplier": 1.2,
                    "project_base_quota": 10,
                    "usage_data_retention_period": "48h",
                    "minor_change_percent": 0,
                },
            }
        ],
        "quota_overrides_path": "overrides.yaml",
    }


@pytest.fixture
def cloud(database_url_with: MigratedUrlFactory, placement: PlacementCloud, tmp_path: Path) -> Iterator[Cloud]:
    engine = Engine(database_url_with(limes_migrations))
    yield Cloud(engine, placement, tmp_path / "overrides.yaml")
    engine.close()


def test_quota_follows_usage_and_is_enforced(cloud: Cloud) -> None:
    first = cloud.take(20)
    cloud.work()
    assert (cloud.limit(), cloud.limit(LAB)) == (24, 10), "a fifth more than it uses; and the base quota"

    cloud.take(4)
    assert cloud.is_refused(1), "usage has grown to the quota"
    cloud.work(hours=1)
    assert cloud.limit() == 24, "it has not used all of it for the whole retention period yet"
    cloud.work(hours=47)
    assert cloud.limit() == 24
    assert cloud.is_refused(1)
    cloud.work(hours=2)
    assert cloud.limit() == 28, "now it has"
    cloud.take(4)
    assert cloud.is_refused(1), "a burst beyond it"

    cloud.work(hours=1)
    cloud.delete(first)
    cloud.work(hours=1)
    assert cloud.limit() == 28, "what was deleted can be created again"
    again = cloud.take(20)
    cloud.work(hours=1)
    cloud.delete(again)
    cloud.work(hours=1)
    assert cloud.limit() == 28
    cloud.work(hours=49)
    assert cloud.limit() == 10, "8 and a fifth more, and the base quota for the rest"


def test_an_override_is_enforced_as_soon_as_its_file_is_there(cloud: Cloud) -> None:
    cloud.take(20)
    cloud.work()
    cloud.overrides.write_text("acme: {shop: {compute: {cores: 50}}, nobody: {compute: {cores: 1}}}\n")
    cloud.work()
    assert cloud.limit() == 50
    cloud.overrides.write_text("acme: {shop: {compute: {cores: 7}}}\n")
    cloud.work()
    assert cloud.limit() == 20, "not below what is used"
    assert cloud.is_refused(1)
    cloud.overrides.write_text("acme: {shop: {compute: {cores: -1}}}\n")
    cloud.work(hours=1)
    assert cloud.limit() == 20, "a file that cannot be used changes nothing"
    cloud.overrides.write_text("{}\n")
    cloud.work()
    assert cloud.limit() == 24


def test_when_there_is_not_enough(cloud: Cloud) -> None:
    """100 cores: 90 are used by the shop, which would get 108."""
    cloud.take(90)
    cloud.work()
    assert (cloud.limit(), cloud.limit(LAB)) == (100, 0)
