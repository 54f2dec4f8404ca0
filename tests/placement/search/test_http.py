"""Candidates and the list of providers through the app, on both databases: settings, errors, headers, several workers."""

import logging
from dataclasses import replace

import falcon.testing
import pytest

from limes.placement.app import create_app
from limes.placement.index import ProviderIndex
from limes.seams import SystemClock
from limes.settings.placement import PlacementSettings
from tests.placement.search.clouds import identity
from tests.placement.server import collaborators

SETTINGS = {"listen": "127.0.0.1:8778", "enforce_new_defaults": False}


class Api:
    """A client of one app, at one microversion."""

    def __init__(self, deps, minor=39):
        self.deps = deps
        self.headers = {"x-auth-token": "admin", "openstack-api-version": f"placement 1.{minor}"}
        self._client = falcon.testing.TestClient(create_app(deps))

    def ask(self, method, path, body=None, expect=200):
        path, _, query = path.partition("?")
        answer = self._client.simulate_request(method, path, query_string=query, json=body, headers=self.headers)
        assert answer.status_code == expect, answer.text
        return answer

    def get(self, path):
        return self.ask("GET", path).json

    def provider(self, name, parent=None, **totals):
        body = {"uuid": identity(name), "name": name, "parent_provider_uuid": identity(parent) if parent else None}
        self.ask("POST", "/resource_providers", body)
        inventories = {key: {"total": total} for key, total in totals.items()}
        body = {"resource_provider_generation": 0, "inventories": inventories}
        self.ask("PUT", f"/resource_providers/{identity(name)}/inventories", body)

    def candidates(self, query):
        return self.get(f"/allocation_candidates?{query}")["allocation_requests"]


@pytest.fixture
def api(database_url):
    deps = collaborators(database_url, PlacementSettings.model_validate(SETTINGS))
    yield Api(deps)
    deps.engine.close()


def with_settings(api, **changes):
    """The same database behind an app with other settings."""
    settings = PlacementSettings.model_validate(SETTINGS | changes)
    return Api(replace(api.deps, settings=settings))


def another_worker(api):
    """An app on the same database that has an index of its own."""
    return Api(replace(api.deps, index=ProviderIndex(api.deps.engine, SystemClock())))


def test_every_worker_sees_each_write_at_once(api):
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


def devices(api):
    api.provider("cn", VCPU=4)
    for number in range(7):
        api.provider(f"gpu{number}", "cn", VGPU=1)
    return "&".join(f"resources{number}=VGPU:1" for number in range(1, 6)) + "&group_policy=none"


def test_the_bound_on_candidates_is_logged(api, caplog):
    bounded = with_settings(api, bounds={"max_candidates": 1000})
    query = devices(api)
    with caplog.at_level(logging.WARNING, "limes.placement"):
        assert len(bounded.candidates(query)) == 1000
        [record] = caplog.records
        assert "bound of 1000 (placement.bounds.max_candidates), with 1000 found" in record.getMessage()
        caplog.clear()
        assert len(bounded.candidates(f"{query}&limit=10")) == 10
        assert len(api.candidates(query)) == 7 * 6 * 5 * 4 * 3
        assert not caplog.records


def test_random_order_where_it_is_asked_for(api):
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
def test_what_is_refused(api, query, code, text):
    for _ in range(2):
        [error] = api.ask("GET", f"/allocation_candidates?{query}", expect=400).json["errors"]
        assert error["code"] == code
        assert text in error["detail"]


def test_a_limit_of_any_length(api):
    api.provider("cn", VCPU=4)
    assert len(api.candidates("resources=VCPU:1&limit=" + "9" * 5000)) == 1


def test_headers(api):
    api.provider("cn", VCPU=4)
    for path in ("/allocation_candidates?resources=VCPU:1", "/resource_providers"):
        headers = api.ask("GET", path).headers
        assert headers["cache-control"] == "no-cache"
        assert headers["last-modified"].endswith(" GMT")
        assert headers["content-type"] == "application/json"
    old = Api(api.deps, minor=14)
    assert "last-modified" not in old.ask("GET", "/resource_providers").headers


def test_the_list_says_the_same_as_each_provider(api):
    api.provider("cn", VCPU=4)
    api.provider("child", "cn")
    for minor in (0, 1, 6, 11, 14, 39):
        client = Api(api.deps, minor)
        listed = client.get("/resource_providers")["resource_providers"]
        assert listed == [client.get(f"/resource_providers/{identity(name)}") for name in ("cn", "child")]
