"""Signing in at a real Keystone, without a browser."""

import base64
import hmac
import struct
import time
from types import SimpleNamespace
from typing import Any

import falcon.testing
import pytest

from limes.app.composition.identity import build_authenticator
from limes.auth.session import open_session
from limes.auth.settings import IdentitySettings
from limes.kernel.errors import Forbidden, Unavailable
from limes.kernel.system import SystemClock
from limes.ui.keystone_sign_in import KeystoneSignInMethod
from limes.ui.throttle import Throttle
from tests.support.faulty_keystone import faulty_keystone
from tests.support.keystone import RealKeystone
from tests.support.keystone_seed import PASSWORD
from tests.ui.conftest import OWN, client_of, mount_of


def _client(credentials: dict[str, str], **options: Any) -> falcon.testing.TestClient:
    identity = IdentitySettings.model_validate({"keystone": credentials, "cache": {"ttl": 0, "negative_ttl": 0}})
    cloud, clock = open_session(identity), SystemClock()
    authenticator = build_authenticator(identity, cloud, clock)
    return client_of(mount_of(KeystoneSignInMethod(cloud, "north", **options), authenticator, Throttle(clock)))


@pytest.fixture(scope="module")
def client(keystone: RealKeystone) -> falcon.testing.TestClient:
    return _client(keystone.credentials("limes"))


def _post(client: falcon.testing.TestClient, given: str | None = None, **body: Any) -> falcon.testing.Result:
    headers = OWN | ({"X-Auth-Token": given} if given else {})
    return client.simulate_post("/ui/session", headers=headers, json=body)


def _password(
    client: falcon.testing.TestClient, user: str, domain: str = "north", password: str = PASSWORD, **more: str
) -> falcon.testing.Result:
    return _post(client, method="password", user=user, user_domain=domain, password=password, **more)


def _is_good(keystone: RealKeystone, token: Any) -> bool:
    headers = {"X-Subject-Token": token}
    return keystone.api.get("/auth/tokens", headers=headers, raise_exc=False).status_code == 200


def test_the_page_asks_for_a_password(client: falcon.testing.TestClient) -> None:
    answer = client.simulate_get("/ui/session", headers=OWN)
    offer = {"method": "keystone", "user_domain": "north", "passwords": True, "providers": []}
    assert answer.json == {"session": None, "sign_in": offer, "title": "Test"}


def test_passwords_may_be_switched_off(keystone: RealKeystone) -> None:
    client = _client(keystone.credentials("limes"), with_passwords=False)
    assert client.simulate_get("/ui/session", headers=OWN).json["sign_in"]["passwords"] is False
    answer = _password(client, "berlin-member")
    assert (answer.status_code, answer.text) == (
        403,
        "this cloud has no sign-in with a password (ui.password_sign_in)\n",
    )
    made = keystone.application_credential("berlin-admin", "berlin")
    assert _post(client, method="application_credential", id=made["id"], secret=made["secret"]).status_code == 200


@pytest.mark.parametrize(
    ("status", "error", "text"),
    [
        (404, Unavailable, "Keystone has no identity provider 'acme' with the protocol 'openid'; tell"),
        (401, Forbidden, "Keystone does not accept you: the mapping of acme/openid has no rule for your account"),
        (500, Unavailable, "Keystone cannot be asked just now"),
    ],
)
def test_who_is_not_let_in_by_another_provider(status: int, error: type[Exception], text: str) -> None:
    with faulty_keystone() as faulty:
        faulty.login = (status, b"{}")
        login = {"username": "limes", "password": "p", "user_domain_id": "default", "project_name": "service"}
        keystone = {**login, "project_domain_id": "default", "auth_url": faulty.url}
        method = KeystoneSignInMethod(open_session(IdentitySettings.model_validate({"keystone": keystone})), "north")
        with pytest.raises(error, match=text):
            method.exchange("acme", "openid", "a-token-of-the-provider")
        path = "/v3/OS-FEDERATION/identity_providers/acme/protocols/openid/auth"
        assert faulty.requests == [("POST", path)]


def test_a_user_with_one_scope_gets_it(client: falcon.testing.TestClient, keystone: RealKeystone) -> None:
    answer = _password(client, "berlin-member")
    session = answer.json["session"]
    assert (answer.status_code, session["roles"], session["is_ours"]) == (200, ["member", "reader"], True)
    assert session["scope"]["project"]["id"] == keystone.ids.projects["berlin"]
    assert session["scope"]["project"]["domain"]["name"] == "north"
    assert session["expires_at"] > time.time()
    assert "scopes" not in answer.json
    assert answer.cookies["limes-session"].value.startswith(f"ours|{session['token']}|")


def test_a_user_with_several_scopes_chooses(client: falcon.testing.TestClient, keystone: RealKeystone) -> None:
    first = _password(client, "north-admin").json
    assert first["session"]["scope"] is None
    north = {"id": keystone.ids.domains["north"], "name": "north"}
    berlin = {"id": keystone.ids.projects["berlin"], "name": "berlin", "domain": north}
    assert first["scopes"] == [{"domain": north}, {"project": berlin}]
    unscoped = first["session"]["token"]
    cookies = {"limes-session": f"ours|{unscoped}|{unscoped}"}
    again = client.simulate_get("/ui/session", headers=OWN, cookies=cookies).json
    assert (again["session"], again["scopes"]) == (first["session"], first["scopes"])
    body = {"method": "scope", "scope": {"domain": north["id"]}}
    headers = OWN | {"X-Auth-Token": unscoped}
    answer = client.simulate_post("/ui/session", headers=headers, cookies=cookies, json=body)
    chosen = answer.json["session"]
    assert (chosen["scope"], chosen["roles"]) == ({"domain": north}, ["member", "reader", "resource_admin"])
    assert answer.cookies["limes-session"].value == f"ours|{chosen['token']}|{unscoped}"


def test_switching_goes_by_the_first_token_and_signing_out_revokes_them_all(
    client: falcon.testing.TestClient, keystone: RealKeystone
) -> None:
    north, berlin = keystone.ids.domains["north"], keystone.ids.projects["berlin"]
    body = {"method": "scope", "scope": {"project": berlin}}
    root = keystone.unscoped_token("north-admin")
    first = _post(client, root, method="scope", scope={"domain": north}).json["session"]
    cookies = {"limes-session": f"ours|{first['token']}|{root}"}
    headers = OWN | {"X-Auth-Token": first["token"]}
    second = client.simulate_post("/ui/session", headers=headers, cookies=cookies, json=body).json["session"]
    assert second["scope"]["project"]["name"] == "berlin"
    assert _is_good(keystone, first["token"])  # it may be in use in another tab
    others = {"limes-session": f"ours|x|{keystone.unscoped_token('berlin-member')}"}
    headers = OWN | {"X-Auth-Token": root}
    mine = client.simulate_post("/ui/session", headers=headers, cookies=others, json=body).json["session"]
    assert mine["user"]["name"] == "north-admin"
    client.simulate_delete("/ui/session", headers=OWN, cookies=cookies)
    assert not any(_is_good(keystone, one) for one in (root, first["token"], second["token"], mine["token"]))


def test_the_system_is_a_scope(client: falcon.testing.TestClient) -> None:
    first = _password(client, "operator", "Default").json
    assert {"system": "all"} in first["scopes"]
    chosen = _post(client, first["session"]["token"], method="scope", scope={"system": "all"}).json["session"]
    assert (chosen["scope"], "admin" in chosen["roles"]) == ({"system": "all"}, True)


@pytest.mark.parametrize(
    ("user", "domain", "password"),
    [("north-admin", "north", "wrong"), ("nobody", "north", PASSWORD), ("north-admin", "south", PASSWORD)],
)
def test_wrong_credentials_and_no_trace_of_them(
    client: falcon.testing.TestClient, caplog: pytest.LogCaptureFixture, user: str, domain: str, password: str
) -> None:
    caplog.set_level("DEBUG")
    answer = _password(client, user, domain, password)
    assert (answer.status_code, answer.text) == (401, "user, domain or password is wrong\n")
    assert password not in caplog.text


def test_no_password_and_no_token_is_logged(
    client: falcon.testing.TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    caplog.set_level(
        "DEBUG", logger="keystoneauth"
    )  # which limes.kernel.logs keeps quiet, if another test has set it up
    session = _password(client, "berlin-member").json["session"]
    assert caplog.records
    assert PASSWORD not in caplog.text
    assert session["token"] not in caplog.text


def test_a_scope_that_is_not_theirs(client: falcon.testing.TestClient, keystone: RealKeystone) -> None:
    token = keystone.project_token("berlin-member", "berlin")
    answer = _post(client, token, method="scope", scope={"domain": keystone.ids.domains["south"]})
    assert (answer.status_code, answer.text) == (403, "Keystone gives no token for this scope; perhaps sign in again\n")


def test_an_application_credential(client: falcon.testing.TestClient, keystone: RealKeystone) -> None:
    made = keystone.application_credential("berlin-admin", "berlin")
    session = _post(client, method="application_credential", id=made["id"], secret=made["secret"]).json["session"]
    assert (session["scope"]["project"]["name"], session["can_switch_scope"]) == ("berlin", False)
    refused = _post(client, method="application_credential", id=made["id"], secret="wrong")
    assert refused.status_code == 401


def test_a_token_that_was_brought_along(client: falcon.testing.TestClient, keystone: RealKeystone) -> None:
    token = keystone.domain_token("north-admin", "north")
    session = _post(client, method="token", token=token).json["session"]
    assert (session["is_ours"], session["scope"]["domain"]["name"]) == (False, "north")
    assert _post(client, method="token", token=keystone.revoked_token("berlin-member", "berlin")).status_code == 401


def test_signing_out_revokes(client: falcon.testing.TestClient, keystone: RealKeystone) -> None:
    token = _password(client, "berlin-member").json["session"]["token"]
    for _ in range(2):  # the second time it is gone already
        answer = client.simulate_delete("/ui/session", headers=OWN | {"X-Auth-Token": token})
        assert answer.status_code == 204
    assert not _is_good(keystone, token)
    cookies = {"limes-session": f"ours|{token}|{token}"}
    assert client.simulate_get("/ui/session", headers=OWN, cookies=cookies).json["session"] is None


def test_a_second_factor(client: falcon.testing.TestClient, keystone: RealKeystone) -> None:
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    user = keystone.ids.users["berlin-viewer"]
    blob = {"blob": secret, "type": "totp", "user_id": user}
    keystone.api.post("/credentials", json={"credential": blob})
    rules = {"multi_factor_auth_enabled": True, "multi_factor_auth_rules": [["password", "totp"]]}
    keystone.api.patch(f"/users/{user}", json={"user": {"options": rules}})
    try:
        answer = _password(client, "berlin-viewer")
        assert (answer.status_code, answer.text) == (400, "this user needs a one-time passcode besides the password\n")
        assert _password(client, "berlin-viewer", passcode="000000").status_code == 401
        assert _password(client, "berlin-viewer", passcode=_passcode(secret)).status_code == 200
    finally:
        off = {"multi_factor_auth_enabled": None, "multi_factor_auth_rules": None}
        keystone.api.patch(f"/users/{user}", json={"user": {"options": off}})


def _passcode(secret: str) -> str:
    """RFC 6238, for this half minute."""
    counter = struct.pack(">Q", int(time.time()) // 30)
    digest = hmac.digest(base64.b32decode(secret), counter, "sha1")
    start = digest[-1] & 15
    return f"{(int.from_bytes(digest[start : start + 4]) & 0x7FFFFFFF) % 10**6:06}"


def test_without_keystone_nobody_gets_in() -> None:
    login = {"username": "limes", "password": "p", "user_domain_id": "default", "project_name": "service"}
    client = _client(login | {"auth_url": "http://127.0.0.1:9/v3", "project_domain_id": "default"})
    answer = _password(client, "berlin-member")
    assert (answer.status_code, answer.text) == (503, "Keystone cannot be asked just now; try again later\n")
    assert answer.headers["retry-after"] == "5"


def test_answers_that_make_no_sense(monkeypatch: pytest.MonkeyPatch, client: falcon.testing.TestClient) -> None:
    nonsense = SimpleNamespace(json=lambda: {"domains": "none"})
    monkeypatch.setattr("keystoneauth1.session.Session.get", lambda *_, **__: nonsense)
    answer = client.simulate_get("/ui/session/scopes", headers=OWN | {"X-Auth-Token": "x"})
    assert (answer.status_code, answer.text) == (503, "Keystone cannot be asked just now; try again later\n")
