"""Our validator when Keystone fails: nobody is let in, nobody is told that their token is bad, and no token is logged."""

import json
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from limes.app.composition.identity import build_authenticator
from limes.auth.context import Authenticator
from limes.auth.session import open_session
from limes.auth.settings import IdentitySettings
from limes.kernel.errors import StartupError, Unauthorized, Unavailable
from tests.support.clock import FrozenClock
from tests.support.faulty_keystone import FaultyKeystone, faulty_keystone, token_body
from tests.support.processes import free_port

TOKEN = "gAAAA-the-users-token"
PASSWORD = "our-own-password"
ENVIRON = {"HTTP_X_AUTH_TOKEN": TOKEN}


@pytest.fixture
def fake() -> Iterator[FaultyKeystone]:
    with faulty_keystone() as keystone:
        yield keystone


def settings_for(url: str, timeout: float = 5.0, **changes: Any) -> IdentitySettings:
    login = {
        "auth_url": url,
        "username": "limes",
        "user_domain_id": "default",
        "password": PASSWORD,
        "project_name": "service",
        "project_domain_id": "default",
        "timeout": timeout,
    }
    return IdentitySettings.model_validate({"keystone": login, **changes})


def make(url: str, clock: FrozenClock | None = None, **changes: Any) -> Authenticator:
    settings = settings_for(url, **changes)
    return build_authenticator(settings, open_session(settings), clock or FrozenClock())


@pytest.fixture(autouse=True)
def _nothing_secret_in_the_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.DEBUG)
    yield
    for secret in (TOKEN, PASSWORD, "own-token-1"):
        assert secret not in caplog.text


@pytest.mark.parametrize("path", ["", "/", "/v3", "/v3/"])
def test_any_form_of_the_address(fake: FaultyKeystone, path: str) -> None:
    identity = make(fake.url + path).authenticate(ENVIRON)
    assert (identity.user_id, identity.project_id, identity.roles) == ("u1", "p1", ("member",))
    assert fake.requests == [("POST", "/v3/auth/tokens"), ("GET", "/v3/auth/tokens?nocatalog")]
    assert fake.subjects == [TOKEN]


@pytest.mark.parametrize(
    "answer",
    [
        (500, b"oops"),
        (502, b"<html>"),
        (503, b""),
        (429, b""),
        (403, b'{"error": {"message": "You are not authorized"}}'),
        (400, b"{}"),
        (302, b""),
        (200, b""),
        (200, b"<html>a captive portal</html>"),
        (200, b"[]"),
        (200, b'{"token": null}'),
        (200, b'{"token": {}}'),
        (200, json.dumps(token_body(user=None)).encode()),
        (200, json.dumps(token_body(roles="admin")).encode()),
        (200, json.dumps(token_body(roles=[{"name": 7}])).encode()),
        (200, json.dumps(token_body(expires_at=None)).encode()),
        (200, json.dumps(token_body(expires_at="tomorrow")).encode()),
        (200, b'{"token": "\xff"}'),
    ],
)
def test_what_is_no_answer_is_unavailable(fake: FaultyKeystone, answer: tuple[int, bytes]) -> None:
    authenticator = make(fake.url)
    fake.validation = answer
    with pytest.raises(Unavailable) as caught:
        authenticator.authenticate(ENVIRON)
    assert fake.url not in str(caught.value)
    fake.validation = FaultyKeystone().validation
    assert authenticator.authenticate(ENVIRON).user_id == "u1"  # the failure was not remembered


def test_not_found_means_invalid_and_is_remembered_briefly(fake: FaultyKeystone) -> None:
    clock = FrozenClock()
    authenticator = make(fake.url, clock, cache={"negative_ttl": 10})
    fake.validation = (404, b"{}")
    for _ in range(3):
        with pytest.raises(Unauthorized):
            authenticator.authenticate(ENVIRON)
    assert fake.count("GET") == 1
    fake.validation = FaultyKeystone().validation
    clock.advance(10)
    assert authenticator.authenticate(ENVIRON).user_id == "u1"


def test_a_valid_token_is_remembered_for_the_ttl(fake: FaultyKeystone) -> None:
    clock = FrozenClock()
    authenticator = make(fake.url, clock, cache={"ttl": 60})
    for seconds, count in ((0, 1), (59, 1), (1, 2)):
        clock.advance(seconds)
        authenticator.authenticate(ENVIRON)
        assert fake.count("GET") == count


def test_a_remembered_token_still_ends(fake: FaultyKeystone) -> None:
    clock = FrozenClock()
    ends = (clock.now() + timedelta(seconds=30)).isoformat()
    fake.validation = (200, json.dumps(token_body(expires_at=ends)).encode())
    authenticator = make(fake.url, clock, cache={"ttl": 300})
    clock.advance(29.9)
    authenticator.authenticate(ENVIRON)
    clock.advance(0.1)
    with pytest.raises(Unauthorized):
        authenticator.authenticate(ENVIRON)
    assert fake.count("GET") == 1


def test_a_keystone_that_hangs(fake: FaultyKeystone) -> None:
    authenticator = make(fake.url, timeout=0.2)
    fake.hang = threading.Event()
    with pytest.raises(Unavailable):
        authenticator.authenticate(ENVIRON)


def test_a_keystone_that_is_not_there() -> None:
    with pytest.raises(Unavailable):
        make(f"http://127.0.0.1:{free_port()}").authenticate(ENVIRON)


@pytest.mark.parametrize("login", [(401, b"{}"), (500, b""), (201, b"no JSON"), (404, b"")])
def test_our_own_login_is_refused(fake: FaultyKeystone, login: tuple[int, bytes]) -> None:
    fake.login = login
    with pytest.raises(Unavailable):
        make(fake.url).authenticate(ENVIRON)


def test_our_own_token_is_renewed_when_it_is_refused(fake: FaultyKeystone) -> None:
    authenticator = make(fake.url, cache={"ttl": 0})
    authenticator.authenticate(ENVIRON)
    fake.good_logins = {"own-token-2"}
    assert authenticator.authenticate(ENVIRON).user_id == "u1"
    assert fake.count("POST") == 2


def test_our_own_token_is_refused_for_ever(fake: FaultyKeystone) -> None:
    fake.good_logins = {"none"}
    with pytest.raises(Unavailable):
        make(fake.url).authenticate(ENVIRON)


@pytest.mark.parametrize("token", ["", "  ", "with space", "with\nnewline", "umlaut-\xe4", "x" * 8001])
def test_what_cannot_be_a_token_is_not_asked_about(fake: FaultyKeystone, token: str) -> None:
    with pytest.raises(Unauthorized):
        make(fake.url).authenticate({"HTTP_X_AUTH_TOKEN": token})
    assert fake.requests == []


def test_many_requests_with_a_new_token_ask_once(fake: FaultyKeystone) -> None:
    authenticator = make(fake.url, validations_at_once=8)
    with ThreadPoolExecutor(8) as pool:
        identities = list(pool.map(lambda _: authenticator.authenticate(ENVIRON), range(40)))
    assert {identity.user_id for identity in identities} == {"u1"}
    assert fake.subjects == [TOKEN]


def test_the_challenge_names_keystone(fake: FaultyKeystone) -> None:
    assert make(fake.url).challenge() == f'Keystone uri="{fake.url}"'
    public = settings_for(fake.url).model_dump()["keystone"] | {"www_authenticate_uri": "https://keystone.example.org"}
    settings = IdentitySettings.model_validate({"keystone": public})
    authenticator = build_authenticator(settings, open_session(settings), FrozenClock())
    assert authenticator.challenge() == 'Keystone uri="https://keystone.example.org"'


@pytest.mark.parametrize(
    ("login", "message"),
    [((401, b'{"error": {"message": "bad password", "code": 401, "title": "x"}}'), "401"), ((503, b""), "503")],
)
def test_a_failing_login_at_start_is_one_line(fake: FaultyKeystone, login: tuple[int, bytes], message: str) -> None:
    fake.login = login
    with pytest.raises(StartupError, match=message) as caught:
        open_session(settings_for(fake.url)).check()
    assert fake.url in str(caught.value)
    assert "\n" not in str(caught.value)
    assert PASSWORD not in str(caught.value)


def test_no_keystone_at_start_is_one_line() -> None:
    url = f"http://127.0.0.1:{free_port()}/v3"
    with pytest.raises(StartupError, match=r"cannot log in at Keystone \(http://127") as caught:
        open_session(settings_for(url)).check()
    assert "\n" not in str(caught.value)
