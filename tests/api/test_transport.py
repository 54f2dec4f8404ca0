"""What clients may do below the level of JSON: odd methods, bodies in chunks, paths that no database can hold."""

import logging

import pytest

from tests.api.test_access import ROUTES
from tests.api.world import BERLIN, GERMANY, World
from tests.support.rows import all_rows, changes

PROJECT = f"/v1/domains/{GERMANY}/projects/{BERLIN}"
CORES_21 = b'{"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 21}]}]}}'


def test_a_body_in_chunks(world: World) -> None:
    result = world.request(
        "PUT", PROJECT, body=CORES_21, extras={"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}
    )
    assert (result.status_code, result.text) == (202, "")
    assert (
        world.get(f"{PROJECT}?service=compute&resource=cores")["project"]["services"][0]["resources"][0]["quota"] == 21
    )


def test_a_body_in_chunks_that_is_too_large(world: World) -> None:
    before = all_rows(world.engine)
    extras = {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}
    result = world.request("PUT", PROJECT, body=b" " * (1024 * 1024) + CORES_21, extras=extras)
    assert (result.status_code, result.text) == (413, "request body is too large: the limit is 1048576 bytes\n")
    assert changes(before, all_rows(world.engine)) == {}


@pytest.mark.filterwarnings("ignore:Unknown REQUEST_METHOD")
def test_made_up_methods_leave_one_label_in_the_metrics(world: World) -> None:
    for method in ("FROB1", "FROB2"):
        result = world.request(method, PROJECT)
        assert (result.status_code, result.text) == (405, "Method Not Allowed\n")
        assert set(result.headers["allow"].split(", ")) == {"GET", "HEAD", "PUT", "OPTIONS"}
        assert world.request(method, "/v1/nothing").status_code == 404
        assert world.request(method, PROJECT, "expired").status_code == 401
    metrics = world.request("GET", "/metrics", None).text
    assert "FROB" not in metrics
    assert 'method="other"' in metrics


def test_head_wherever_get_is(world: World) -> None:
    gets = [path for method, path, _, _ in ROUTES if method == "GET"]
    assert len(gets) > 15
    for path in [*gets, "/", "/v1/", "/v1/openapi.json", "/healthcheck", "/metrics"]:
        asked = world.request("GET", path)
        head = world.request("HEAD", path)
        assert (path, head.status_code, head.content) == (path, asked.status_code, b"")
        refused = {world.request(method, path, "dresden-admin").status_code for method in ("GET", "HEAD")}
        assert (path, len(refused)) == (path, 1), "HEAD takes the same rights"
        if path not in ("/v1/projects", "/metrics"):  # one is streamed, the other counts its own requests
            assert head.headers["content-length"] == asked.headers["content-length"]
        options = world.request("OPTIONS", path)
        assert "HEAD" in options.headers["allow"].split(", "), path


def test_head_where_there_is_no_get(world: World) -> None:
    for path in (f"{PROJECT}/sync", f"{PROJECT}/simulate-put", "/v1/domains/discover"):
        result = world.request("HEAD", path)
        assert (path, result.status_code) == (path, 405)


@pytest.mark.sql
@pytest.mark.parametrize("method", ["GET", "PUT"])
@pytest.mark.parametrize("path", ["/v1/domains/a%00b", f"/v1/domains/{GERMANY}/projects/a%00b"])
def test_ids_with_a_nul_are_unknown(world: World, method: str, path: str) -> None:
    """PostgreSQL cannot even be asked for them."""
    result = world.request(method, path, json={})
    assert (result.status_code, result.text) == (404, "404 page not found\n")


def test_a_path_cannot_forge_log_lines(world: World, caplog: pytest.LogCaptureFixture) -> None:
    from limes.kernel.logs import formatter

    with caplog.at_level(logging.INFO, "limes.access"):
        world.request("GET", "/v1/domains/x%0Aforged%1B%E2%80%A8line")
    lines = [formatter().format(record) for record in caplog.records if record.name == "limes.access"]
    assert len(lines) == 1
    assert "/v1/domains/x\\nforged\\x1b\\u2028line" in lines[0]


@pytest.mark.filterwarnings("ignore:Unknown REQUEST_METHOD")
@pytest.mark.parametrize("path", ["/v1/domains", "/"])
def test_a_method_that_falcon_keeps_for_itself(world: World, path: str) -> None:
    result = world.request("WEBSOCKET", path)
    assert result.status_code == 400


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("PUT", PROJECT, 202), ("POST", f"{PROJECT}/sync", 202), ("POST", "/v1/domains/discover", 204)],
)
def test_an_answer_without_a_body_has_no_type(world: World, method: str, path: str, status: int) -> None:
    result = world.request(method, path, body=CORES_21 if method == "PUT" else None)
    assert (result.status_code, result.content) == (status, b"")
    assert "content-type" not in result.headers
