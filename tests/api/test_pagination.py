"""`limit` and `marker` on the lists of domains and projects."""

from typing import Any

import pytest

from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, World

PROJECTS = f"/v1/domains/{GERMANY}/projects"


@pytest.mark.sql
def test_pages_of_projects_together_are_the_whole_list(world: World) -> None:
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


@pytest.mark.sql
def test_pages_of_domains(world: World) -> None:
    whole = world.get("/v1/domains")["domains"]
    first = world.get("/v1/domains?limit=1")
    assert (first["domains"], whole[0]["id"]) == (whole[:1], FRANCE)
    second = world.get(first["domains_links"][0]["href"])
    assert second["domains"] == whole[1:]
    assert world.get("/v1/domains?limit=5")["domains_links"] == []


@pytest.mark.parametrize("path", ["/v1/domains", PROJECTS, "/v1/projects"])
def test_the_next_page_is_of_the_same_query(world: World, path: str) -> None:
    """Also where an argument repeats, or has no value."""
    query = "service=compute&service=volume&resource=gpus&resource=capacity&detail&limit=1"
    shown = {"compute": ["gpus"], "volume": ["capacity"]}
    pages, href = [], f"{path}?{query}"
    while href:
        document = world.get(href)
        found, links = document.values()
        pages += found
        href = links[0]["href"] if links else ""
    assert pages == world.get(f"{path}?{query.removesuffix('&limit=1')}")[path.rpartition("/")[2]]
    if path == "/v1/domains":
        assert {
            service["type"]: [each["name"] for each in service["resources"]] for service in pages[-1]["services"]
        } == shown
    else:
        assert pages[0]["services"][0]["resources"][0]["subresources"] == [{"id": "gpu-1"}]


@pytest.mark.sql
@pytest.mark.parametrize(("marker", "found"), [("", [BERLIN, DRESDEN]), (BERLIN, [DRESDEN]), (PARIS, [])])
def test_any_text_may_be_a_marker(world: World, marker: str, found: list[Any]) -> None:
    """What comes behind it in the order of ids: the item itself may be gone meanwhile, or belong to another domain."""
    assert [project["id"] for project in world.get(f"{PROJECTS}?limit=1000&marker={marker}")["projects"]] == found
    gone = f"{marker}-gone" if marker else "a"
    assert [project["id"] for project in world.get(f"{PROJECTS}?limit=1000&marker={gone}")["projects"]] == found


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("limit=1&limit=2", "limit and marker may be given once only\n"),
        ("marker=x", "marker goes with limit only\n"),
        ("limit=1&marker=x&marker=y", "limit and marker may be given once only\n"),
        ("limit=1&marker=a%00b", "query parameter marker: expected a text without NUL\n"),
    ],
)
def test_bad_pages(world: World, query: str, text: str) -> None:
    for path in ("/v1/domains", PROJECTS, "/v1/projects"):
        result = world.request("GET", path, query_string=query)
        assert (result.status_code, result.text) == (400, text)
