"""The figures as metrics: names, labels, values, odd names, zeros, and a database that fails in the middle."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from limes.backends import UNLIMITED, AZCapacity, AZUsage
from limes.catalog.catalog import BehaviorRule
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.reports import collector_state as queries
from limes.reports import data_figures as figures
from limes.reports.data_metrics import FAMILIES, DataMetrics
from limes.reports.project_figures import ProjectFigures
from tests.collector.lab import Lab
from tests.commitments.in_lab import add
from tests.support.databases import MigratedUrlFactory

BERLIN = {"domain": "germany", "domain_id": "d-germany", "project": "berlin", "project_id": "p-berlin"}
OTHERS = figures.FAMILIES
"""In tests/reports/test_further_metrics.py."""
CORES = {"service": "compute", "resource": "cores"}


@pytest.fixture
def url(database_url_with: MigratedUrlFactory) -> str:
    return database_url_with(limes_migrations)


@pytest.fixture
def cloud(url: str) -> Iterator[Lab]:
    engine = Engine(url)
    yield fill(engine)
    engine.close()


def fill(engine: Engine) -> Lab:
    rule = BehaviorRule(resource="compute/cores", overcommit_factor=1.5)
    lab = Lab(engine, catalog_options={"behaviors": [rule]})
    lab.discover()
    lab.compute.usage["berlin"] = {
        "cores": {"az-one": AZUsage(3), "az-two": AZUsage(4)},
        "ram": {"any": AZUsage(512, 100)},
    }
    lab.compute.quota["berlin"] = {"cores": 8, "ram": UNLIMITED}
    lab.capacitors["nova"].capacity = {
        "compute": {"cores": {"az-one": AZCapacity(101, 50), "az-two": AZCapacity(100)}, "ram": {}}
    }
    lab.scrape_all()
    lab.scrape_capacity()
    lab.execute(
        "UPDATE domain_resources SET quota = 20 WHERE domain_id = (SELECT id FROM domains WHERE name='germany')"
    )
    add(lab, 1, 2, status="confirmed", expires_at=lab.now + 500)
    add(lab, 2, 3, status="confirmed", expires_at=lab.now + 400)
    add(lab, 3, 1, status="confirmed", expires_at=lab.now + 900, az="az-two")
    add(lab, 4, 9, status="planned", expires_at=lab.now + 300)
    add(lab, 5, 77, status="expired", expires_at=lab.now + 100)
    add(lab, 6, 6, status="confirmed", expires_at=lab.now + 950, az="unknown")
    return lab


def render(lab: Lab, **options: Any) -> str:
    return b"".join(DataMetrics(lab.engine, lab.catalog, **options).read().parts()).decode()


def samples(lab: Lab, **options: Any) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Values by name and labels; that a series occurs twice would fail here."""
    found = {}
    for family in text_string_to_metric_families(render(lab, **options)):
        assert family.type == "gauge"
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


def value(found: dict[tuple[str, frozenset[tuple[str, str]]], float], name: str, **labels: Any) -> float | None:
    return found.get((name, frozenset(labels.items())))


def test_every_family_is_there_with_its_labels(cloud: Lab) -> None:
    found = samples(cloud)
    for name, (labels, _) in FAMILIES.items() - OTHERS.items():
        seen = {frozenset(dict(pairs)) for sample, pairs in found if sample == name}
        assert seen == {frozenset(labels)}, name
    assert {name for name, _ in found} <= FAMILIES.keys()


def test_figures(cloud: Lab) -> None:
    found = samples(cloud)
    for name, labels, expected in (
        ("limes_cluster_capacity", CORES, 301),  # 201 * 1.5, rounded down once
        ("limes_cluster_capacity", {"service": "compute", "resource": "ram"}, 0),
        ("limes_cluster_capacity", {"service": "volume", "resource": "capacity"}, 0),
        ("limes_cluster_capacity_per_az", {**CORES, "availability_zone": "az-one"}, 151),
        ("limes_cluster_usage_per_az", {**CORES, "availability_zone": "az-one"}, 50),
        ("limes_cluster_usage_per_az", {**CORES, "availability_zone": "az-two"}, None),
        ("limes_domain_quota", {**CORES, "domain": "germany", "domain_id": "d-germany"}, 20),
        ("limes_project_quota", {**BERLIN, **CORES}, 8),
        ("limes_project_backendquota", {**BERLIN, **CORES}, 8),
        ("limes_project_backendquota", {**BERLIN, "service": "compute", "resource": "ram"}, -1),
        ("limes_project_usage", {**BERLIN, **CORES}, 7),
        ("limes_project_physical_usage", {**BERLIN, "service": "compute", "resource": "ram"}, 100),
        ("limes_project_physical_usage", {**BERLIN, **CORES}, None),
        ("limes_project_usage_per_az", {**BERLIN, **CORES, "availability_zone": "az-two"}, 4),
        ("limes_project_committed_per_az", {**BERLIN, **CORES, "availability_zone": "az-one", "state": "active"}, 5),
        ("limes_project_committed_per_az", {**BERLIN, **CORES, "availability_zone": "az-one", "state": "planned"}, 9),
        ("limes_project_used_and_or_committed_per_az", {**BERLIN, **CORES, "availability_zone": "az-one"}, 5),
        ("limes_project_used_and_or_committed_per_az", {**BERLIN, **CORES, "availability_zone": "az-two"}, 4),
        ("limes_project_used_and_or_committed_per_az", {**BERLIN, **CORES, "availability_zone": "unknown"}, 6),
        ("limes_project_commitment_min_expires_at", {**BERLIN, **CORES}, cloud.now + 300),
        ("limes_unit_multiplier", {"service": "compute", "resource": "ram"}, 1024**2),
        ("limes_unit_multiplier", CORES, 1),
    ):
        assert value(found, name, **labels) == expected, (name, labels)


def test_zeros_of_projects_can_be_left_out(cloud: Lab) -> None:
    full, sparse = samples(cloud), samples(cloud, projects=ProjectFigures(skip_zero=True))
    assert {key: amount for key, amount in full.items() if amount or "project" not in key[0]} == sparse
    assert len(sparse) < len(full)


def test_odd_names_do_not_break_the_format(cloud: Lab) -> None:
    odd = 'a "quoted"\\name\nof {two=lines}, ü'
    cloud.execute("UPDATE projects SET name = %s WHERE name = 'berlin'", odd)
    assert value(samples(cloud), "limes_project_usage", **{**BERLIN, "project": odd}, **CORES) == 7


def test_what_is_gone_is_gone(cloud: Lab) -> None:
    cloud.execute("DELETE FROM projects WHERE name = 'berlin'")
    cloud.execute("UPDATE resources SET is_known = %s WHERE name = 'ram'", False)
    cloud.execute("INSERT INTO resources (service_id, name, is_known) VALUES (1, 'floppies', %s)", False)
    text = render(cloud)
    assert "berlin" not in text
    assert "floppies" not in text
    assert "dresden" in text


def test_a_project_that_vanishes_in_the_middle_is_there_as_a_whole(
    url: str, cloud: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read is one state of the database, however long it takes."""
    read = queries.project_az_usage

    def vanish_first(engine: Engine) -> Iterator[tuple[int, str, str, str]]:
        other = Engine(url)
        other.execute("DELETE FROM projects WHERE name = 'berlin'")
        other.close()
        return read(engine)

    monkeypatch.setattr(queries, "project_az_usage", vanish_first)
    text = render(cloud)
    assert re.search(r'limes_project_usage_per_az\{.*project="berlin"', text)
    monkeypatch.undo()
    assert "berlin" not in render(cloud)
