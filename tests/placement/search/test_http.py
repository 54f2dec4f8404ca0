"""Candidates and the list of providers through the app, on both databases: settings, errors, headers, several workers."""

import itertools
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import falcon.testing
import pytest

from limes.placement.app import create_app
from limes.placement.collaborators import PlacementCollaborators
from limes.placement.index import ProviderIndex
from limes.placement.search.memory import AnswerMemory
from limes.placement.search.render import AT_ONCE
from limes.settings.placement import PlacementSettings
from limes.system import SystemClock
from tests.placement.index.describe import describe
from tests.placement.search.clouds import identity
from tests.placement.server import collaborators

SETTINGS = {"listen": "127.0.0.1:8778", "enforce_new_defaults": False}


class Api:
    """A client of one app, at one microversion."""

    def __init__(self, deps: PlacementCollaborators, minor: int = 39) -> None:
        self.deps = deps
        self.headers = {"x-auth-token": "admin", "openstack-api-version": f"placement 1.{minor}"}
        self._app = create_app(deps)

    def ask(
        self, method: str, path: str, body: dict[str, Any] | None = None, expect: int = 200
    ) -> falcon.testing.Result:
        path, _, query = path.partition("?")
        headers, data = dict(self.headers), b""
        if body is not None:
            headers["content-type"], data = "application/json", json.dumps(body)
        environ = falcon.testing.create_environ(path, query, method=method, headers=headers, body=data)
        # not through falcon's client, whose validator wants a content type where there is no content
        started = falcon.testing.StartResponseMock()
        answer = falcon.testing.Result(self._app(environ, started), started.status, started.headers)
        assert answer.status_code == expect, answer.text
        return answer

    def get(self, path: str) -> Any:
        return self.ask("GET", path).json

    def provider(self, name: str, parent: str | None = None, **totals: int) -> None:
        body = {"uuid": identity(name), "name": name, "parent_provider_uuid": identity(parent) if parent else None}
        self.ask("POST", "/resource_providers", body)
        inventories = {key: {"total": total} for key, total in totals.items()}
        body = {"resource_provider_generation": 0, "inventories": inventories}
        self.ask("PUT", f"/resource_providers/{identity(name)}/inventories", body)

    def candidates(self, query: str) -> Any:
        return self.get(f"/allocation_candidates?{query}")["allocation_requests"]


@pytest.fixture
def api(database_url: str) -> Iterator[Api]:
    deps = collaborators(database_url, PlacementSettings.model_validate(SETTINGS))
    yield Api(deps)
    deps.engine.close()


def with_settings(api: Api, **changes: Any) -> Api:
    """The same database behind an app with other settings."""
    settings = PlacementSettings.model_validate(SETTINGS | changes)
    return Api(replace(api.deps, settings=settings))


def another_worker(api: Api) -> Api:
    """An app on the same database that has an index of its own."""
    return Api(replace(api.deps, index=ProviderIndex(api.deps.engine, SystemClock()), answers=AnswerMemory()))


def test_what_is_remembered_is_of_the_same_question(api: Api) -> None:
    for number in range(3):
        api.provider(f"cn{number}", VCPU=4, MEMORY_MB=16 * number + 1)
    for minor in (16, 17, 28, 29, 33, 34, 39):
        for query in ("resources=VCPU:1", "resources=VCPU:1,MEMORY_MB:9", "resources=VCPU:1&limit=2"):
            path = f"/allocation_candidates?{query}"
            fresh = Api(replace(api.deps, answers=AnswerMemory()), minor).get(path)
            assert [Api(api.deps, minor).get(path) for _ in range(2)] == [fresh, fresh]


def test_a_large_answer_is_made_while_it_is_sent(api: Api) -> None:
    """More candidates than are rendered together are the same ones, in the same order; their length is not announced."""
    api.provider("cn")
    for number in range(11):
        api.provider(f"n{number}", "cn", VCPU=8)
    query = "/allocation_candidates?group_policy=none&" + "&".join(f"resources{n}=VCPU:1" for n in range(3))
    large, small = api.ask("GET", query), api.ask("GET", f"{query}&limit={AT_ONCE}")
    assert "content-length" not in large.headers
    assert int(small.headers["content-length"]) == len(small.content)
    assert large.headers["content-type"] == small.headers["content-type"]
    assert len(large.json["allocation_requests"]) == 11**3 > AT_ONCE
    assert large.json["allocation_requests"][:AT_ONCE] == small.json["allocation_requests"]
    assert large.json["provider_summaries"] == small.json["provider_summaries"]


def test_every_worker_sees_each_write_at_once(api: Api) -> None:
    other = another_worker(api)
    assert other.candidates("resources=VCPU:1") == []
    api.provider("cn", VCPU=4)
    assert len(other.candidates("resources=VCPU:4")) == 1
    body = {
        "allocations": {identity("cn"): {"resources": {"VCPU": 3}}},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": None,
        "consumer_type": "TEST",
    }
    other.ask("PUT", f"/allocations/{identity('consumer')}", body, 204)
    assert api.candidates("resources=VCPU:2") == []
    assert len(api.candidates("resources=VCPU:1")) == 1
    api.ask("DELETE", f"/allocations/{identity('consumer')}", expect=204)
    assert len(other.candidates("resources=VCPU:4")) == 1
    api.ask("DELETE", f"/resource_providers/{identity('cn')}", expect=204)
    assert other.candidates("resources=VCPU:1") == []
    assert other.get("/resource_providers")["resource_providers"] == []


def devices(api: Api) -> str:
    api.provider("cn", VCPU=4)
    for number in range(7):
        api.provider(f"gpu{number}", "cn", VGPU=1)
    return "&".join(f"resources{number}=VGPU:1" for number in range(1, 6)) + "&group_policy=none"


def test_the_bound_on_candidates_is_logged(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    bounded = with_settings(api, bounds={"max_candidates": 1000})
    query = devices(api)
    with caplog.at_level(logging.WARNING, "limes.placement"):
        assert len(bounded.candidates(query)) == 1000
        [record] = caplog.records
        assert "with 1000 found (placement.bounds.max_candidates is 1000)" in record.getMessage()
        caplog.clear()
        assert len(bounded.candidates(f"{query}&limit=10")) == 10
        assert len(api.candidates(query)) == 7 * 6 * 5 * 4 * 3
        assert not caplog.records


class Ticking(SystemClock):
    """A second passes each time that somebody looks."""

    def __init__(self) -> None:
        self.seconds = itertools.count()

    def monotonic(self) -> float:
        return float(next(self.seconds))


def test_a_search_ends_in_time_and_says_so(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    query = f"/allocation_candidates?{devices(api)}"
    assert "x-limes-incomplete" not in api.ask("GET", query).headers
    hasty = with_settings(api, bounds={"search_seconds": 20})
    hasty = Api(replace(hasty.deps, clock=Ticking(), answers=AnswerMemory()))
    with caplog.at_level(logging.WARNING, "limes.placement"):
        answer = hasty.ask("GET", query)
        found = len(answer.json["allocation_requests"])
        assert 0 < found < 7 * 6 * 5 * 4 * 3
        reason = f"with {found} candidates (placement.bounds.search_seconds is 20)"
        assert answer.headers["x-limes-incomplete"] == f"stopped {reason}"
        [record] = caplog.records
        assert f"with {found} found (placement.bounds.search_seconds is 20): resources1" in record.getMessage()
    assert "x-limes-incomplete" not in hasty.ask("GET", f"{query}&limit=100").headers


def test_a_search_that_found_nothing_in_time_is_not_an_answer(api: Api) -> None:
    query = f"/allocation_candidates?{devices(api)}"
    hasty = with_settings(api, bounds={"search_seconds": 0.5})
    hasty = Api(replace(hasty.deps, clock=Ticking(), answers=AnswerMemory()))
    refused = hasty.ask("GET", query, expect=503)
    assert "stopped before it found any (placement.bounds.search_seconds is 0.5)" in refused.text


def test_random_order_where_it_is_asked_for(api: Api) -> None:
    query = devices(api)
    shuffled = with_settings(api, randomize_allocation_candidates=True)
    whole = api.candidates(query)
    assert api.candidates(query) == whole
    assert shuffled.candidates(query) != whole
    assert sorted(map(str, (one["mappings"] for one in shuffled.candidates(query)))) == sorted(
        map(str, (one["mappings"] for one in whole))
    )


@pytest.mark.parametrize(
    ("query", "code", "text"),
    [
        (
            "limit=1",
            "placement.query.missing_value",
            "There must be at least one resources or resources[$S] parameter.",
        ),
        ("resources=VCPU:1&limit=cow", "placement.undefined_code", "'cow' does not match '^[1-9][0-9]*$'"),
        ("resources=VCPU:1&limit=cow&limit=1", "placement.undefined_code", "'cow' does not match '^[1-9][0-9]*$'"),
        ("resources=VCPU:1&moo=1", "placement.undefined_code", "'moo' does not match any of the regexes"),
        ("resources1=VCPU:1&group_policy=both", "placement.undefined_code", "'both' is not one of ['none', 'isolate']"),
        (
            "&".join(f"resources{n}=VCPU:1" for n in range(101)) + "&group_policy=none",
            "placement.query.bad_value",
            "The query asks for 101 request groups; at most 100 are accepted.",
        ),
    ],
)
def test_what_is_refused(api: Api, query: str, code: str, text: str) -> None:
    for _ in range(2):
        [error] = api.ask("GET", f"/allocation_candidates?{query}", expect=400).json["errors"]
        assert error["code"] == code
        assert text in error["detail"]


def test_a_limit_of_any_length(api: Api) -> None:
    api.provider("cn", VCPU=4)
    assert len(api.candidates("resources=VCPU:1&limit=" + "9" * 5000)) == 1


def test_headers(api: Api) -> None:
    api.provider("cn", VCPU=4)
    for path in ("/allocation_candidates?resources=VCPU:1", "/resource_providers"):
        headers = api.ask("GET", path).headers
        assert headers["cache-control"] == "no-cache"
        assert headers["last-modified"].endswith(" GMT")
        assert headers["content-type"] == "application/json"
    old = Api(api.deps, minor=14)
    assert "last-modified" not in old.ask("GET", "/resource_providers").headers


def test_the_list_says_the_same_as_each_provider(api: Api) -> None:
    api.provider("cn", VCPU=4)
    api.provider("child", "cn")
    for minor in (0, 1, 6, 11, 14, 39):
        client = Api(api.deps, minor)
        listed = client.get("/resource_providers")["resource_providers"]
        assert listed == [client.get(f"/resource_providers/{identity(name)}") for name in ("cn", "child")]


def test_every_kind_of_write_reaches_the_index(api: Api) -> None:
    """After each write an index that follows holds what one that starts afresh reads."""
    index = api.deps.index
    cn, other, child = map(identity, ("cn", "other", "child"))

    def write(method: str, path: str, body: dict[str, Any] | None = None, expect: int = 200) -> list[str]:
        api.ask(method, path, body, expect)
        following = describe(index.current())
        assert following == describe(ProviderIndex(api.deps.engine, SystemClock()).current())
        return following

    def allocations(amount: int, generation: int | None, on: str = cn) -> dict[Any, Any]:
        return {
            "allocations": {on: {"resources": {"VCPU": amount}}} if amount else {},
            "project_id": "p",
            "user_id": "u",
            "consumer_generation": generation,
            "consumer_type": "TEST",
        }

    consumer, second = identity("consumer"), identity("second")
    write("POST", "/resource_providers", {"uuid": cn, "name": "cn"})
    write("POST", "/resource_providers", {"uuid": other, "name": "other"})
    write("POST", "/resource_providers", {"uuid": child, "name": "child", "parent_provider_uuid": cn})
    inventories = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 8}, "DISK_GB": {"total": 9}}}
    write("PUT", f"/resource_providers/{cn}/inventories", inventories)
    one = {"resource_provider_generation": 1, "total": 16, "reserved": 1, "allocation_ratio": 2.0}
    assert "cn VCPU=0/30 DISK_GB=0/9" in write("PUT", f"/resource_providers/{cn}/inventories/VCPU", one)
    write("POST", f"/resource_providers/{other}/inventories", {"resource_class": "VCPU", "total": 4}, 201)
    write("DELETE", f"/resource_providers/{cn}/inventories/DISK_GB", expect=204)
    write("PUT", "/traits/CUSTOM_A", expect=201)
    write("PUT", f"/resource_providers/{cn}/traits", {"resource_provider_generation": 3, "traits": ["CUSTOM_A"]})
    body = {"resource_provider_generation": 4, "aggregates": [identity("agg")]}
    assert f"cn VCPU=0/30 CUSTOM_A {identity('agg')}" in write("PUT", f"/resource_providers/{cn}/aggregates", body)
    write("DELETE", f"/resource_providers/{cn}/traits", expect=204)
    write("PUT", f"/allocations/{consumer}", allocations(3, None), 204)
    assert f"cn VCPU=5/30 {identity('agg')}" in write("PUT", f"/allocations/{consumer}", allocations(5, 1), 204)
    body = {consumer: allocations(2, 2, other), second: allocations(1, None)}
    assert "other VCPU=2/4" in write("POST", "/allocations", body, 204)
    generation = {name: api.get(f"/resource_providers/{name}")["generation"] for name in (cn, other, child)}
    reshaped = {
        "inventories": {
            cn: {"resource_provider_generation": generation[cn], "inventories": {}},
            child: {"resource_provider_generation": generation[child], "inventories": {"VCPU": {"total": 5}}},
        },
        "allocations": {second: allocations(1, 1, child)},
    }
    assert f"{cn} > child VCPU=1/5" in write("POST", "/reshaper", reshaped, 204)
    write("PUT", f"/allocations/{second}", allocations(0, 2), 204)
    write("DELETE", f"/allocations/{consumer}", expect=204)
    moved = {"name": "renamed", "parent_provider_uuid": other}
    assert f"{other} > renamed VCPU=0/5" in write("PUT", f"/resource_providers/{child}", moved)
    write("PUT", f"/resource_providers/{other}", {"name": "other", "parent_provider_uuid": cn})
    write("PUT", f"/resource_providers/{child}", {"name": "renamed", "parent_provider_uuid": None})
    write("DELETE", f"/resource_providers/{child}/inventories", expect=204)
    write("DELETE", f"/resource_providers/{child}", expect=204)
    write("DELETE", "/traits/CUSTOM_A", expect=204)
    write("PUT", "/resource_classes/CUSTOM_X", expect=201)
    write("DELETE", "/resource_classes/CUSTOM_X", expect=204)
    assert list(index.current().classes) == list(ProviderIndex(api.deps.engine, SystemClock()).current().classes)
