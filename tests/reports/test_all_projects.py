"""`GET /v1/projects`: the projects of all domains, sent while they are read."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import structs

from limes.catalog.catalog import Catalog, select
from limes.db.engine import Engine
from limes.reports.projects import CHUNK, ProjectDetails, ProjectsReport, stream_projects
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, SERVICES, World

GERMAN, FRENCH = {"id": GERMANY, "name": "germany"}, {"id": FRANCE, "name": "france"}


def add_projects(engine: Engine, count: int, name: str = "many") -> None:
    """Makes projects of France, of which each has one resource: more than one chunk."""

    def work() -> None:
        values = [(f"z-{number:06d}", f"{name}-{number}", FRANCE, 2, False) for number in range(count)]
        for start in range(0, count, 500):
            chunk = values[start : start + 500]
            engine.execute(
                "INSERT INTO projects (uuid, name, parent_uuid, domain_id, has_bursting) VALUES "
                + ", ".join(["(%s, %s, %s, %s, %s)"] * len(chunk)),
                [value for row in chunk for value in row],
            )
        engine.execute(
            "INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)"
            " SELECT p.id, r.id, 7, 7, 1 FROM projects p CROSS JOIN resources r"
            " WHERE p.uuid LIKE 'z-%%' AND r.name = 'cores'"
        )

    engine.atomic(work)


@pytest.mark.parametrize(
    "query", ["", "?service=compute", "?resource=cores&resource=ram", "?area=storage&detail", "?service="]
)
def test_it_is_the_lists_of_the_domains_together(world: World, query: str) -> None:
    german = world.get(f"/v1/domains/{GERMANY}/projects{query}")["projects"]
    french = world.get(f"/v1/domains/{FRANCE}/projects{query}")["projects"]
    whole = world.get(f"/v1/projects{query}")
    placed = [{"domain": GERMAN, **project} for project in german] + [
        {"domain": FRENCH, **project} for project in french
    ]
    assert whole == {"projects": sorted(placed, key=lambda project: project["id"])}
    assert [project["id"] for project in whole["projects"]] == [BERLIN, DRESDEN, PARIS]


@pytest.mark.sql
def test_one_project_a_line(world: World) -> None:
    result = world.request("GET", "/v1/projects")
    assert result.headers["content-type"] == "application/json"
    first, *lines, last = result.text.splitlines()
    assert (first, last) == ('{"projects":[', "]}")
    assert [json.loads(line.removesuffix(","))["id"] for line in lines] == [BERLIN, DRESDEN, PARIS]


def test_no_projects_at_all(world: World) -> None:
    world.run("DELETE FROM projects")
    assert world.get("/v1/projects") == {"projects": []}
    assert world.get("/v1/projects?limit=5") == {"projects": [], "projects_links": []}


@pytest.mark.sql
def test_more_than_one_chunk(world: World) -> None:
    count = 2 * CHUNK + 17
    add_projects(world.engine, count)
    found = world.get("/v1/projects?resource=cores")["projects"]
    assert [project["id"] for project in found[3:]] == [f"z-{number:06d}" for number in range(count)]
    assert all(project["services"][0]["resources"][0]["quota"] == 7 for project in found[3:])


@pytest.fixture
def reading(world: World) -> Iterator[tuple[Iterator[ProjectsReport], list[Any]]]:
    """The stream of all projects of a large cloud, and how many statements were sent so far."""
    add_projects(world.engine, 3 * CHUNK)
    statements = []
    execute = world.engine.db.execute_sql

    def note(sql: Any, *args: Any, **kwargs: Any) -> Any:
        if sql.startswith("SELECT"):
            statements.append(sql)
        return execute(sql, *args, **kwargs)

    world.engine.db.execute_sql = note
    catalog = Catalog(["az-one", "az-two"], SERVICES)
    stream = stream_projects(structs.replace(world.limes, catalog=catalog), ProjectDetails(select(catalog)))
    yield stream, statements
    stream.close()
    world.engine.db.execute_sql = execute


@pytest.mark.sql
def test_only_a_chunk_is_read_ahead(reading: tuple[Iterator[ProjectsReport], list[Any]]) -> None:
    """So that memory is bounded; and the number of statements is, too."""
    stream, statements = reading
    assert len(next(stream).projects) == CHUNK
    of_a_chunk = len(statements)
    assert sum(len(report.projects) for report in stream) == 3 + 2 * CHUNK
    # one looks for outages, as there are projects without figures; on PostgreSQL, one lets the transaction take its time
    assert 0 < of_a_chunk <= 7
    assert len(statements) <= 4 * of_a_chunk


@pytest.mark.sql
def test_it_is_one_state_of_the_database(world: World, reading: tuple[Iterator[ProjectsReport], list[Any]]) -> None:
    stream, _ = reading
    next(stream)
    engine = world.engine
    change = "UPDATE project_resources SET quota = 8 WHERE project_id > 3"
    writer = threading.Thread(target=lambda: engine.atomic(lambda: engine.execute(change)))
    writer.start()
    writer.join(30)
    figures = [report.figures.rows(project_id) for report in stream for project_id in report.projects if project_id > 3]
    assert {row.quota for rows in figures for row in rows} == {7}
    assert engine.rows("SELECT DISTINCT quota FROM project_resources WHERE project_id > 3") == [(8,)]


@pytest.mark.sql
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_connection_is_given_back(world: World, method: str) -> None:
    for _ in range(3):
        assert world.request(method, "/v1/projects").status_code == 200
        assert world.engine.db._in_use == {}


def test_what_fails_at_once_has_a_status(world: World) -> None:
    world.run("ALTER TABLE project_services RENAME TO elsewhere")
    assert world.request("GET", "/v1/projects").status_code == 500
    assert world.engine.db._in_use == {}


def value(world: World, name: str) -> Any:
    """A metric of this route, summed over its labels."""
    route = 'endpoint="/v1/projects"'
    lines = [
        line
        for line in world.request("GET", "/metrics", None).text.splitlines()
        if line.startswith(name) and route in line
    ]
    return sum(float(line.split()[-1]) for line in lines)


def test_it_is_logged_and_measured_when_it_was_sent(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "limes.access")
    before = value(world, "httpmux_response_size_bytes_sum"), value(world, "httpmux_response_duration_seconds_count")
    caplog.clear()
    answer = world.request("GET", "/v1/projects")
    lines = [record.getMessage() for record in caplog.records if record.name == "limes.access"]
    assert len(lines) == 1
    assert '"GET /v1/projects" 200' in lines[0]
    after = value(world, "httpmux_response_size_bytes_sum"), value(world, "httpmux_response_duration_seconds_count")
    assert (after[0] - before[0], after[1] - before[1]) == (len(answer.content), 1)
