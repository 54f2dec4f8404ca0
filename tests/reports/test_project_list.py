"""Each process keeps the projects of domains, and yet shows those of the database."""

import threading
from collections.abc import Callable, Iterator

import pytest

from limes.projects import discovery
from limes.projects.queries import ProjectRow, domain, projects_of_domain
from limes.reports import project_list
from limes.reports.project_list import find_list
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, World
from tests.reports.test_all_projects import add_projects
from tests.support.statements import count_statements

DOMAINS = (GERMANY, FRANCE)
CORES = f"/v1/domains/{GERMANY}/projects?resource=cores"


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    project_list._kept.clear()
    yield
    project_list._kept.clear()


def listed(world: World, uuid: str) -> list[ProjectRow]:
    found = world.engine.snapshot(lambda: find_list(world.engine, uuid))
    return list(found[1].rows.values()) if found else []


def stored(world: World, uuid: str) -> list[ProjectRow]:
    of_domain = domain(world.engine, uuid)
    assert of_domain is not None
    return projects_of_domain(world.engine, of_domain)


@pytest.mark.sql
@pytest.mark.parametrize(
    "change",
    [
        f"UPDATE projects SET name = 'hamburg' WHERE uuid = '{BERLIN}'",
        f"UPDATE projects SET parent_uuid = '{DRESDEN}' WHERE uuid = '{BERLIN}'",
        f"UPDATE projects SET uuid = '{BERLIN}2' WHERE uuid = '{BERLIN}'",
        f"UPDATE projects SET has_bursting = TRUE WHERE uuid = '{DRESDEN}'",
        f"UPDATE projects SET name = CASE uuid WHEN '{BERLIN}' THEN 'dresden' ELSE 'berlin' END WHERE uuid <> '{PARIS}'",
        "UPDATE projects SET name = name || parent_uuid, parent_uuid = ''",
        f"DELETE FROM projects WHERE uuid = '{PARIS}'",
        "INSERT INTO projects (uuid, name, parent_uuid, domain_id, has_bursting) VALUES ('', '\"', '', 2, FALSE)",
        f"UPDATE domains SET name = 'other' WHERE uuid = '{GERMANY}'",
    ],
)
def test_a_change_is_shown_at_once(make: Callable[..., World], change: str) -> None:
    world = make(burst_multiplier=0.5)
    before = [listed(world, uuid) for uuid in DOMAINS]
    world.run(change)
    after = [listed(world, uuid) for uuid in DOMAINS]
    assert after == [stored(world, uuid) for uuid in DOMAINS]
    assert after != before
    shown = [world.get(f"/v1/domains/{uuid}/projects") for uuid in DOMAINS]
    project_list._kept.clear()
    assert shown == [world.get(f"/v1/domains/{uuid}/projects") for uuid in DOMAINS]


@pytest.mark.sql
def test_projects_are_read_once(world: World) -> None:
    first, second, third = (count_statements(world.engine, lambda: world.get(CORES)) for _ in range(3))
    assert first == second + 1
    assert second == third


@pytest.mark.sql
def test_a_snapshot_stays_with_its_state(world: World) -> None:
    """Although another thread has seen the next one, and kept it."""

    def change_and_list() -> None:
        world.run("UPDATE projects SET name = 'hamburg' WHERE name = 'berlin'")
        seen.append(listed(world, GERMANY))

    def work() -> None:
        seen.append(listed(world, GERMANY))
        other = threading.Thread(target=change_and_list)
        other.start()
        other.join()
        seen.append(listed(world, GERMANY))

    seen: list[list[ProjectRow]] = []
    world.engine.snapshot(work)
    names = [[project.name for project in projects] for projects in (*seen, listed(world, GERMANY))]
    old, new = ["berlin", "dresden"], ["hamburg", "dresden"]
    assert names == [old, new, old, new]


@pytest.mark.parametrize(("most", "kept"), [(3, ["germany", "france"]), (2, ["france"]), (0, [])])
def test_only_so_many_are_kept(world: World, monkeypatch: pytest.MonkeyPatch, most: int, kept: list[str]) -> None:
    monkeypatch.setattr(project_list, "MOST", most)
    for _ in range(2):
        assert [listed(world, uuid) for uuid in DOMAINS] == [stored(world, uuid) for uuid in DOMAINS]
    assert [each.name for each in project_list._kept] == kept


@pytest.mark.sql
def test_projects_of_other_domains_are_not_shown(world: World) -> None:
    """Figures of one resource are read together with those of projects that were added in between."""
    add_projects(world.engine, 3)
    discovery.upsert_projects(world.engine, 1, [("zz", "last", GERMANY)])
    world.run(
        "INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)"
        " SELECT p.id, r.id, 7, 5, 1 FROM projects p CROSS JOIN resources r"
        " WHERE p.uuid IN ('zz', 'z-000001') AND r.name = 'ram'"
    )
    for query in ("resource=cores", "resource=ram"):
        by_page = world.get(f"/v1/domains/{GERMANY}/projects?{query}&limit=10")
        assert [project["name"] for project in by_page["projects"]] == ["berlin", "dresden", "last"]
        assert world.get(f"/v1/domains/{GERMANY}/projects?{query}")["projects"] == by_page["projects"]
