"""docs/metrics.md has every metric that there is, with its type, its labels and its help; and no other."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY, Metric
from prometheus_client.metrics_core import GaugeMetricFamily

import limes.db.replicas
import limes.placement.index
import limes.quota.handlers
import limes.web.middleware
from limes.app.composition.collector import build_collector
from limes.collector.metrics import circuit_gauge
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.reports import data_metrics as data
from tests.collector.lab import COMPUTE, VOLUME, FakeCapacitor, FakeKeystone, FakeService
from tests.collector.process import cluster, settings

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
MODULES = (limes.web.middleware, limes.db.replicas, limes.quota.handlers, limes.placement.index)


def describe(name: str, kind: str, labels: tuple[str, ...], help_text: str) -> str:
    shown = ", ".join(f"`{label}`" for label in labels) or "-"
    return f"| `{name}` | {kind} | {shown} | {help_text} |"


def of_client(metric: Any) -> str:
    """A row for one of prometheus-client's own metrics."""
    name = metric._name + ("_total" if metric._type == "counter" else "")
    return describe(name, metric._type, metric._labelnames, metric._documentation)


def global_metrics() -> list[Any]:
    """Those of prometheus-client's default registry that are ours."""
    found = REGISTRY._collector_to_names
    return [metric for metric in found if getattr(metric, "_name", "").startswith(("limes", "httpmux", "go_sql"))]


def family_rows(families: Iterable[Metric] | Iterator[GaugeMetricFamily]) -> Iterator[str]:
    for family in families:
        labels = getattr(family, "_labelnames", ())
        kind = "counter" if family.type == "unknown" else family.type
        name = family.name + ("_total" if family.type == "counter" else "")
        yield describe(name, kind, labels, family.documentation)


@pytest.fixture
def rows(tmp_path: Path) -> set[Any]:
    engine = Engine(f"sqlite:///{tmp_path}/limes.db")
    limes_migrations.upgrade(engine)
    parts = cluster(FakeService(COMPUTE), FakeService(VOLUME), FakeCapacitor(), FakeKeystone())
    collector = build_collector(engine, parts, settings(data_metrics={"expose": True}))
    assert MODULES
    found = {of_client(metric) for metric in global_metrics()}
    for source in collector.registry._collector_to_names:
        own = getattr(source, "metrics", None)
        found |= {of_client(metric) for metric in own} if own else set(family_rows(source.collect()))
    found |= set(family_rows(circuit_gauge(dict).collect()))
    found |= {describe(name, "gauge", labels, text) for name, (labels, text) in data.FAMILIES.items()}
    engine.close()
    return found


def test_the_page_has_exactly_what_there_is(rows: set[Any]) -> None:
    page = {line for line in PAGE.read_text().splitlines() if re.match(r"\| `(limes|httpmux|go_sql)_", line)}
    assert sorted(rows - page) == [], "put these rows into docs/metrics.md"
    assert sorted(page - rows) == [], "there is nothing like that any more"


def test_every_metric_says_what_it_means(rows: set[Any]) -> None:
    assert [row for row in rows if len(row.split("|")[-2].strip()) < 10] == []
