"""`limit` and `marker` on the lists of domains and projects."""

import pytest

from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY

PROJECTS = f"/v1/domains/{GERMANY}/projects"


def test_pages_of_projects_together_are_the_whole_list(world):
    whole = world.get(PROJECTS)
    assert "projects_links" not in whole
    first = world.get(f"{PROJECTS}?limit=1&service=compute")
    assert [project["id"] for project in first["projects"]] == [BERLIN]
    (link,) = first["projects_links"]
    assert link["rel"] == "next"
    second = world.get(link["href"])
    assert [project["id"] for project in second["projects"]] == [DRESDEN]
    assert [service["type"] for service in second["projects"][0]["services"]] == ["compute"], "the filter goes along"
    last = world.get(second["projects_links"][0]["href"])
    assert last == {"projects": [], "projects_links": []}
    pages = [world.get(f"{PROJECTS}?limit=1&marker={marker}")["projects"] for marker in ("", BERLIN)]
    assert pages[0] + pages[1] == whole["projects"]


def test_pages_of_domains(world):
    whole = world.get("/v1/domains")["domains"]
    first = world.get("/v1/domains?limit=1")
    assert (first["domains"], whole[0]["id"]) == (whole[:1], FRANCE)
    second = world.get(first["domains_links"][0]["href"])
    assert second["domains"] == whole[1:]
    assert world.get("/v1/domains?limit=5")["domains_links"] == []


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("limit=0", "query parameter limit: expected a whole number from 1 to 1000\n"),
        ("limit=1001", "query parameter limit: expected a whole number from 1 to 1000\n"),
        ("limit=-1", "query parameter limit: expected a whole number from 1 to 1000\n"),
        (f"limit={5000 * '1'}", "query parameter limit: expected a whole number from 1 to 1000\n"),
        ("limit=x", "query parameter limit: expected a whole number from 1 to 1000\n"),
        ("limit=", "query parameter limit: expected a whole number from 1 to 1000\n"),
        ("limit=1&limit=2", "limit and marker may be given once only\n"),
        ("marker=x", "marker goes with limit only\n"),
        ("limit=1&marker=x&marker=y", "limit and marker may be given once only\n"),
    ],
)
def test_bad_pages(world, query, text):
    for path in ("/v1/domains", PROJECTS, "/v1/projects"):
        result = world.request("GET", path, query_string=query)
        assert (result.status_code, result.text) == (400, text)
