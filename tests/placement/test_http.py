"""What is the same for all operations: versions, media types, errors, CORS, mount points and bounds."""

import gzip
import json
from collections.abc import Iterable
from typing import Any

import pytest

from limes.db.engine import Engine
from limes.placement import schemas
from limes.placement.routes import ROUTES
from tests.placement.world import World, claim, uuid_of

METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD", "FROBNICATE", "PROPFIND")


def path_of(template: str) -> str:
    return (
        template.replace("{uuid}", uuid_of("x"))
        .replace("{consumer_uuid}", uuid_of("c"))
        .replace("{", "")
        .replace("}", "")
    )


@pytest.mark.parametrize("template", ROUTES)
def test_what_the_table_does_not_have_is_405_with_allow(world: World, template: str) -> None:
    for method in METHODS:
        if method not in ROUTES[template]:
            answer = world.call(method, path_of(template))
            assert answer.status_code == 405, method
            assert answer.headers["allow"] == ", ".join(sorted(ROUTES[template]))
            assert answer.headers["openstack-api-version"] == "placement 1.39"


@pytest.mark.parametrize("template", ROUTES)
def test_each_operation_begins_with_its_microversion(world: World, template: str) -> None:
    for method, operation in ROUTES[template].items():
        if operation.since:
            answer = world.call(method, path_of(template), version=f"1.{operation.since - 1}")
            assert answer.status_code == operation.before
        if operation.rule:
            answer = world.call(method, path_of(template), version=f"1.{operation.since}", token=None)
            assert answer.status_code == 401
            answer = world.call(method, path_of(template), {}, version=f"1.{operation.since}", token="user")
            assert answer.status_code == 403, (method, answer.text)


def test_errors_have_a_code_from_1_23_and_a_request_id(world: World) -> None:
    error = world.refused(404, "GET", "/resource_providers/x", version="1.23")
    assert error["code"] == "placement.undefined_code"
    assert error["request_id"].startswith("req-")
    assert error["title"] == "Not Found"
    assert "code" not in world.refused(404, "GET", "/resource_providers/x", version="1.22")
    assert "The resource could not be found." in world.refused(404, "GET", "/nothing/here")["detail"]
    world.refused(404, "GET", "/resource_providers/")


def test_errors_come_as_the_client_accepts_them(world: World) -> None:
    html = world.call("GET", "/nothing/<b>", accept="text/html")
    assert html.headers["content-type"].startswith("text/html")
    assert "The resource could not be found" in html.text
    name = world.call("PUT", "/traits/<script>", accept="text/html").text
    assert "<script>" not in name
    plain = world.call("GET", "/nothing", accept="text/plain")
    assert plain.headers["content-type"].startswith("text/plain")
    not_acceptable = world.call("GET", f"/resource_providers/{uuid_of('x')}", accept="text/html")
    assert (not_acceptable.status_code, "Only application/json is provided" in not_acceptable.text) == (406, True)


@pytest.mark.parametrize(
    "accept",
    ["APPLICATION/JSON", "Application/Json;Q=0.5", "APPLICATION/*", "application/json,", ", application/json ,"],
)
def test_media_types_have_no_case_and_lists_may_have_gaps(world: World, accept: str) -> None:
    assert world.call("GET", "/resource_providers", accept=accept).json == {"resource_providers": []}
    missing = world.call("GET", "/nothing", accept=accept)
    assert (missing.status_code, missing.headers["content-type"]) == (404, "application/json")
    refused = world.call("GET", "/resource_providers", accept=accept.upper().replace("APPLICATION/", "TEXT/X-"))
    assert (refused.status_code, refused.headers["content-type"]) == (406, "text/plain; charset=utf-8")


def test_html_in_any_case(world: World) -> None:
    for accept in ("TEXT/HTML", "Text/*", "text/html,"):
        assert world.call("GET", "/nothing", accept=accept).headers["content-type"].startswith("text/html")


def test_an_accept_header_that_cannot_be_read_refuses_nothing(world: World) -> None:
    assert world.call("GET", "/resource_providers", accept="garbage").json == {"resource_providers": []}
    error = world.call("GET", "/nothing", accept="garbage")
    assert (error.status_code, error.headers["content-type"].split(";")[0]) == (404, "text/html")


def test_401_names_its_challenge(world: World) -> None:
    answer = world.call("GET", "/traits", token=None)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"]
    assert set(answer.json) == {"message", "code", "title"}
    assert world.call("GET", "/", token=None).status_code == 200


@pytest.mark.parametrize(
    ("header", "status", "words"),
    [
        ("placement 0.5", 406, "Unacceptable version header: 0.5"),
        ("placement 1.40", 406, "Unacceptable version header: 1.40"),
        ("placement 2.0", 406, "Unacceptable version header"),
        ("placement pony.horse", 400, "invalid version string: pony.horse"),
        ("placement 1.2.3", 400, "invalid version string: 1.2.3"),
        ("placement 1.5 or more", 400, "invalid version string: 1.5 or more"),
        ("placement 1." + "9" * 50, 406, "Unacceptable version header: 1.99"),
        ("placement 1." + "9" * 5000, 400, "invalid version string: 1.99"),
    ],
)
def test_versions_that_do_not_exist(world: World, header: str, status: int, words: str) -> None:
    answer = world.call("GET", "/", openstack_api_version=header)
    error = answer.json["errors"][0]
    assert (answer.status_code, words in error["detail"]) == (status, True)
    if status == 406:
        assert (error["min_version"], error["max_version"]) == ("1.0", "1.39")


@pytest.mark.parametrize(
    ("header", "version"),
    [
        ("placement latest", "1.39"),
        ("compute 2.1, placement 1.7", "1.7"),
        ("compute 2.1", "1.0"),
        ("placement", "1.0"),
        ("PLACEMENT  1.7 ", "1.7"),
    ],
)
def test_the_version_that_a_header_asks_for(world: World, header: str, version: str) -> None:
    answer = world.call("GET", "/", openstack_api_version=header)
    assert answer.headers["openstack-api-version"] == f"placement {version}"
    assert "openstack-api-version" in answer.headers["vary"]


def test_large_answers_are_compressed_for_those_who_accept_it(world: World) -> None:
    plain, packed = world.call("GET", "/traits"), world.call("GET", "/traits", accept_encoding="gzip, deflate")
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert packed.headers["vary"] == plain.headers["vary"]
    assert "Accept-Encoding" in packed.headers["vary"]
    small = world.call("GET", "/", accept_encoding="gzip")
    assert "content-encoding" not in small.headers


def test_bodies_that_cannot_be_read(world: World) -> None:
    path = "/resource_classes"
    assert "Malformed JSON:" in world.refused(400, "POST", path, b'{"a": ')["detail"]
    assert "Malformed JSON:" in world.refused(400, "POST", path, b"\xff")["detail"]
    assert "Malformed JSON:" in world.refused(400, "POST", path, b"[" * 5000)["detail"]
    assert "JSON does not validate" in world.refused(400, "POST", path, b"[]")["detail"]
    error = world.refused(415, "POST", path, b"x", content_type="text/plain")
    assert "The media type text/plain is not supported, use application/json" in error["detail"]
    error = world.refused(415, "POST", path)
    assert "The media type None is not supported, use application/json" in error["detail"]


def test_numbers_that_json_knows_but_the_database_does_not(world: World) -> None:
    world.provider("a", VCPU=8)
    for amount, status in (
        *((n, 409) for n in (2**31, 2**63, 2**70)),
        *((x, 400) for x in (1.5, 1e400, "1", True, None)),
    ):
        body = json.dumps(claim(None, a={"VCPU": amount})).replace("Infinity", "1e400").encode()
        world.refused(status, "PUT", f"/allocations/{uuid_of('c')}", body)
    assert world.allocate("c", None, a={"VCPU": 2.0}).status_code == 204  # type: ignore[dict-item]  # a float
    generation = {"resource_provider_generation": 2**80, "inventories": {}}
    world.refused(409, "PUT", f"/resource_providers/{uuid_of('a')}/inventories", generation)


def test_text_that_is_hostile_to_a_database(world: World) -> None:
    for name in ("a' OR 1=1 --", "%s%%", "\u0000", "\U0001f600", "x" * 200):
        answer = world.call("POST", "/resource_providers", {"name": name})
        assert answer.status_code in (200, 400), answer.text
    world.refused(400, "POST", "/resource_providers", {"name": "x" * 201})


def test_bounds(placement_engine: Engine) -> None:
    world = World(placement_engine, bounds={"max_body_size": 2000, "max_query_size": 300})
    assert "2000 bytes" in world.refused(413, "POST", "/resource_classes", {"name": "x" * 3000})["detail"]
    assert "300 bytes" in world.refused(414, "GET", "/traits?name=" + "x" * 400)["detail"]
    # that the provider does not exist is said first, whatever is wrong with the body
    world.refused(404, "PUT", f"/resource_providers/{uuid_of('a')}/inventories", {"inventories": "x" * 3000})


def test_bodies_of_great_width_or_depth_are_refused_before_they_are_looked_at(world: World) -> None:
    traits = f"/resource_providers/{world.provider('a')}/traits"
    wide = {"traits": ["CUSTOM_A", 1] * 1000, "resource_provider_generation": 0}
    assert "a list may have at most 1000 entries" in world.refused(400, "PUT", traits, wide)["detail"]
    keys = {str(number): 1 for number in range(5001)}
    assert "an object may have at most 5000 entries" in world.refused(400, "POST", "/allocations", keys)["detail"]
    many = {uuid_of(f"c{n}"): claim(None, a={f"CUSTOM_{n}": 1 for n in range(200)}) for n in range(500)}
    assert "at most 100000 values in all" in world.refused(400, "POST", "/allocations", many)["detail"]
    deep = b"[" * 500 + b"]" * 500
    assert "nested deeper than 30 levels" in world.refused(400, "POST", "/resource_classes", deep)["detail"]
    long = {"name": "x" * 100_000, "y": [{"z": "x" * 1000}] * 900}
    assert len(world.refused(400, "POST", "/resource_classes", long)["detail"]) < 5000


def test_of_many_mistakes_only_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[Any] = []

    def best(errors: Iterable[Any]) -> Any:
        looked_at.extend(errors)
        return looked_at[0]

    monkeypatch.setattr(schemas, "best_match", best)
    found = schemas.PUT_TRAITS.problem({"traits": [""] * 5000, "resource_provider_generation": 1})
    assert found is not None
    assert found.startswith("''")
    assert len(looked_at) == 100


def test_an_unexpected_failure_says_nothing_but_the_request_id(world: World, caplog: pytest.LogCaptureFixture) -> None:
    with world.engine.connection():
        world.engine.execute("ALTER TABLE placement_resource_classes RENAME COLUMN updated TO secret")
    answer = world.call("GET", "/resource_classes")
    error = answer.json["errors"][0]
    assert answer.status_code == 500
    assert error["request_id"] == answer.headers["x-openstack-request-id"]
    assert error["request_id"] in error["detail"]
    assert "updated" not in answer.text
    assert "updated" in caplog.text


def test_a_prefix_is_part_of_links_and_locations(placement_engine: Engine) -> None:
    world = World(placement_engine, prefix="/placement")
    body = {"name": "a", "uuid": uuid_of("a")}
    for path in ("/placement/resource_providers", "/resource_providers"):
        answer = world.call("POST", path, body)
        where = f"/placement/resource_providers/{uuid_of('a')}"
        assert answer.headers["location"] == f"http://placement.example{where}"
        assert answer.json["links"][0] == {"rel": "self", "href": where}
        world.ok("DELETE", where)
    assert world.call("GET", "/placement", token=None).status_code == 200
    assert world.call("GET", "/placementx").status_code == 404


ORIGIN = "http://valid.example.com"


def test_cors_is_off_by_default_and_answers_preflights_when_it_is_on(world: World) -> None:
    preflight = {
        "origin": ORIGIN,
        "access_control_request_method": "GET",
        "access_control_request_headers": "openstack-api-version",
    }
    assert world.call("OPTIONS", "/resource_providers", token=None, **preflight).status_code == 401
    open_world = World(world.engine, cors={"allowed_origin": [ORIGIN], "allow_headers": ["openstack-api-version"]})
    answer = open_world.call("OPTIONS", "/resource_providers", token=None, **preflight)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert answer.headers["access-control-allow-headers"] == "openstack-api-version"
    other = open_world.call("GET", "/traits", origin="http://evil.example.com")
    assert "access-control-allow-origin" not in other.headers
    assert open_world.call("GET", "/traits", origin=ORIGIN).headers["access-control-allow-origin"] == ORIGIN
    evil = preflight | {"access_control_request_headers": "x-auth-token"}
    answer = open_world.call("OPTIONS", "/resource_providers", token=None, **evil)
    assert "access-control-allow-headers" not in answer.headers


def test_with_an_origin_alone_a_page_can_do_all_that_a_client_does(placement_engine: Engine) -> None:
    world = World(placement_engine, cors={"allowed_origin": [ORIGIN]})
    for method in ("GET", "PUT", "POST", "DELETE"):
        asked = "x-auth-token,openstack-api-version,content-type"
        preflight = {"access_control_request_method": method, "access_control_request_headers": asked}
        answer = world.call("OPTIONS", "/resource_providers", token=None, origin=ORIGIN, **preflight)
        assert answer.headers["access-control-allow-methods"] == method
        assert answer.headers["access-control-allow-headers"] == asked
    answer = world.call("GET", "/resource_providers", origin=ORIGIN)
    exposed = "OpenStack-API-Version,X-OpenStack-Request-ID,Location"
    assert answer.headers["access-control-expose-headers"] == exposed
    refused = world.call("GET", "/resource_providers", token=None, origin=ORIGIN)
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, ORIGIN)


def test_operational_paths_need_no_token(world: World) -> None:
    assert world.call("GET", "/healthcheck", token=None).text == "ok\n"
    assert "httpmux_response_duration_seconds_count" in world.call("GET", "/metrics", token=None).text


def test_a_semicolon_separates_parameters_everywhere(world: World) -> None:
    assert world.ok("GET", "/usages?project_id=a&;") == {"usages": {}}
    assert world.ok("GET", "/traits?associated=false;name=in:HW_NUMA_ROOT,HW_X") == {"traits": ["HW_NUMA_ROOT"]}
    assert world.ok("GET", "/resource_providers?name=a;uuid=" + uuid_of("a")) == {"resource_providers": []}
