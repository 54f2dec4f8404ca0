"""The dashboard on the API's app: public itself, out of reach for other origins, and gone if it is not wanted."""

from collections.abc import Iterator
from pathlib import Path

import falcon.testing
import pytest

from limes.app.settings import Settings
from limes.auth.without_keystone import SampleIdentities
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.ui.sign_in import SampleSignInMethod
from limes.ui.throttle import Throttle
from tests.api.world import make_world
from tests.support.clock import FrozenClock
from tests.ui.conftest import OWN, SAMPLE, mount_of

OTHER_ORIGIN = {"Origin": "https://elsewhere.example.com"}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """The dashboard needs no database, and the API behind it only a small one."""
    made = Engine(f"sqlite:///{tmp_path}/limes.db")
    limes_migrations.upgrade(made)
    yield made
    made.close()


@pytest.fixture
def client(engine: Engine) -> falcon.testing.TestClient:
    mount = mount_of(SampleSignInMethod(SAMPLE), SampleIdentities(SAMPLE), Throttle(FrozenClock()))
    return make_world(engine, mounts=(mount,)).client


@pytest.mark.parametrize("path", ["/ui", "/ui/", "/ui/domains/x/projects/y"])
@pytest.mark.parametrize("token", [None, "expired", "keystone-is-down"])
def test_the_page_needs_no_token(client: falcon.testing.TestClient, path: str, token: str | None) -> None:
    headers = {"X-Auth-Token": token} if token else {}
    assert client.simulate_get(path, headers=headers).headers["content-type"] == "text/html; charset=utf-8"


def test_the_session_needs_no_token_of_the_api(client: falcon.testing.TestClient) -> None:
    assert client.simulate_get("/ui/session", headers=OWN).json["session"] is None
    body = {"method": "token", "token": "bert"}
    assert client.simulate_post("/ui/session", headers=OWN, json=body).json["session"]["token"] == "bert"
    assert client.simulate_get("/ui/session/scopes", headers=OWN).status_code == 401


@pytest.mark.parametrize("path", ["/ui", "/ui/session", "/ui/session/scopes"])
def test_pages_of_other_origins_learn_nothing(client: falcon.testing.TestClient, path: str) -> None:
    preflight = OTHER_ORIGIN | {"Access-Control-Request-Method": "POST"}
    for answer in (
        client.simulate_options(path, headers=preflight),
        client.simulate_get(path, headers=OTHER_ORIGIN | OWN),
    ):
        assert [name for name in answer.headers if name.startswith("access-control-")] == []
    assert "access-control-allow-origin" in client.simulate_get("/v1/", headers=OTHER_ORIGIN).headers


@pytest.mark.parametrize("path", ["/uix", "/ui2/session", "/v1/ui"])
def test_what_only_begins_like_it_is_none_of_it(client: falcon.testing.TestClient, path: str) -> None:
    assert client.simulate_get(path).status_code == 401


def test_without_it_there_is_no_such_address(engine: Engine) -> None:
    client = make_world(engine).client
    assert client.simulate_get("/ui").status_code == 401
    assert client.simulate_get("/ui", headers={"X-Auth-Token": "cloud-admin"}).status_code == 404


def test_it_is_there_unless_the_configuration_says_otherwise() -> None:
    assert Settings.model_fields["ui"].default.enabled


def test_a_nul_is_in_no_address(client: falcon.testing.TestClient) -> None:
    assert client.simulate_get("/ui/a%00b").status_code == 404


HEADERS = ("content-security-policy", "x-content-type-options", "referrer-policy", "cross-origin-opener-policy")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/ui", 200),
        ("GET", "/ui/assets/nothing.js", 404),
        ("GET", "/ui/a%00b", 404),
        ("PUT", "/ui", 405),
        ("GET", "/ui/session", 403),
        ("POST", "/ui/session", 403),
        ("GET", "/ui/session/scopes", 403),
        ("OPTIONS", "/ui/session", 200),
    ],
)
def test_all_answers_carry_the_security_headers(
    client: falcon.testing.TestClient, method: str, path: str, status: int
) -> None:
    answer = client.simulate_request(method, path)
    assert answer.status_code == status
    assert [name for name in HEADERS if name not in answer.headers] == []


def test_those_of_the_api_do_not(client: falcon.testing.TestClient) -> None:
    assert "content-security-policy" not in client.simulate_get("/v1/nothing").headers


def test_a_refused_sign_in_repeats_nothing_long(client: falcon.testing.TestClient) -> None:
    headers = OWN | {"Content-Type": "application/json"}
    text = "x" * 30_000
    for body in (
        {"method": text},
        {"method": "token", "token": text},
        {"method": "token", text: 1},
        {text: text},
        text,
    ):
        answer = client.simulate_post("/ui/session", headers=headers, json=body)
        assert answer.status_code in (400, 401), answer.text
        assert len(answer.content) < 5_000


NONSENSE = (
    "http://[::1",
    "http://a:b/",
    "[",
    "::",
    '"',
    'for="[::1',
    ",;,;=",
    "=",
    "%",
    "http://\xff",
    "a" * 5000,
    'W/"',
)


@pytest.mark.parametrize(
    "header",
    [
        "Origin",
        "Host",
        "Forwarded",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "Cookie",
        "Accept",
        "Accept-Encoding",
        "Content-Type",
        "If-Match",
        "If-None-Match",
        "If-Modified-Since",
        "Idempotency-Key",
        "Range",
        "Referer",
        "Sec-Fetch-Site",
        "X-Auth-Token",
        "X-Service-Token",
        "X-Openstack-Request-Id",
        "Transfer-Token",
    ],
)
def test_headers_of_nonsense_fail_nowhere(client: falcon.testing.TestClient, header: str) -> None:
    for value in NONSENSE:
        for method, path in (
            ("GET", "/ui"),
            ("GET", "/ui/session"),
            ("POST", "/ui/session"),
            ("GET", "/v1/clusters/current"),
        ):
            own = OWN | {"X-Auth-Token": "cloud-admin", "Content-Type": "application/json"}
            answer = client.simulate_request(method, path, headers=own | {header: value}, body="{}")
            assert answer.status_code < 500, (header, value, path, answer.text)
