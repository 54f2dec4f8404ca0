"""docs/collector.md has everything that there is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from limes.app.composition.collector import build_collector
from limes.audit.settings import AuditSettings
from limes.collector.runner import Collector
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.notifications.settings import NotificationSettings
from tests.collector.lab import COMPUTE, VOLUME, FakeCapacitor, FakeKeystone, FakeService
from tests.collector.process import cluster, settings

PAGE = (Path(__file__).parents[2] / "docs" / "collector.md").read_text(encoding="utf-8")


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    engine = Engine(f"sqlite:///{tmp_path}/limes.db")
    limes_migrations.upgrade(engine)
    parts = cluster(FakeService(COMPUTE), FakeService(VOLUME), FakeCapacitor(), FakeKeystone())
    sinks = {"audit": AuditSettings(sinks=("log",)), "notifications": NotificationSettings(sinks=("log",))}
    configured = settings().model_copy(update=sinks)
    yield build_collector(engine, parts, configured)
    engine.close()


def test_every_job_is_described(collector: Collector) -> None:
    names = {
        loop.job.name.replace(":compute", ":SERVICE").replace(":volume", ":SERVICE").replace(":log", ":SINK")
        for loop in collector.loops
    }
    assert len(names) == 18
    assert [name for name in names if f"| `{name}` |" not in PAGE] == []


def test_every_setting_is_named() -> None:
    missing = [name for name in type(settings().collector).model_fields if name not in PAGE]
    assert missing == []
