"""`limit` and `marker` on the lists of domains and projects."""

from typing import Any

import pytest

from tests.api.world import BERLIN, DRESDEN, GERMANY, PARIS, World

PROJECTS = f"/v1/domains/{GERMANY}/projects"


@pytest.mark.sql
@pytest.mark.parametrize("limit", [1, 2, 1000])
@pytest.mark.parametrize("path", ["/v1/domains", PROJECTS, "/v1/projects"])
def test_pages_together_are_the_whole_list(world: World, path: str, limit: int) -> None:
    """Also where an argument of the query repeats, or has no value."""
    query = "service=compute&service=volume&resource=gpus&resource=capacity&detail"
    name = path.rpartition("/")[2]
    whole = world.get(f"{path}?{query}")
    assert set(whole) == {name}, "no links without a limit"
    pages, href = [], f"{path}?{query}&limit={limit}"
    while href:
        document = world.get(href)
        assert len(document[name]) == limit or not document[f"{name}_links"]
        assert {link["rel"] for link in document[f"{name}_links"]} <= {"next"}
        pages += document[name]
        href = "".join(link["href"] for link in document[f"{name}_links"])
    assert pages == whole[name]
    shown = {service["type"]: [each["name"] for each in service["resources"]] for service in pages[-1]["services"]}
    assert path != "/v1/domains" or shown == {"compute": ["gpus"], "volume": ["capacity"]}
    assert path == "/v1/domains" or pages[0]["services"][0]["resources"][0]["subresources"] == [{"id": "gpu-1"}]


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
