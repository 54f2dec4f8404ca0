"""Signing in at a provider that does not do its part."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.clock import FrozenClock
from tests.support.faulty_provider import FaultyProvider
from tests.support.processes import eventually
from tests.ui.provider_clients import Browser


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        ("access_denied", 403, "the provider Acme has refused the sign-in (access_denied)"),
        (
            "temporarily_unavailable",
            503,
            "the provider Acme cannot sign you in just now (temporarily_unavailable); try again later",
        ),
        (
            "invalid_scope",
            403,
            "the provider Acme does not accept what Limes asks for (invalid_scope); tell the operators of this cloud",
        ),
    ],
)
def test_the_provider_refuses(browser: Browser, error: str, status: int, text: str) -> None:
    answer = browser.finish(error=error, state=browser.asked()["state"])
    assert (answer.status_code, answer.text) == (status, f"{text}\n")


@pytest.mark.parametrize(
    ("token", "status", "text"),
    [
        (
            (400, {"error": "invalid_grant"}),
            401,
            "does not know this code, or not any more (invalid_grant); sign in again",
        ),
        (
            (401, {"error": "invalid_client"}),
            503,
            "cannot be asked: it does not accept Limes as a client (client_id, client_secret)",
        ),
        ((500, b"oops"), 503, "cannot be asked: it gives no token (HTTP 500)"),
        ((200, b"oops"), 503, "cannot be asked: its id_token cannot be read"),
        ((200, {"id_token": "a.e30.b"}), 503, "cannot be asked: its id_token cannot be read"),
    ],
)
def test_no_token_for_the_code(browser: Browser, provider: FaultyProvider, token: Any, status: int, text: str) -> None:
    provider.token = token
    answer = browser.sign_in()
    assert (answer.status_code, answer.text) == (status, f"the provider Acme {text}\n")


@pytest.mark.parametrize(
    "claims", [{"iss": "https://other.example.com"}, {"aud": "other"}, {"aud": ["limes", "x"], "azp": "x"}, {"exp": 1}]
)
def test_an_identity_that_is_not_for_us(browser: Browser, provider: FaultyProvider, claims: dict[str, Any]) -> None:
    provider.claims.update(claims)
    answer = browser.sign_in()
    assert (answer.status_code, answer.text) == (
        503,
        "the provider Acme cannot be asked: its id_token is expired, or not for Limes\n",
    )
    assert browser.keystone.given == []


def test_an_identity_of_another_sign_in(browser: Browser, provider: FaultyProvider) -> None:
    state = browser.asked()["state"]
    provider.claims["nonce"] = "other"
    answer = browser.finish(code="c", state=state)
    assert (answer.status_code, "another question" in answer.text) == (401, True)


@pytest.mark.parametrize(
    ("discovery", "problem"),
    [
        ({"issuer": "https://other.example.com"}, "it says that its issuer is 'https://other.example.com', not"),
        ({"token_endpoint": None}, "what is at the place of its discovery document is none"),
    ],
)
def test_a_provider_that_says_something_else(
    browser: Browser, provider: FaultyProvider, discovery: dict[str, Any], problem: str
) -> None:
    provider.discovery.update(discovery)
    answer = browser.begin()
    assert answer.status_code == 503
    assert answer.text.startswith(f"the provider Acme cannot be asked: {problem}")


def test_a_provider_that_is_down(clock: FrozenClock) -> None:
    answer = Browser(FaultyProvider("http://127.0.0.1:9"), clock).begin()
    assert (answer.status_code, answer.text) == (503, "the provider Acme cannot be asked: connection refused\n")


def test_a_provider_that_hangs_keeps_few_threads(browser: Browser, provider: FaultyProvider) -> None:
    provider.hang = threading.Event()
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(browser.begin) for _ in range(2)]
        eventually("both wait", lambda: len(provider.asked) == 2)
        answer = browser.begin()
        provider.hang.set()
        assert [each.result().status_code for each in waiting] == [200, 200]
    text = "the provider Acme is slow, and too many sign-ins wait for it; try again later\n"
    assert (answer.status_code, answer.text) == (503, text)


def test_its_discovery_document_is_kept_for_an_hour(
    browser: Browser, provider: FaultyProvider, clock: FrozenClock
) -> None:
    for _ in range(3):
        browser.begin()
    assert len(provider.asked) == 1
    clock.advance(3600)
    browser.begin()
    assert len(provider.asked) == 2


def test_keystone_does_not_take_the_user(browser: Browser) -> None:
    browser.keystone.accepts = False
    answer = browser.sign_in()
    assert (answer.status_code, answer.text) == (403, "Keystone does not accept you\n")


def test_no_secret_is_logged(browser: Browser, provider: FaultyProvider, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    caplog.set_level("DEBUG", logger="keystoneauth")
    asked = browser.asked()
    browser.finish(code="a-secret-code", state=asked["state"])
    _, form, _ = provider.asked[-1]
    for secret in ("a-secret-code", form["code_verifier"], provider.tokens()["id_token"], browser.cookie):
        assert secret not in caplog.text
