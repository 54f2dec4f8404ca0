"""`ETag`, `If-Match` and `If-None-Match` on domains and projects."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.world import BERLIN, DRESDEN, GERMANY, World
from tests.quota import quotas
from tests.quota.quotas import DOMAIN, PROJECT
from tests.support.rows import all_rows, changes

CHANGED = (
    "the quotas have changed since the state that If-Match names. Nothing was changed."
    " GET them again for the present ETag\n"
)


def body(path: str, cores: int) -> dict[str, Any]:
    return quotas.body("project" if "/projects/" in path else "domain", compute={"cores": cores})


def tag_of(world: World, path: str, query: str = "") -> Any:
    result = world.request("GET", path, query_string=query)
    assert result.headers["cache-control"] == "no-store"
    assert result.headers["etag"].startswith('"'), "a strong one"
    return result.headers["etag"]


@pytest.mark.sql
@pytest.mark.parametrize("path", [DOMAIN, PROJECT])
def test_who_comes_second_is_refused(world: World, path: str) -> None:
    seen = tag_of(world, path)
    assert world.request("PUT", path, json=body(path, 60), headers={"If-Match": seen}).status_code == 202
    before = all_rows(world.engine)
    for method, target in (("PUT", path), ("POST", f"{path}/simulate-put")):
        result = world.request(method, target, json=body(path, 61), headers={"If-Match": seen})
        assert (result.status_code, result.text) == (412, CHANGED)
    assert changes(before, all_rows(world.engine)) == {}
    now = tag_of(world, path)
    assert now != seen
    assert world.request("POST", f"{path}/simulate-put", json=body(path, 61), headers={"If-Match": now}).json["success"]
    assert world.request("PUT", path, json=body(path, 61), headers={"If-Match": now}).status_code == 202


@pytest.mark.parametrize("path", [DOMAIN, PROJECT])
def test_the_tag_is_of_all_quotas_whatever_is_shown(world: World, path: str) -> None:
    whole = tag_of(world, path)
    filters = ("service=compute", "resource=nothing", "area=storage", "service=", "detail")
    assert {tag_of(world, path, query) for query in filters} == {whole}
    head = world.request("HEAD", path)
    assert (head.headers["etag"], head.content) == (whole, b"")
    world.request("PUT", path, json=body(path, 60))
    assert len({whole, *(tag_of(world, path, query) for query in filters)}) == 2


@pytest.mark.sql
def test_the_tag_follows_quota_and_nothing_else(make: Callable[..., World]) -> None:
    world = make(burst_multiplier=0.5)
    tags = [tag_of(world, PROJECT)]
    world.run("UPDATE project_resources SET usage = 17, backend_quota = 17")
    world.run("UPDATE project_services SET scraped_at = 4000")
    world.run("UPDATE projects SET name = 'bonn' WHERE uuid = %s", [BERLIN])
    world.request("PUT", f"{DOMAIN}/projects/{DRESDEN}", json=body(PROJECT, 31))
    assert tag_of(world, PROJECT) == tags[0]
    world.request("PUT", PROJECT, json={"project": {"bursting": {"enabled": True}}})
    tags.append(tag_of(world, PROJECT))
    world.request("PUT", PROJECT, json=body(PROJECT, 21))
    tags.append(tag_of(world, PROJECT))
    world.request("PUT", PROJECT, json=body(PROJECT, 21))
    assert tag_of(world, PROJECT) == tags[-1], "nothing was changed"
    assert len(set(tags)) == 3
    # what left the configuration is shown nowhere, and can be set by nobody
    world.run("UPDATE resources SET name = 'gone' WHERE name = 'ram'")
    shown = {tag_of(world, PROJECT, query) for query in ("", "service=compute", "detail")}
    assert len(shown) == len({*shown, tags[-1]}) - 1 == 1


def test_a_domain_quota_of_zero_is_like_none(world: World) -> None:
    seen = tag_of(world, DOMAIN)
    world.run("DELETE FROM domain_resources WHERE quota = 0")
    assert tag_of(world, DOMAIN) == tag_of(world, DOMAIN, "service=volume") == seen
    assert world.request("PUT", DOMAIN, json=body(DOMAIN, 60), headers={"If-Match": seen}).status_code == 202


def test_bursting_needs_the_tag_too(make: Callable[..., World]) -> None:
    world = make(burst_multiplier=0.5)
    enable = {"project": {"bursting": {"enabled": True}}}
    seen = tag_of(world, PROJECT)
    world.request("PUT", PROJECT, json=body(PROJECT, 21))
    for method, path in (("PUT", PROJECT), ("POST", f"{PROJECT}/simulate-put")):
        assert world.request(method, path, json=enable, headers={"If-Match": seen}).status_code == 412
    assert world.request("PUT", PROJECT, json=enable, headers={"If-Match": tag_of(world, PROJECT)}).status_code == 202


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ("*", 202),
        ("{tag}", 202),
        ('"other", {tag}', 202),
        ('"a,b" ,, {tag},', 202),
        ("W/{tag}", 412),
        ('"other"', 412),
        ('"other", "yet, another"', 400),
        ('""', 412),
        ("", 400),
        (",", 400),
        ("unquoted", 400),
        ('{tag}, "open', 400),
        ("*, {tag}", 400),
    ],
)
@pytest.mark.parametrize("path", [DOMAIN, PROJECT])
def test_forms_of_if_match(world: World, path: str, form: str, status: int) -> None:
    before = all_rows(world.engine)
    header = form.replace("{tag}", tag_of(world, path))
    result = world.request("PUT", path, json=body(path, 50), headers={"If-Match": header})
    assert result.status_code == status
    assert (changes(before, all_rows(world.engine)) == {}) == (status != 202)
    if status == 400:
        assert result.text == 'header If-Match: expected * or entity tags in double quotes, such as "0123abcd"\n'


@pytest.mark.parametrize("path", [DOMAIN, PROJECT])
def test_an_empty_change_is_compared_as_well(world: World, path: str) -> None:
    assert world.request("PUT", path, json={}, headers={"If-Match": '"other"'}).status_code == 412
    assert world.request("PUT", path, json={}, headers={"If-Match": tag_of(world, path)}).status_code == 202


@pytest.mark.parametrize("path", [DOMAIN, PROJECT])
def test_permission_and_existence_come_first(world: World, path: str) -> None:
    headers = {"If-Match": '"other"'}
    assert world.request("PUT", path, "france-admin", json={}, headers=headers).status_code == 403
    missing = path.replace(GERMANY, "nowhere")
    assert world.request("PUT", missing, json={}, headers=headers | {"If-Match": "*"}).status_code == 404


@pytest.mark.parametrize("path", [DOMAIN, PROJECT])
def test_if_none_match_asks_whether_quotas_have_changed(world: World, path: str) -> None:
    seen = tag_of(world, path)
    for header in (seen, f"W/{seen}", f'"other", {seen}', "*"):
        result = world.request("GET", path, headers={"If-None-Match": header})
        assert (result.status_code, result.content, result.headers["etag"]) == (304, b"", seen)
    world.request("PUT", path, json=body(path, 60))
    result = world.request("GET", path, headers={"If-None-Match": seen})
    assert (result.status_code, len(result.json)) == (200, 1)
    assert world.request("GET", path, headers={"If-None-Match": "x"}).status_code == 400
