"""Browsers that have signed in before are known again, by a cookie that is no session and says nothing."""

import os
import stat
from pathlib import Path
from typing import Any

import falcon.testing
import pytest

from limes.auth.without_keystone import SampleIdentities
from limes.kernel.errors import Unauthorized
from limes.ui.browser import KnownBrowsers, shared_key
from limes.ui.sign_in import Issued, PasswordSignIn, SampleSignInMethod, SignIn
from limes.ui.throttle import Throttle
from tests.support.clock import FrozenClock
from tests.ui.conftest import OWN, SAMPLE, client_of, mount_of


class Passwords(SampleSignInMethod):
    """Each sample user's password is `right`."""

    def sign_in(self, request: SignIn) -> Issued:
        assert isinstance(request, PasswordSignIn)
        if request.password.get_secret_value() != "right":
            raise Unauthorized("wrong")
        return Issued("bert", "bert")


def client(key: bytes = b"key", throttle: Throttle | None = None) -> falcon.testing.TestClient:
    throttle = throttle or Throttle(FrozenClock())
    return client_of(mount_of(Passwords(SAMPLE), SampleIdentities(SAMPLE), throttle, KnownBrowsers(key)))


def test_the_key_is_not_shown() -> None:
    assert "s3cret" not in repr(KnownBrowsers(b"s3cret"))


def sign_in(client: falcon.testing.TestClient, user: str, password: str, cookie: str = "", **headers: str) -> Any:
    body = {"method": "password", "user": user, "user_domain": "acme", "password": password}
    cookies = {"limes-browser": cookie} if cookie else {}
    return client.simulate_post("/ui/session", headers=OWN | headers, json=body, cookies=cookies)


def blocked(key: bytes = b"key") -> falcon.testing.TestClient:
    """A server where bert has to wait, as somebody behind the same address has guessed his password."""
    throttle = Throttle(FrozenClock())
    made = client(key, throttle)
    for _ in range(5):
        assert sign_in(made, "bert", "wrong").status_code == 401
    assert sign_in(made, "bert", "right").status_code == 429
    return made


def cookie_of(user: str) -> str:
    answer = sign_in(client(), user, "right")
    assert answer.status_code == 200
    return str(answer.cookies["limes-browser"].value)


def test_it_goes_first() -> None:
    cookie = cookie_of("bert")
    assert sign_in(blocked(), "bert", "right", cookie).status_code == 200
    assert sign_in(blocked(), "BERT ", "right", cookie).status_code == 200


@pytest.mark.parametrize("cookie", ["x", "x.y", ".", "1" * 32 + "." + "0" * 64, "\u00e4.\u00e4"])
def test_what_is_not_ours_counts_for_nothing(cookie: str) -> None:
    assert sign_in(blocked(), "bert", "right", cookie).status_code == 429


def test_it_is_for_one_account_and_one_key() -> None:
    assert sign_in(blocked(), "bert", "right", cookie_of("anna")).status_code == 429
    assert sign_in(blocked(b"another key"), "bert", "right", cookie_of("bert")).status_code == 429


def test_guessing_with_it_is_slow_as_well() -> None:
    server, cookie = blocked(), cookie_of("bert")
    for _ in range(5):
        assert sign_in(server, "bert", "wrong", cookie).status_code == 401
    assert sign_in(server, "bert", "right", cookie).status_code == 429
    assert sign_in(server, "bert", "right", cookie_of("bert")).status_code == 200  # another browser of his


def test_scripts_and_other_pages_cannot_get_it() -> None:
    answer = sign_in(client(), "bert", "right", **{"X-Forwarded-Proto": "https"})
    cookie = answer.cookies["limes-browser"]
    assert (cookie.http_only, cookie.same_site, cookie.secure, cookie.path) == (True, "Strict", True, "/ui/session")
    assert cookie.max_age == 180 * 24 * 3600
    assert "bert" not in cookie.value
    assert "limes-browser" not in sign_in(client(), "bert", "wrong").cookies


def test_it_keeps_its_number_and_stays_when_people_sign_out() -> None:
    cookie = cookie_of("bert")
    assert sign_in(client(), "bert", "right", cookie).cookies["limes-browser"].value == cookie
    gone = client().simulate_delete("/ui/session", headers=OWN, cookies={"limes-browser": cookie})
    assert list(gone.cookies) == ["limes-session"]


def test_workers_share_the_key(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    key = shared_key(folder)
    assert len(key) == 32
    assert shared_key(folder) == key
    assert [file.name for file in folder.iterdir()] == ["browser-key"]
    assert stat.S_IMODE(os.stat(folder / "browser-key").st_mode) == 0o600
    assert shared_key(None) != shared_key(None)
