"""Pages of other origins: which may use the API from a browser."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.world import GERMANY, World

DOMAIN = f"/v1/domains/{GERMANY}"
OURS, THEIRS = "https://dashboard.example.com", "https://elsewhere.example.com"
PREFLIGHT = {"Access-Control-Request-Method": "PUT"}


def allowed(
    world: World,
    origin: str,
    method: str = "GET",
    token: str | None = "cloud-admin",
    path: str = DOMAIN,
    **headers: Any,
) -> tuple[Any, Any, Any]:
    """Status, whom the answer is for, and what it varies by."""
    result = world.request(method, path, token, headers={"Origin": origin, **headers})
    return result.status_code, result.headers.get("access-control-allow-origin"), result.headers.get("vary")


def test_only_those_that_are_allowed(make: Callable[..., World]) -> None:
    world = make(allowed_origins=(OURS, "https://other.example.com"))
    assert allowed(world, OURS) == (200, OURS, "Origin")
    assert allowed(world, THEIRS) == (200, None, "Origin")
    assert allowed(world, OURS, "OPTIONS", None, **PREFLIGHT) == (204, OURS, "Origin")
    assert allowed(world, THEIRS, "OPTIONS", None, **PREFLIGHT) == (401, None, "Origin")
    assert allowed(world, OURS, "OPTIONS", None) == (401, OURS, "Origin"), "not a preflight"


def test_switched_off(make: Callable[..., World]) -> None:
    world = make(allowed_origins=())
    assert allowed(world, OURS) == (200, None, None)
    assert allowed(world, OURS, "OPTIONS", None, **PREFLIGHT) == (401, None, None)


@pytest.mark.parametrize(
    ("token", "path", "status", "vary"),
    [
        ("expired", DOMAIN, 401, "Origin"),
        ("france-admin", DOMAIN, 403, "Origin"),
        ("cloud-admin", "/v1/domains/nowhere", 404, "Origin"),
        ("cloud-admin", "/v1/nowhere", 404, "Origin"),
        ("keystone-is-down", DOMAIN, 503, "Origin"),
        ("cloud-admin", "/v1/projects", 200, "Origin, Accept-Encoding"),
    ],
)
def test_a_page_may_read_refusals_and_streams_as_well(
    world: World, token: str, path: str, status: int, vary: str
) -> None:
    assert allowed(world, OURS, token=token, path=path) == (status, "*", vary)


def test_what_a_page_may_send_and_see(world: World) -> None:
    headers = {"Origin": OURS, **PREFLIGHT}
    result = world.request("OPTIONS", DOMAIN, None, headers=headers)
    assert (result.status_code, result.content, result.headers["access-control-allow-origin"]) == (204, b"", "*")
    assert set(result.headers["access-control-allow-methods"].split(", ")) == {"HEAD", "GET", "POST", "PUT", "DELETE"}
    known = {"Content-Type", "User-Agent", "X-Auth-Token", "X-Limes-Cluster-Id", "X-Limes-V2-Api-Preview"}
    known |= {"If-Match", "If-None-Match"}
    assert set(result.headers["access-control-allow-headers"].split(", ")) >= known
    result = world.request("GET", DOMAIN, headers={"Origin": OURS})
    assert (result.headers["access-control-allow-origin"], result.headers["vary"]) == ("*", "Origin")
    exposed = result.headers["access-control-expose-headers"].split(", ")
    assert {"X-Openstack-Request-Id", "ETag"} <= set(exposed)
