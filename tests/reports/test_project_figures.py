"""Figures of projects that are kept from one reading to the next: they are those that a new process would show."""

from collections.abc import Generator, Iterator
from typing import Any

import pytest

from limes.backends import AZUsage
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.kernel.errors import Unavailable
from limes.reports import collector_state as queries
from limes.reports import project_figures
from limes.reports.data_metrics import DataMetrics
from tests.collector.lab import Lab
from tests.reports.test_data_metrics import fill
from tests.support.databases import MigratedUrlFactory

pytestmark = pytest.mark.sql
PLUGINS = {"compute": "compute", "volume": "object-store"}
_OF_BERLIN = "project_id = (SELECT id FROM projects WHERE name = 'berlin')"
_CORES = f"{_OF_BERLIN} AND resource_id = (SELECT id FROM resources WHERE name = 'cores')"
_RAM = f"{_OF_BERLIN} AND resource_id = (SELECT id FROM resources WHERE name = 'ram')"
_COMMITMENT = (
    "INSERT INTO project_commitments (uuid, project_id, resource_id, az, amount, duration, status, created_at,"
    " creator_uuid, creator_name, confirmed_at, expires_at, transfer_status) SELECT 'new', {project}, r.id, 'az-two', 5,"
    " '1 year', 'confirmed', 1, '', '', 1, 4e9, '' FROM resources r WHERE r.name = 'cores'"
)
CHANGES = (
    f"UPDATE project_resources SET quota = 9 WHERE {_CORES}",
    f"UPDATE project_resources SET quota = NULL WHERE {_CORES}",
    f"UPDATE project_resources SET backend_quota = -1 WHERE {_CORES}",
    f"UPDATE project_resources SET usage = 70 WHERE {_CORES}",
    f"UPDATE project_resources SET physical_usage = 5 WHERE {_CORES}",
    f"UPDATE project_resources SET physical_usage = NULL WHERE {_RAM}",
    # 3 and 4 before
    f"UPDATE project_az_resources SET usage = 7 - usage WHERE az IN ('az-one', 'az-two') AND {_CORES}",
    f"UPDATE project_az_resources SET usage = 0 WHERE az = 'az-two' AND {_CORES}",
    f"UPDATE project_az_resources SET az = 'unknown' WHERE az = 'az-two' AND {_CORES}",
    f"DELETE FROM project_az_resources WHERE az = 'any' AND {_RAM}",
    "UPDATE project_commitments SET amount = amount + 1 WHERE id = 1",
    "UPDATE project_commitments SET expires_at = expires_at - 250.0000001 WHERE id = 1",
    "UPDATE project_commitments SET az = 'az-two' WHERE id = 2",
    "UPDATE project_commitments SET status = 'expired' WHERE id = 3",
    "UPDATE project_commitments SET status = 'pending' WHERE id = 4",
    "DELETE FROM project_commitments WHERE id = 1",
    _COMMITMENT.format(project="(SELECT id FROM projects WHERE name = 'paris')"),
    'UPDATE project_az_resources SET subresources = \'[{"hypervisor": "kvm"}]\''
    f" WHERE resource_id = (SELECT id FROM resources WHERE name = 'cores') AND {_OF_BERLIN}",
    f"UPDATE project_az_resources SET subresources = '' WHERE {_CORES}",
    'UPDATE project_az_resources SET subresources = \'[{"name": "old", "objects": 3, "size_bytes": 5}]\''
    f" WHERE resource_id = (SELECT id FROM resources WHERE name = 'capacity') AND {_OF_BERLIN}",
    "UPDATE projects SET name = 'bonn' WHERE name = 'dresden'",
    "UPDATE projects SET uuid = 'p-bonn' WHERE name = 'bonn'",
    "UPDATE domains SET name = 'deutschland' WHERE name = 'germany'",
    "INSERT INTO projects (id, uuid, name, parent_uuid, domain_id, has_bursting)"
    " SELECT 90, 'p-lyon', 'lyon', '', id, {no} FROM domains WHERE name = 'france';"
    "INSERT INTO project_resources (project_id, resource_id, quota, usage) SELECT 90, id, 4, 5 FROM resources",
    _COMMITMENT.format(project="90").replace("'new'", "'newer'"),
    "UPDATE az_resources SET raw_capacity = 1000",
    "UPDATE domain_resources SET quota = 30",
    "UPDATE resources SET name = 'memory' WHERE name = 'ram'",
    "DELETE FROM projects WHERE name = 'berlin'",
    "DELETE FROM resources WHERE name = 'cores'",
    "DELETE FROM projects",
)
"""Each shows."""


@pytest.fixture
def cloud(database_url_with: MigratedUrlFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    monkeypatch.setattr(project_figures, "_GROUP", 2)
    monkeypatch.setattr(project_figures, "LISTED", {"compute": "cores", "object-store": "capacity"})
    engine = Engine(database_url_with(limes_migrations))
    lab = fill(engine)
    lab.compute.usage["dresden"] = {"cores": {"az-one": AZUsage(2)}}
    lab.clock.advance(3600)
    lab.scrape_all()
    lab.volume.usage["berlin"] = {"capacity": {"any": AZUsage(1)}}
    lab.scrape_all("volume")
    yield lab
    engine.close()


def text(metrics: DataMetrics) -> str:
    return b"".join(metrics.read().parts()).decode()


def new(lab: Lab, **options: Any) -> DataMetrics:
    return DataMetrics(lab.engine, lab.catalog, plugins=PLUGINS, clock=lab.clock, **options)


def execute(lab: Lab, statement: str) -> None:
    no = "FALSE" if lab.engine.dialect == "postgresql" else "0"
    for one in statement.replace("{no}", no).split(";"):
        lab.execute(one)


@pytest.mark.parametrize("skip_zero", [False, True])
def test_each_change_is_shown_as_by_a_new_process(cloud: Lab, skip_zero: bool) -> None:
    kept = new(cloud, projects=project_figures.ProjectFigures(skip_zero=skip_zero))
    before = text(kept)
    for change in CHANGES:
        execute(cloud, change)
        after = text(kept)
        assert after == text(new(cloud, projects=project_figures.ProjectFigures(skip_zero=skip_zero))), change
        assert after != before, change
        before = after


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one with each group of projects that is rendered."""
    found: list[int] = []

    class Counted(project_figures._Lines):
        def __init__(self, *args: Any) -> None:
            found.append(1)
            super().__init__(*args)

    monkeypatch.setattr(project_figures, "_Lines", Counted)
    return found


def test_what_has_not_changed_is_not_rendered(cloud: Lab, rendered: list[int]) -> None:
    kept = new(cloud)
    blocks = kept.read().blocks
    of_all = len(rendered)
    assert of_all > 1
    assert kept.read().blocks == blocks
    cloud.execute("UPDATE project_az_resources SET physical_usage = 3, metered_usage = 4")  # which is not shown
    kept.read()
    assert len(rendered) == of_all
    execute(cloud, CHANGES[0])
    kept.read()
    assert len(rendered) == of_all + 1


def test_a_reading_that_fails_in_the_middle(cloud: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, read = new(cloud), queries.project_commitments
    kept.read()

    def fail(engine: Engine) -> Generator[Any, None, None]:
        yield next(read(engine))
        raise Unavailable("the database has gone")

    for change in CHANGES[:4]:
        execute(cloud, change)
        with monkeypatch.context() as patch:
            patch.setattr(queries, "project_commitments", fail)
            with pytest.raises(Unavailable):
                kept.read()
    assert text(kept) == text(new(cloud))


def test_what_is_kept_is_small(cloud: Lab) -> None:
    for number in range(100, 400):
        cloud.execute(
            "INSERT INTO projects (id, uuid, name, parent_uuid, domain_id, has_bursting) VALUES (%s, %s, 'many', '', 1, %s)",
            *(number, f"many-{number}", False),
        )
    cloud.execute(
        "INSERT INTO project_resources (project_id, resource_id, quota, usage)"
        " SELECT p.id, r.id, 1, 1 FROM projects p CROSS JOIN resources r WHERE p.name = 'many'"
    )
    found = new(cloud).read()
    assert found.gzip_size * 4 < found.size
    assert max(block.size for block in found.blocks) * 20 < found.size, "so that one block is in memory as text"
