"""Labels of projects: set, shown, refused, gone with the project; and lists that are filtered by them."""

from typing import Any

import pytest

from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, World
from tests.support.rows import all_rows, changes

pytestmark = pytest.mark.sql

PROJECTS = f"/v1/domains/{GERMANY}/projects"
BERLINS, DRESDENS = f"{PROJECTS}/{BERLIN}/labels", f"{PROJECTS}/{DRESDEN}/labels"


def put(world: World, path: str, labels: Any, token: str = "cloud-admin") -> Any:
    """Replaces the labels."""
    return world.request("PUT", path, token, json={"labels": labels})


def found(world: World, query: str) -> list[str]:
    """The ids of the listed projects."""
    return [project["id"] for project in world.get(f"{PROJECTS}?{query}")["projects"]]


def test_a_put_replaces_all_labels_of_one_project(world: World) -> None:
    assert world.get(BERLINS) == {"labels": {}}
    for labels in ({"owner": "web team", "env": "prod", "a.b-c_d": ""}, {"env": "test", "tier": "1"}, {}):
        result = put(world, BERLINS, labels, "berlin-admin")
        assert (result.status_code, result.text) == (200, world.request("GET", BERLINS).text)
        assert list(result.json["labels"].items()) == sorted(labels.items())
        assert world.get(DRESDENS) == {"labels": {}}


def test_other_projects_keep_theirs(world: World) -> None:
    put(world, DRESDENS, {"env": "test"}, "dresden-admin")
    put(world, BERLINS, {"env": "prod"}, "germany-admin")
    put(world, BERLINS, {})
    assert world.get(DRESDENS, "dresden-admin") == {"labels": {"env": "test"}}


@pytest.mark.parametrize(
    ("document", "status", "text"),
    [
        ({}, 400, "request body is not valid JSON: labels: Field required\n"),
        ({"labels": []}, 400, "request body is not valid JSON: labels: expected an object\n"),
        ({"labels": {"a": 1}}, 400, "request body is not valid JSON: labels.a: Input should be a valid string\n"),
        ({"labels": {}, "x": 1}, 400, "request body is not valid JSON: x: Extra inputs are not permitted\n"),
        ({"labels": {"env": "a\0"}}, 422, "label env: control characters are not allowed in a value\n"),
        ({"labels": {str(n): "" for n in range(21)}}, 422, "a project has at most 20 labels, and these are 21\n"),
    ],
)
def test_what_is_refused_changes_nothing(world: World, document: Any, status: int, text: str) -> None:
    put(world, BERLINS, {"env": "prod"})
    before = all_rows(world.engine)
    result = world.request("PUT", BERLINS, json=document)
    assert (result.status_code, result.text) == (status, text)
    assert changes(before, all_rows(world.engine)) == {}


def test_of_others_and_of_what_does_not_exist(world: World) -> None:
    for path, status in ((f"{PROJECTS}/nowhere/labels", 404), (f"/v1/domains/{GERMANY}/projects/{PARIS}/labels", 404)):
        for result in (world.request("GET", path), put(world, path, {"env": "prod"})):
            assert result.status_code == status
    for token in ("berlin-admin", "france-admin"):
        assert put(world, DRESDENS, {"env": "prod"}, token).status_code == 403
        assert world.request("GET", DRESDENS, token).status_code == 403
    assert put(world, f"/v1/domains/{FRANCE}/projects/{PARIS}/labels", {"a": "b"}, "france-admin").status_code == 200


def test_they_go_with_the_project(world: World) -> None:
    put(world, BERLINS, {"env": "prod"})
    world.run("DELETE FROM projects WHERE uuid = %s", [BERLIN])
    assert world.engine.rows("SELECT * FROM project_labels") == []


def test_a_filtered_list(world: World) -> None:
    put(world, BERLINS, {"env": "prod", "owner": "a:b", "empty": ""})
    put(world, DRESDENS, {"env": "test", "envy": "prod"})
    for query, expected in (
        ("label=env", [BERLIN, DRESDEN]),
        ("label=env:prod", [BERLIN]),
        ("label=env:pro", []),
        ("label=owner:a:b", [BERLIN]),
        ("label=empty", [BERLIN]),
        ("label=empty:", [BERLIN]),
        ("label=env:", []),
        ("label=env&label=envy", [DRESDEN]),
        ("label=env&label=env:prod", [BERLIN]),
        ("label=env:prod&label=env:test", []),
        ("label=env:prod&label=env:prod", [BERLIN]),
        ("label=env&limit=1", [BERLIN]),
        (f"label=env&limit=1&marker={BERLIN}", [DRESDEN]),
        (f"label=env&limit=1&marker={DRESDEN}", []),
    ):
        assert (query, found(world, query)) == (query, expected)
    (link,) = world.get(f"{PROJECTS}?label=env&label=env:prod&limit=1")["projects_links"]
    assert "label=env&label=env%3Aprod" in link["href"]
    paris = world.get(f"/v1/domains/{FRANCE}/projects?label=env")
    assert paris == {"projects": []}


def test_a_filtered_list_shows_projects_as_before(world: World) -> None:
    put(world, BERLINS, {"env": "prod"})
    whole = world.get(f"{PROJECTS}?detail")["projects"]
    assert world.get(f"{PROJECTS}?detail&label=env")["projects"] == whole[:1]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        *(
            (f"label={key}", "key or key:value, where a key is 1 to 63 of a-z, 0-9, _, . and -, beginning with a")
            for key in ("", ":", "Env", ":prod", "a%20b", "env&label=x!")
        ),
        ("&".join(f"label=a{number}" for number in range(21)), "at most 20 different ones\n"),
    ],
)
def test_bad_filters(world: World, query: str, text: str) -> None:
    result = world.request("GET", PROJECTS, query_string=query)
    assert result.status_code == 400
    assert result.text.startswith(f"query parameter label: expected {text}")


def test_a_filter_does_not_hide_that_there_is_no_domain(world: World) -> None:
    assert world.request("GET", "/v1/domains/nowhere/projects", query_string="label=env").status_code == 404
