"""Our validator, keystonemiddleware, and a real Keystone: on every kind of token both say the same."""

import logging
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec import structs

from limes.app.composition.identity import build_authenticator
from limes.auth.context import Authenticator, Identity
from limes.auth.session import open_session
from limes.auth.settings import IdentitySettings
from limes.kernel.errors import Unauthorized, Unavailable
from limes.kernel.system import SystemClock
from tests.support.keystone import RealKeystone
from tests.support.levels import few_of

pytestmark = pytest.mark.real
VALIDATORS = ("own", "keystonemiddleware")


def make(keystone: RealKeystone, validator: str, **login: Any) -> Authenticator:
    settings = IdentitySettings.model_validate(
        {"validator": validator, "keystone": keystone.credentials("limes") | login}
    )
    return build_authenticator(settings, open_session(settings), SystemClock())


@pytest.fixture(scope="module")
def validators(keystone: RealKeystone) -> dict[str, Authenticator]:
    """Both, on the session's Keystone."""
    return {name: make(keystone, name) for name in VALIDATORS}


def verdict(authenticator: Authenticator, environ: dict[str, str]) -> Identity | str:
    """The identity, or the name of the refusal."""
    try:
        return authenticator.authenticate(environ)
    except (Unauthorized, Unavailable) as error:
        return type(error).__name__


def ask_both(validators: dict[str, Authenticator], **headers: str) -> Identity | str:
    """What both say of a request with these headers, twice: the second time from their caches."""
    environ = {f"HTTP_{name.upper()}": value for name, value in headers.items()}
    answers = [verdict(validators[name], environ) for name in VALIDATORS for _ in range(2)]
    assert answers == [answers[0]] * 4
    return answers[0]


class TokenMaker:
    """Tokens of every kind, by name."""

    def __init__(self, keystone: RealKeystone, expired: str) -> None:
        self._keystone = keystone
        self._will_be_expired = expired
        self.made: list[str] = []

    def __call__(self, kind: str) -> str:
        keystone = self._keystone
        makers: dict[str, Callable[[], str]] = {
            "project": lambda: keystone.project_token("berlin-admin", "berlin"),
            "domain": lambda: keystone.domain_token("north-admin", "north"),
            "system": lambda: keystone.system_token("operator"),
            "unscoped": lambda: keystone.unscoped_token("berlin-member"),
            "application credential": lambda: keystone.application_credential_token("berlin-member", "berlin"),
            "service": lambda: keystone.project_token("placement", "service"),
            "revoked": lambda: keystone.revoked_token("berlin-admin", "berlin"),
            "expired": self._expired,
            "of a deleted project": self._of_a_deleted_project,
            "limited by access rules": lambda: keystone.limited_token("berlin-member", "berlin"),
            "garbage": lambda: "gAAAAABn" + "x" * 175,
        }
        token = makers[kind]()
        self.made.append(token)
        return token

    def _expired(self) -> str:
        keystone = self._keystone
        token = self._will_be_expired
        while keystone.api.get("/auth/tokens", headers={"X-Subject-Token": token}, raise_exc=False).status_code == 200:
            time.sleep(0.1)
        return token

    def _of_a_deleted_project(self) -> str:
        keystone = self._keystone
        project, user, role = keystone.create_project("lost", "north"), keystone.ids.users["berlin-admin"], "member"
        keystone.api.put(f"/projects/{project}/users/{user}/roles/{keystone.ids.roles[role]}")
        token = keystone.project_token("berlin-admin", "lost")
        keystone.delete_project("lost")
        return token


@pytest.fixture(scope="module")
def short_lived(keystone: RealKeystone) -> str:
    """A token that has expired by the time that a test needs it."""
    return keystone.application_credential_token("berlin-member", "berlin", lives=2)


@pytest.fixture
def token(keystone: RealKeystone, short_lived: str, caplog: pytest.LogCaptureFixture) -> Iterator[TokenMaker]:
    """Makes tokens, and checks at the end that nobody has logged one, at any level."""
    caplog.set_level(logging.DEBUG)
    maker = TokenMaker(keystone, short_lived)
    yield maker
    assert [made for made in maker.made if made in caplog.text] == []


def test_project(validators: dict[str, Authenticator], token: TokenMaker, keystone: RealKeystone) -> None:
    found = ask_both(validators, x_auth_token=token("project"))
    assert isinstance(found, Identity)
    ids = keystone.ids
    assert found.expires_at is not None
    assert found.expires_at > datetime.now(UTC) + timedelta(minutes=50)
    assert set(found.roles) == {"resource_admin", "member", "reader"}
    assert (found.user_id, found.user_name) == (ids.users["berlin-admin"], "berlin-admin")
    assert (found.user_domain_id, found.user_domain_name) == (ids.domains["north"], "north")
    assert (found.project_id, found.project_name) == (ids.projects["berlin"], "berlin")
    assert (found.project_domain_id, found.project_domain_name) == (ids.domains["north"], "north")
    assert (found.domain_id, found.system_scope, found.application_credential_id) == (None, None, None)


def test_domain(validators: dict[str, Authenticator], token: TokenMaker, keystone: RealKeystone) -> None:
    found = ask_both(validators, x_auth_token=token("domain"))
    assert isinstance(found, Identity)
    assert (found.domain_id, found.domain_name) == (keystone.ids.domains["north"], "north")
    assert (found.project_id, found.project_domain_id, found.system_scope) == (None, None, None)
    assert set(found.roles) == {"resource_admin", "member", "reader"}


def test_system(validators: dict[str, Authenticator], token: TokenMaker) -> None:
    found = ask_both(validators, x_auth_token=token("system"))
    assert isinstance(found, Identity)
    assert (found.system_scope, found.project_id, found.domain_id) == ("all", None, None)
    assert "admin" in found.roles


def test_unscoped(validators: dict[str, Authenticator], token: TokenMaker) -> None:
    found = ask_both(validators, x_auth_token=token("unscoped"))
    assert isinstance(found, Identity)
    assert (found.system_scope, found.project_id, found.domain_id, found.roles) == (None, None, None, ())


def test_application_credential(validators: dict[str, Authenticator], token: TokenMaker) -> None:
    found = ask_both(validators, x_auth_token=token("application credential"))
    assert isinstance(found, Identity)
    assert found.application_credential_id
    assert (found.application_credential_name or "").startswith("test-")
    assert (found.project_name, set(found.roles)) == ("berlin", {"member", "reader"})


@pytest.mark.parametrize("kind", ["revoked", "expired", "of a deleted project", "limited by access rules", "garbage"])
def test_invalid_tokens(validators: dict[str, Authenticator], token: TokenMaker, kind: str) -> None:
    assert ask_both(validators, x_auth_token=token(kind)) == "Unauthorized"


@pytest.mark.parametrize("value", ["", " ", "x", "a b", "gAAAA\xe4", "../../etc/passwd", "%00", "x" * 9000])
def test_nonsense(validators: dict[str, Authenticator], value: str) -> None:
    assert ask_both(validators, x_auth_token=value) == "Unauthorized"


def test_no_token(validators: dict[str, Authenticator]) -> None:
    assert ask_both(validators) == "Unauthorized"
    assert {one.challenge() for one in validators.values()} == {validators["own"].challenge()}


def test_spoofed_headers_count_for_nothing(validators: dict[str, Authenticator], token: TokenMaker) -> None:
    found = ask_both(validators, x_auth_token=token("project"), x_roles="admin", x_project_id="other", x_user_id="me")
    assert isinstance(found, Identity)
    assert (found.project_name, "admin" in found.roles, found.user_name) == ("berlin", False, "berlin-admin")


@pytest.mark.parametrize(
    ("user", "service", "expected"),
    [
        ("project", "service", "berlin-admin"),
        ("project", "project", "Unauthorized"),  # has not the role `service`
        ("project", "garbage", "Unauthorized"),
        ("project", "revoked", "Unauthorized"),
        ("garbage", "service", "Unauthorized"),
        ("revoked", "service", "Unauthorized"),
        ("expired", "service", "berlin-member"),  # what service tokens are for: long-running work
        ("expired", "project", "Unauthorized"),
    ],
)
def test_service_tokens(
    validators: dict[str, Authenticator], token: TokenMaker, user: str, service: str, expected: str
) -> None:
    found = ask_both(validators, x_auth_token=token(user), x_service_token=token(service))
    assert (found.user_name if isinstance(found, Identity) else found) == expected


def test_a_token_that_expires_while_it_is_remembered(keystone: RealKeystone) -> None:
    both = [make(keystone, validator) for validator in VALIDATORS]
    for lives in (3, 10, 30, 100):  # on a slow machine the first look comes too late for the shortest
        short = keystone.application_credential_token("berlin-member", "berlin", lives=lives)
        environ = {"HTTP_X_AUTH_TOKEN": short}
        found = [verdict(one, environ) for one in both]
        if not any(isinstance(one, str) for one in found):
            break
    for identity in found:
        assert isinstance(identity, Identity)
        assert identity.expires_at is not None
        while datetime.now(UTC) <= identity.expires_at:
            time.sleep(0.05)
    assert [verdict(one, environ) for one in both] == ["Unauthorized"] * 2


@pytest.mark.long
@pytest.mark.parametrize("validator", few_of(VALIDATORS, 1))
def test_a_keystone_that_is_down(own_keystone: RealKeystone, validator: str) -> None:
    authenticator = make(own_keystone, validator)
    known, unknown = (own_keystone.project_token("berlin-member", "berlin") for _ in range(2))
    identity = authenticator.authenticate({"HTTP_X_AUTH_TOKEN": known})
    own_keystone.server.process.stop()
    assert verdict(authenticator, {"HTTP_X_AUTH_TOKEN": unknown}) == "Unavailable"
    assert verdict(authenticator, {"HTTP_X_AUTH_TOKEN": "garbage"}) == "Unavailable"
    assert verdict(authenticator, {"HTTP_X_AUTH_TOKEN": known}) == identity
    own_keystone.server.process.start()
    again = authenticator.authenticate({"HTTP_X_AUTH_TOKEN": unknown})
    assert structs.replace(again, expires_at=identity.expires_at) == identity  # the two may be a second apart


@pytest.mark.parametrize("validator", VALIDATORS)
def test_our_own_password_is_wrong(keystone: RealKeystone, validator: str) -> None:
    authenticator = make(keystone, validator, password="wrong")
    token = keystone.project_token("berlin-member", "berlin")
    assert verdict(authenticator, {"HTTP_X_AUTH_TOKEN": token}) == "Unavailable"


@pytest.mark.parametrize("validator", VALIDATORS)
def test_our_own_token_is_revoked(keystone: RealKeystone, validator: str) -> None:
    settings = IdentitySettings.model_validate(
        {"validator": validator, "keystone": keystone.credentials("limes"), "cache": {"ttl": 0, "negative_ttl": 0}}
    )
    cloud = open_session(settings)
    authenticator = build_authenticator(settings, cloud, SystemClock())
    environ = {"HTTP_X_AUTH_TOKEN": keystone.project_token("berlin-member", "berlin")}
    identity = authenticator.authenticate(environ)
    keystone.revoke(cloud.session.get_token() or "")
    assert verdict(authenticator, environ) == identity
