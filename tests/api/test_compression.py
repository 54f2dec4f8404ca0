"""Answers are compressed for clients that accept it, and for no others."""

import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from falcon.testing import create_environ

from limes.catalog.catalog import BehaviorRule
from limes.web.encoding import SMALLEST
from limes.web.operational import Mount
from limes.web.packed import accepts_gzip
from tests.api.world import BERLIN, GERMANY, World

GZIP = {"Accept-Encoding": "gzip"}
CLUSTER = "/v1/clusters/current"
PROJECT = f"/v1/domains/{GERMANY}/projects/{BERLIN}"
PER_AZ = {"X-Limes-V2-API-Preview": "per-az"}


@pytest.fixture
def world(make: Callable[..., World]) -> World:
    """Also the answer about one project is large enough here."""
    return make(behaviors=[BehaviorRule(resource=".*", annotations={"note": "what people should know of it " * 9})])


@pytest.mark.parametrize(
    ("header", "is_accepted"),
    [
        (None, False),
        ("", False),
        ("gzip", True),
        ("deflate, GZIP;q=0.5", True),
        ("x-gzip", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
        ("br, identity", False),
        ("gzip;q=much", False),
    ],
)
def test_what_clients_accept(header: str | None, is_accepted: bool) -> None:
    assert accepts_gzip(header) is is_accepted


def raw(world: World, path: str, headers: dict[str, str] | None = None, method: str = "GET") -> Any:
    return world.client.simulate_request(method, path, headers={"X-Auth-Token": "cloud-admin", **(headers or {})})


@pytest.mark.parametrize("path", [CLUSTER, PROJECT, "/v1/openapi.json", "/metrics", "/v1/projects"])
def test_a_compressed_answer_says_the_same(world: World, path: str) -> None:
    plain, packed = raw(world, path, PER_AZ), raw(world, path, {**PER_AZ, **GZIP})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert len(packed.content) < len(plain.content) or path == "/v1/projects"
    assert ("Accept-Encoding" in plain.headers["vary"], "Accept-Encoding" in packed.headers["vary"]) == (True, True)
    if path != "/metrics":  # they change with each request
        assert gzip.decompress(packed.content) == plain.content
        assert packed.headers["content-type"] == plain.headers["content-type"]


def test_small_answers_stay_as_they_are(world: World) -> None:
    answer = raw(world, "/v1/identity", GZIP)
    assert len(answer.content) < SMALLEST
    assert ("content-encoding" in answer.headers, "Accept-Encoding" in answer.headers["vary"]) == (False, False)


def test_large_refusals_are_compressed(world: World) -> None:
    body = {"services": [{"type": "compute", "resources": [{"name": f"no-{n}", "quota": 1} for n in range(100)]}]}
    headers = {"X-Auth-Token": "cloud-admin", **GZIP}
    answer = world.client.simulate_put(PROJECT, json={"project": body}, headers=headers)
    assert (answer.status_code, answer.headers["content-encoding"]) == (422, "gzip")
    assert gzip.decompress(answer.content).count(b"no such resource") == 100


def test_tags_go_on_to_work(world: World) -> None:
    plain, packed = raw(world, PROJECT, PER_AZ), raw(world, PROJECT, {**PER_AZ, **GZIP})
    tag = plain.headers["etag"]
    assert (packed.headers["etag"], packed.headers["content-encoding"]) == (tag, "gzip")
    unchanged = raw(world, PROJECT, {"If-None-Match": tag, **GZIP})
    assert (unchanged.status_code, unchanged.content, "content-encoding" in unchanged.headers) == (304, b"", False)
    put = {"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 21}]}]}}
    assert world.request("PUT", PROJECT, json=put, headers={"If-Match": tag}).status_code == 202
    assert world.request("PUT", PROJECT, json=put, headers={"If-Match": tag}).status_code == 412


def test_head_has_the_headers_of_get(world: World) -> None:
    get, head = (raw(world, CLUSTER, {**PER_AZ, **GZIP}, method) for method in ("GET", "HEAD"))
    assert head.content == b""
    for name in ("content-encoding", "content-length", "vary"):
        assert head.headers[name] == get.headers[name]


def test_a_stream_is_compressed_part_by_part(world: World) -> None:
    """Whoever reads the first bytes can decode the first projects."""
    environ = create_environ(path="/v1/projects", headers={"X-Auth-Token": "cloud-admin", **GZIP})
    parts: Any = world.app(environ, lambda status, headers, *rest: None)
    unpacker = zlib.decompressobj(wbits=31)
    text = unpacker.decompress(next(iter(parts)))
    assert text.startswith(b'{"projects":[')
    parts.close()
    assert not unpacker.eof, "an answer that was broken off has no end"


def test_it_can_be_switched_off(make: Callable[..., World]) -> None:
    answer = raw(make(compression=False), CLUSTER, {**PER_AZ, **GZIP})
    assert ("content-encoding" in answer.headers, "Accept-Encoding" in answer.headers["vary"]) == (False, False)
    assert json.loads(answer.content)["cluster"]["id"] == "current"


def test_answers_beside_the_api_are_left_alone(make: Callable[..., World]) -> None:
    """Those to requests with cookies may hold a token: their length must tell nothing."""

    class Secrets:
        def on_get(self, req: Any, resp: Any) -> None:
            resp.text = "secret " * 1000

    world = make(mounts=(Mount("/ui", (("/ui/session", Secrets()),)),))
    answer = world.client.simulate_get("/ui/session", headers=GZIP)
    assert ("content-encoding" in answer.headers, len(answer.content)) == (False, 7000)
