"""Signing in at a provider, without a browser: the way there and back, and all that can be wrong with an answer."""

import base64
import hashlib
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.clock import FrozenClock
from tests.support.faulty_provider import FaultyProvider
from tests.ui.conftest import OWN
from tests.ui.provider_clients import COOKIE, KEYSTONE, URL, Browser

NO_SIGN_IN = "Limes: this is not the answer to a sign-in that was started in this browser, or it was used already; sign in again\n"


def test_the_page_offers_the_providers(browser: Browser) -> None:
    offer = browser.client.simulate_get("/ui/session", headers=OWN).json["sign_in"]
    assert offer["providers"] == [{"id": "acme", "label": "Acme"}, {"id": "sso", "label": "SSO"}]


def test_there_and_back(browser: Browser, provider: FaultyProvider) -> None:
    asked = browser.asked(return_to="/ui/domains/d?x=1")
    expected = {"response_type": "code", "client_id": "limes", "redirect_uri": f"{URL}/ui/sign-in/acme"}
    assert asked.items() >= {**expected, "scope": "openid profile email", "code_challenge_method": "S256"}.items()
    answer = browser.finish(code="c0de", state=asked["state"])
    assert (answer.status_code, answer.json["return_to"]) == (200, "/ui/domains/d?x=1")
    assert answer.json["session"]["user"]["name"] == "bert"
    assert answer.cookies["limes-session"].value == "ours|bert|bert|acme"
    assert (answer.cookies[COOKIE].value, answer.cookies[COOKIE].expires) == ("", datetime(1970, 1, 1, tzinfo=UTC))
    path, form, authorization = provider.asked[-1]
    assert (path, form["code"], form["redirect_uri"], form["client_id"]) == (
        "/token",
        "c0de",
        asked["redirect_uri"],
        "limes",
    )
    digest = hashlib.sha256(form["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == asked["code_challenge"]
    assert authorization == ""
    assert browser.keystone.given == ["bert"]


def test_the_cookie_is_the_servers_alone(browser: Browser) -> None:
    cookie = browser.begin().cookies[COOKIE]
    assert (cookie.http_only, cookie.same_site, cookie.path, cookie.secure) == (True, "Strict", "/", False)
    asked = browser.asked()
    assert not any(secret in browser.cookie for secret in (asked["state"], asked["nonce"]))


def test_with_tls_no_other_host_of_the_domain_can_set_it(browser: Browser) -> None:
    answer = browser.client.simulate_post("/ui/session/with/acme", headers=OWN, protocol="https")
    ((name, cookie),) = answer.cookies.items()
    assert (name, cookie.secure, cookie.path, cookie.domain) == (f"__Host-{COOKIE}", True, "/", None)


def test_the_address_with_the_code_is_nowhere_else(browser: Browser) -> None:
    answer = browser.client.simulate_get("/ui/sign-in/acme?code=c&state=s")
    assert (answer.headers["cache-control"], answer.headers["referrer-policy"]) == ("no-store", "no-referrer")


def test_a_secret_goes_in_a_header(provider: FaultyProvider, clock: FrozenClock) -> None:
    browser = Browser(provider, clock, client_secret="a b+c")
    assert browser.sign_in().status_code == 200
    _, form, authorization = provider.asked[-1]
    assert base64.b64decode(authorization.removeprefix("Basic ")) == b"limes:a+b%2Bc"
    assert "client_id" not in form


def test_keystone_may_want_the_other_token(provider: FaultyProvider, clock: FrozenClock) -> None:
    browser = Browser(provider, clock, keystone_gets="id_token")
    browser.sign_in()
    assert browser.keystone.given == [provider.tokens()["id_token"]]


@pytest.mark.parametrize(
    "path", ["https://elsewhere.example.com", "//elsewhere", "/v1/", "/uix", "", "/ui" + "/x" * 600]
)
def test_nobody_is_led_elsewhere(browser: Browser, path: str) -> None:
    state = browser.asked(return_to=path)["state"]
    assert browser.finish(code="c", state=state).json["return_to"] == "/ui"


def test_a_provider_that_there_is_not(browser: Browser) -> None:
    text = "Limes: there is no provider 'other'; there are: acme, sso\n"
    for answer in (browser.begin("other"), browser.finish("other", code="c", state="s")):
        assert (answer.status_code, answer.text) == (404, text)
    assert browser.post_token("other") == {"status": "404", "provider": "other", "problem": text.strip()}


def test_only_our_own_page_begins(browser: Browser) -> None:
    for headers in ({}, {**OWN, "Sec-Fetch-Site": "cross-site"}, {**OWN, "Origin": "https://elsewhere.example.com"}):
        answer = browser.client.simulate_post("/ui/session/with/acme", headers=headers)
        assert (answer.status_code, COOKIE in answer.cookies) == (403, False)


def test_who_would_come_back_to_another_address_is_told_at_once(browser: Browser) -> None:
    headers = {**OWN, "Sec-Fetch-Site": "same-origin"}
    answers = [
        browser.client.simulate_post("/ui/session/with/acme", headers={**headers, "Origin": origin})
        for origin in ("https://internal.example.com", URL)
    ]
    assert [answer.status_code for answer in answers] == [400, 200]
    assert answers[0].text == f"Limes: single sign-on works at {URL}/ui, not at other addresses; sign in there\n"


# -- answers that count for nothing ------------------------------------------------------------------------------------


def test_an_answer_to_nothing(browser: Browser) -> None:
    answer = browser.finish(code="c", state="s")
    assert (answer.status_code, answer.text) == (401, NO_SIGN_IN)
    assert "limes-session" not in answer.cookies


def test_an_answer_to_another_sign_in(browser: Browser, provider: FaultyProvider) -> None:
    earlier = browser.asked()["state"]
    browser.asked()
    answer = browser.finish(code="c", state=earlier)
    text = "Limes: this answer is not the one to the sign-in that this browser has started last; sign in again\n"
    assert (answer.status_code, answer.text) == (401, text)
    assert provider.asked[-1][0] != "/token"


def test_a_replayed_answer(browser: Browser, provider: FaultyProvider) -> None:
    state = browser.asked()["state"]
    assert browser.finish(code="c", state=state).status_code == 200
    count = len(provider.asked)
    again = browser.finish(code="c", state=state)  # with a cookie that somebody has kept
    assert (again.status_code, again.text) == (
        401,
        "Limes: the answer to this sign-in was used before; sign in again\n",
    )
    assert len(provider.asked) == count


def test_an_answer_that_comes_too_late(browser: Browser, clock: FrozenClock) -> None:
    state = browser.asked()["state"]
    clock.advance(600)
    answer = browser.finish(code="c", state=state)
    assert (answer.status_code, answer.text) == (
        401,
        "Limes: this sign-in took longer than 10 minutes; sign in again\n",
    )


@pytest.mark.parametrize("forge", [lambda cookie: "x" + cookie, lambda cookie: cookie[:-1] + "é", lambda cookie: "a.b"])
def test_a_forged_cookie(browser: Browser, forge: Any) -> None:
    state = browser.asked()["state"]
    browser.cookie = forge(browser.cookie)
    answer = browser.finish(code="c", state=state)
    text = "Limes: the cookie of this sign-in is forged, or of another Limes; sign in again\n"
    assert (answer.status_code, answer.text) == (401, text)


def test_a_cookie_of_another_limes(provider: FaultyProvider, clock: FrozenClock) -> None:
    other, browser = Browser(provider, clock, b"other"), Browser(provider, clock)
    state = other.asked()["state"]
    browser.cookie = other.cookie
    assert "of another Limes" in browser.finish(code="c", state=state).text


def test_an_answer_of_another_provider(browser: Browser) -> None:
    browser.begin("sso")
    answer = browser.finish(code="c", state="s")
    text = "Limes: this answer is of another provider than this browser has asked; sign in again\n"
    assert (answer.status_code, answer.text) == (401, text)


@pytest.mark.parametrize("iss", ["https://other.example.com", None])
def test_an_answer_that_names_another_issuer_or_none(
    browser: Browser, provider: FaultyProvider, iss: str | None
) -> None:
    provider.discovery["authorization_response_iss_parameter_supported"] = True
    answer = browser.finish(code="c", state=browser.asked()["state"], **({"iss": iss} if iss else {}))
    assert (answer.status_code, answer.text) == (
        401,
        "Limes: this answer is not one of the provider Acme; sign in again\n",
    )
    fine = browser.finish(code="c", state=browser.asked()["state"], iss=provider.url)
    assert fine.status_code == 200


def test_who_sends_many_bad_answers_waits(browser: Browser, provider: FaultyProvider) -> None:
    provider.token = (400, {"error": "invalid_grant"})
    statuses = [browser.sign_in().status_code for _ in range(101)]
    assert (set(statuses[:100]), statuses[100]) == ({401}, 429)


# -- WebSSO ------------------------------------------------------------------------------------------------------------


def test_keystone_is_told_where_to_come_back_to(browser: Browser) -> None:
    there = urlsplit(browser.begin("sso").json["continue_at"])
    assert there.geturl().startswith(f"{KEYSTONE}/v3/auth/OS-FEDERATION/websso/openid?")
    assert parse_qs(there.query) == {"origin": [f"{URL}/ui/sign-in/sso"]}


def test_what_keystone_posts_signs_in(browser: Browser) -> None:
    browser.begin("sso")
    assert browser.post_token() == {"status": "200", "provider": "sso", "token": "bert"}
    answer = browser.finish("sso", token="bert")
    assert (answer.status_code, answer.json["session"]["user"]["name"]) == (200, "bert")
    again = browser.finish("sso", token="bert")
    assert (again.status_code, again.text) == (
        401,
        "Limes: the answer to this sign-in was used before; sign in again\n",
    )


@pytest.mark.parametrize("origin", ["https://elsewhere.example.com", "null", "", "https://keystone.example.com:444"])
def test_what_a_page_elsewhere_posts_is_thrown_away(browser: Browser, origin: str) -> None:
    browser.begin("sso")
    found = browser.post_token(Origin=origin)
    assert (found["status"], "token" in found) == ("403", False)
    assert found["problem"].startswith(
        f"Limes: a page of {origin or 'an unknown origin'} has posted this, and not Keystone"
    )


def test_a_token_alone_signs_nobody_in(browser: Browser) -> None:
    answer = browser.finish("sso", token="bert")
    assert (answer.status_code, answer.text) == (401, NO_SIGN_IN)


def test_nothing_is_posted_to_openid_connect(browser: Browser) -> None:
    assert browser.post_token("acme")["status"] == "403"


@pytest.mark.parametrize("body", ["", "token=", "other=x", "token=%00", "token=" + "x" * 9000, "&" * 100])
def test_a_post_without_a_token(browser: Browser, body: str) -> None:
    found = browser.post_token(body=body)
    assert (found["status"] in ("400", "401"), "token" in found) == (True, False)


def test_what_is_posted_is_no_markup(browser: Browser) -> None:
    assert browser.post_token(body="token=%22%3E%3Cscript%3E")["token"] == '"><script>'


def test_a_token_that_keystone_does_not_know(browser: Browser) -> None:
    browser.begin("sso")
    answer = browser.finish("sso", token="nobody")
    assert (answer.status_code, answer.text) == (401, "Keystone: the token that came with this answer is not valid\n")


# -- signing out -------------------------------------------------------------------------------------------------------


def _sign_out(browser: Browser, cookie: str) -> Any:
    return browser.client.simulate_delete("/ui/session", headers=OWN, cookies={"limes-session": cookie})


def test_signing_out_leads_on_to_the_provider(browser: Browser, provider: FaultyProvider) -> None:
    answer = _sign_out(browser, "ours|bert|bert|acme")
    there = urlsplit(answer.json["continue_at"])
    assert f"{there.scheme}://{there.netloc}{there.path}" == f"{provider.url}/end_session"
    assert parse_qs(there.query) == {"client_id": ["limes"], "post_logout_redirect_uri": [f"{URL}/ui"]}
    assert answer.cookies["limes-session"].value == ""


@pytest.mark.parametrize("cookie", ["ours|bert|bert", "ours|bert|bert|sso", "ours|bert|bert|other"])
def test_or_not(browser: Browser, cookie: str) -> None:
    assert _sign_out(browser, cookie).status_code == 204


def test_or_if_it_has_none_or_is_down(browser: Browser, provider: FaultyProvider, clock: FrozenClock) -> None:
    provider.discovery["end_session_endpoint"] = None
    assert _sign_out(browser, "ours|bert|bert|acme").status_code == 204
    assert _sign_out(Browser(FaultyProvider("http://127.0.0.1:9"), clock), "ours|bert|bert|acme").status_code == 204
    assert _sign_out(Browser(provider, clock, sign_out=False), "ours|bert|bert|acme").status_code == 204


def test_another_scope_keeps_the_provider(browser: Browser) -> None:
    cookies = {"limes-session": "ours|anna-domain|anna-domain|acme"}
    body = {"method": "scope", "scope": {"system": "all"}}
    headers = {**OWN, "X-Auth-Token": "anna-domain"}
    answer = browser.client.simulate_post("/ui/session", headers=headers, cookies=cookies, json=body)
    assert answer.cookies["limes-session"].value == "ours|anna-system|anna-domain|acme"
