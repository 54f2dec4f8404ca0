"""`/ui/session` with sample identities: cookies, refusals, scopes."""

import json
from typing import Any

import falcon
import falcon.testing
import pytest

from limes.auth.settings import sample_id
from tests.support.clock import FrozenClock
from tests.ui.conftest import OWN

SHOP_NAMED = {"id": sample_id("project", "shop"), "name": "shop"}
SHOP = {"project": sample_id("project", "shop")}


def _sign_in(client: falcon.testing.TestClient, token: str = "bert", **headers: Any) -> Any:
    body = {"method": "token", "token": token}
    return client.simulate_post("/ui/session", headers=OWN | headers, json=body)


def _cookie(answer: Any) -> Any:
    return answer.headers["set-cookie"]


def test_without_a_cookie_nobody_is_signed_in(dashboard: falcon.testing.TestClient) -> None:
    answer = dashboard.simulate_get("/ui/session", headers=OWN)
    assert (answer.status_code, answer.json["session"], answer.json["title"]) == (200, None, "Test")
    identities = answer.json["sign_in"]["identities"]
    assert [one["token"] for one in identities] == ["anna-domain", "anna-shop", "anna-system", "bert"]
    domain = {"id": sample_id("domain", "acme"), "name": "acme"}
    assert identities[3]["scope"] == {"project": SHOP_NAMED | {"domain": domain}}
    assert answer.headers["cache-control"] == "no-store"


def test_a_token_becomes_a_session_and_a_cookie_that_gives_it_back(dashboard: falcon.testing.TestClient) -> None:
    answer = _sign_in(dashboard)
    session = answer.json["session"]
    assert (answer.status_code, session["token"], session["roles"]) == (200, "bert", ["member"])
    assert (session["is_ours"], session["can_switch_scope"], session["expires_at"]) == (False, True, None)
    assert _cookie(answer) == "limes-session=brought|bert|bert; HttpOnly; Path=/ui/session; SameSite=Strict"
    again = dashboard.simulate_get("/ui/session", headers=OWN, cookies={"limes-session": "brought|bert|bert"})
    assert again.json["session"] == session


def test_behind_https_the_cookie_is_for_https_only(dashboard: falcon.testing.TestClient) -> None:
    assert "; Secure" in _cookie(_sign_in(dashboard, **{"X-Forwarded-Proto": "https"}))


def test_a_cookie_that_is_good_for_nothing_is_dropped(dashboard: falcon.testing.TestClient) -> None:
    for value in ("brought|somebody|somebody", "garbage", "ours||", "theirs|bert|bert"):
        answer = dashboard.simulate_get("/ui/session", headers=OWN, cookies={"limes-session": value})
        assert answer.json["session"] is None
    answer = dashboard.simulate_get("/ui/session", headers=OWN, cookies={"limes-session": "brought|somebody|somebody"})
    assert "limes-session=;" in _cookie(answer).replace('""', "")
    assert "Path=/ui/session" in _cookie(answer)


def test_a_wrong_token(dashboard: falcon.testing.TestClient) -> None:
    answer = _sign_in(dashboard, "nobody")
    assert (answer.status_code, answer.text) == (401, "the token is none of the sample's\n")
    assert "set-cookie" not in answer.headers


def test_who_fails_too_often_has_to_wait(dashboard: falcon.testing.TestClient, clock: FrozenClock) -> None:
    for _ in range(5):
        assert _sign_in(dashboard, "nobody").status_code == 401
    refused = _sign_in(dashboard, "nobody")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    assert refused.text == "too many failed sign-ins: try again in 2 seconds\n"
    assert _sign_in(dashboard, "bert").status_code == 200
    clock.advance(2)
    assert _sign_in(dashboard, "nobody").status_code == 401


def test_bad_tokens_of_others_keep_nobody_from_choosing_a_scope(dashboard: falcon.testing.TestClient) -> None:
    for _ in range(60):
        dashboard.simulate_get("/ui/session/scopes", headers=OWN | {"X-Auth-Token": "nobody"})
    for path in ("/ui/session/scopes", "/ui/session"):
        assert dashboard.simulate_get(path, headers=OWN | {"X-Auth-Token": "bert"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Limes-Dashboard": None},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.example.com"},
        {"Origin": "null"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_other_pages_are_refused(dashboard: falcon.testing.TestClient, method: str, headers: dict[str, Any]) -> None:
    given = {key: value for key, value in (OWN | headers).items() if value is not None}
    body = json.dumps({"method": "token", "token": "bert"})
    answer = dashboard.simulate_request(
        method,
        "/ui/session",
        headers=given | {"Content-Type": "application/json"},
        body=body if method == "POST" else None,
        cookies={"limes-session": "brought|bert|bert"},
    )
    assert answer.status_code == 403
    assert "bert" not in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://falconframework.org"},
        {"Origin": "http://a", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_our_own_page_is_served(dashboard: falcon.testing.TestClient, headers: dict[str, str]) -> None:
    assert _sign_in(dashboard, **headers).status_code == 200


def test_another_scope(dashboard: falcon.testing.TestClient) -> None:
    headers = OWN | {"X-Auth-Token": "anna-domain"}
    scopes = dashboard.simulate_get("/ui/session/scopes", headers=headers).json["scopes"]
    assert [next(iter(scope)) for scope in scopes] == ["domain", "project", "system"]
    answer = dashboard.simulate_post("/ui/session", headers=headers, json={"method": "scope", "scope": SHOP})
    assert (answer.status_code, answer.json["session"]["token"]) == (200, "anna-shop")
    system = {"method": "scope", "scope": {"system": "all"}}
    assert dashboard.simulate_post("/ui/session", headers=headers, json=system).json["session"]["scope"] == {
        "system": "all"
    }
    bert = OWN | {"X-Auth-Token": "bert"}
    assert dashboard.simulate_post("/ui/session", headers=bert, json=system).status_code == 403


def test_scopes_need_a_token(dashboard: falcon.testing.TestClient) -> None:
    assert dashboard.simulate_get("/ui/session/scopes", headers=OWN).status_code == 401
    answer = dashboard.simulate_post("/ui/session", headers=OWN, json={"method": "scope", "scope": SHOP})
    assert answer.status_code == 400


def test_signing_out_drops_the_cookie(dashboard: falcon.testing.TestClient) -> None:
    answer = dashboard.simulate_delete("/ui/session", headers=OWN, cookies={"limes-session": "brought|bert|bert"})
    assert (answer.status_code, answer.text) == (204, "")
    assert "Path=/ui/session" in _cookie(answer)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"{", "the body is not JSON\n"),
        (b"{}", "Unable to extract tag using discriminator 'method'\n"),
        (b'{"method": "token"}', "token: Field required\n"),
        (b'{"method": "token", "token": "x", "more": 1}', "more: Extra inputs are not permitted\n"),
        (
            b'{"method": "scope", "scope": {"project": "a", "domain": "b"}}',
            "scope: Value error, expected exactly one of project, domain and system\n",
        ),
        (
            b'{"method": "password", "user": "u", "user_domain": "d", "password": "secret"}',
            "there are sample identities only: sign in with one of their tokens\n",
        ),
        (b"x" * 33000, "the body is too large: the limit is 32768 bytes\n"),
    ],
)
def test_bodies_that_make_no_sense(dashboard: falcon.testing.TestClient, body: bytes, text: str) -> None:
    headers = OWN | {"Content-Type": "application/json"}
    answer = dashboard.simulate_post("/ui/session", headers=headers, body=body)
    assert (answer.status_code, answer.text) == (400, text)


def test_only_json_is_read(dashboard: falcon.testing.TestClient) -> None:
    body = "method=token&token=bert"
    answer = dashboard.simulate_post(
        "/ui/session", headers=OWN | {"Content-Type": "application/x-www-form-urlencoded"}, body=body
    )
    assert (answer.status_code, answer.text) == (400, "expected a body of type application/json\n")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("POST", ""), ("DELETE", ""), ("GET", "/scopes"), ("PUT", ""), ("GET", "/none")]
)
@pytest.mark.parametrize("token", ["bert", "made-up"])
def test_nothing_of_a_session_is_kept(dashboard: falcon.testing.TestClient, method: str, path: str, token: str) -> None:
    headers = OWN | {"X-Auth-Token": token}
    answer = dashboard.simulate_request(method, f"/ui/session{path}", headers=headers)
    if path == "/none":  # that is the page, which has no secrets
        assert answer.headers["cache-control"] == "no-cache"
    else:
        assert answer.headers["cache-control"] == "no-store"
