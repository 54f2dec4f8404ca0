"""What the log has of a request: the id that the client was given, on each of its lines."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from limes.kernel import logs
from tests.api.world import GERMANY, World

DOMAIN = f"/v1/domains/{GERMANY}"


@pytest.fixture
def own_logs() -> Iterator[None]:
    """Puts back what `logs.set_up` replaces."""
    before = {name: logging.getLogger(name).level for name in logging.root.manager.loggerDict}
    root, handlers, level = logging.root, logging.root.handlers[:], logging.root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, one in before.items():
        logging.getLogger(name).setLevel(one)


def breaks(world: World) -> Any:
    """Makes an error that nobody expects: answers the id that the client gets."""
    world.run("ALTER TABLE domain_resources RENAME TO secret_table")
    result = world.request("GET", DOMAIN)
    request_id = result.headers["x-openstack-request-id"]
    assert (result.status_code, result.text) == (500, f"internal error; the log has more under {request_id}\n")
    return request_id


def test_an_internal_error_in_plain_lines(world: World, own_logs: None, capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up("plain")
    request_id = breaks(world)
    text = capsys.readouterr().err
    (failed,) = [line for line in text.splitlines() if f"GET {DOMAIN} failed" in line]
    assert f"ERROR   [{request_id}] limes.web.errors: " in failed
    (access,) = [line for line in text.splitlines() if "limes.access" in line]
    assert f"ERROR   [{request_id}] limes.access: " in access
    assert "domain_resources" in text, "the stack trace says what is missing"


def test_an_internal_error_in_json(world: World, own_logs: None, capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up("json")
    request_id = breaks(world)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert {line["request_id"] for line in lines} == {request_id}
    (failed,) = [line for line in lines if line["logger"] == "limes.web.errors"]
    assert (failed["level"], failed["message"]) == ("ERROR", f"GET {DOMAIN} failed")
    assert "domain_resources" in failed["exception"]


def test_a_request_within_a_larger_undertaking(
    world: World, own_logs: None, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.set_up("json")
    given = "req-11111111-2222-3333-4444-555555555555"
    result = world.request("GET", DOMAIN, headers={"X-Openstack-Request-Id": given})
    (line,) = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert line["request_id"] == f"{given} {result.headers['x-openstack-request-id']}"


def test_a_request_id_that_a_client_has_made_up_is_not_written_down(
    world: World, own_logs: None, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.set_up("plain")
    result = world.request("GET", DOMAIN, headers={"X-Openstack-Request-Id": "req-forged] limes.api: all is well"})
    text = capsys.readouterr().err
    assert f"[{result.headers['x-openstack-request-id']}]" in text
    assert "forged" not in text
