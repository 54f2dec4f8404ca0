"""No redirect takes our credentials to another origin, whoever asks and however."""

import json
from collections.abc import Callable, Iterator

import pytest
from keystoneauth1.token_endpoint import Token

from limes.auth.session import open_session
from limes.backends import BackendContext, BackendError, ProjectInfo
from limes.backends.loader import BackendSpec, load
from limes.backends.reports import DomainInfo
from limes.composition.identity import build_authenticator
from limes.errors import StartupError, Unavailable
from limes.outgoing import GuardedSession, keystone_session
from limes.placement.transfer.api import RemoteApi
from limes.settings.identity import IdentitySettings
from limes.system import SystemClock
from limes.ui.keystone_sign_in import KeystoneSignInMethod
from limes.ui.requests import PasswordSignIn
from tests.backends.conftest import STATIC_DISCOVERY
from tests.support.faulty_keystone import token_body
from tests.support.web_server import Answer, Request, WebServer, redirect, web_server

SECRET = "s3cr3t-of-ours"
STATUSES = (301, 302, 303, 305, 307, 308)


@pytest.fixture
def other() -> Iterator[WebServer]:
    with web_server() as server:
        yield server


@pytest.fixture
def asked() -> Iterator[WebServer]:
    with web_server() as server:
        yield server


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
def test_nothing_goes_to_another_origin(method: str, status: int, asked: WebServer, other: WebServer) -> None:
    asked.answer = redirect(status, other.url)
    session = keystone_session(Token(asked.url, SECRET))
    with pytest.raises(BackendError) as caught:
        session.request(f"{asked.url}/v1/x?q={SECRET}", method, json={"quota": 1})
    assert asked.saw(SECRET)
    assert other.requests == []
    text = str(caught.value)
    assert f"{method} {asked.url}/v1/x: answered with {status}, which leads to {other.url}/v1/x." in text
    assert "another origin" in text
    assert "correct its endpoint" in text
    assert SECRET not in text


@pytest.mark.parametrize("where", ["https://127.0.0.1:{port}/x", "http://localhost:{port}/x", "//localhost:{port}/x"])
def test_scheme_host_and_port_make_an_origin(where: str, asked: WebServer) -> None:
    target = where.format(port=asked.url.rpartition(":")[2])
    asked.answer = lambda _: Answer(302, b"", {"Location": target})
    with pytest.raises(BackendError, match="another origin"):
        GuardedSession().get(f"{asked.url}/y", headers={"X-Auth-Token": SECRET})
    assert len(asked.requests) == 1


@pytest.mark.parametrize("location", ["/new", "new", "{url}/new"])
def test_reads_follow_within_their_origin(location: str, asked: WebServer) -> None:
    def answer(request: Request) -> Answer:
        if request.path == "/new":
            return Answer(200, b'{"here": true}')
        return Answer(301, b"", {"Location": location.format(url=asked.url)})

    asked.answer = answer
    found = keystone_session(Token(asked.url, SECRET)).get(f"{asked.url}/old")
    assert found.json() == {"here": True}
    assert [one.headers["X-Auth-Token"] for one in asked.requests] == [SECRET, SECRET]


@pytest.mark.parametrize("status", STATUSES)
def test_writes_do_not_follow_even_there(status: int, asked: WebServer) -> None:
    asked.answer = lambda _: Answer(status, b"", {"Location": "/new"})
    with pytest.raises(BackendError, match="only reads are"):
        GuardedSession().put(f"{asked.url}/old", data=b"1")
    assert [one.path for one in asked.requests] == ["/old"]


def test_circles_end(asked: WebServer) -> None:
    asked.answer = lambda _: Answer(302, b"", {"Location": "/again"})
    with pytest.raises(BackendError, match="more than 5 redirects"):
        GuardedSession().get(asked.url)
    assert len(asked.requests) == 6


@pytest.mark.parametrize("location", ["http://[::1", "http://a:b/"])
def test_what_is_no_url(location: str, asked: WebServer) -> None:
    asked.answer = lambda _: Answer(302, b"", {"Location": location})
    with pytest.raises(BackendError, match="no URL"):
        GuardedSession().get(asked.url)


# -- everybody who asks ------------------------------------------------------------------------------------------------


def identity(url: str, **more: object) -> IdentitySettings:
    login = {"username": "limes", "user_domain_name": "d", "project_name": "p", "project_domain_name": "d"}
    keystone = {"auth_url": f"{url}/v3", "password": SECRET, **login}
    return IdentitySettings.model_validate({"keystone": keystone, **more})


def logs_in(url: str, then: Callable[[Request], Answer]) -> Callable[[Request], Answer]:
    """A Keystone that gives out our own token, and does something else with all other requests."""

    endpoints = [{"id": "e", "interface": "public", "region_id": "r", "region": "r", "url": f"{url}/v3"}]
    catalog = [{"type": "identity", "name": "keystone", "endpoints": endpoints}]

    def answer(request: Request) -> Answer:
        if request.method == "POST" and request.path.endswith("/auth/tokens"):
            return Answer(201, json.dumps(token_body(catalog=catalog)).encode(), {"X-Subject-Token": f"{SECRET}-token"})
        if request.path.rstrip("/").endswith("/v3"):
            links = [{"rel": "self", "href": f"{url}/v3"}]
            return Answer(200, json.dumps({"version": {"id": "v3.14", "status": "stable", "links": links}}).encode())
        return then(request)

    return answer


@pytest.mark.parametrize("status", STATUSES)
def test_our_own_login(status: int, asked: WebServer, other: WebServer) -> None:
    asked.answer = redirect(status, other.url)
    with pytest.raises(StartupError, match="another origin"):
        open_session(identity(asked.url)).check()
    assert other.requests == []


@pytest.mark.parametrize("validator", ["own", "keystonemiddleware"])
@pytest.mark.parametrize("status", STATUSES)
def test_token_validation(validator: str, status: int, asked: WebServer, other: WebServer) -> None:
    asked.answer = logs_in(asked.url, redirect(status, other.url))
    settings = identity(asked.url, validator=validator)
    authenticator = build_authenticator(settings, open_session(settings), SystemClock())
    with pytest.raises(Unavailable):
        authenticator.authenticate({"HTTP_X_AUTH_TOKEN": "of-a-user"})
    assert asked.saw("of-a-user")
    assert other.requests == []


@pytest.mark.parametrize("status", STATUSES)
def test_sign_in(status: int, asked: WebServer, other: WebServer) -> None:
    asked.answer = redirect(status, other.url)
    method = KeystoneSignInMethod(open_session(identity(asked.url)), "Default")
    credentials = {"method": "password", "user": "ada", "user_domain": "d", "password": SECRET}
    with pytest.raises(Unavailable):
        method.sign_in(PasswordSignIn.model_validate(credentials))
    with pytest.raises(Unavailable):
        method.scopes(f"{SECRET}-token")
    with pytest.raises(Unavailable):
        method.revoke(f"{SECRET}-token")
    assert asked.saw(SECRET)
    assert other.requests == []


@pytest.mark.parametrize("status", STATUSES)
def test_import_of_a_placement(status: int, asked: WebServer, other: WebServer) -> None:
    asked.answer = redirect(status, other.url)
    adapter = open_session(IdentitySettings(method="noauth")).adapter("placement", asked.url)
    with pytest.raises(BackendError, match="another origin"):
        RemoteApi(adapter, asked.url)
    assert asked.saw("admin")
    assert other.requests == []


PROJECT = ProjectInfo("p1", "berlin", "d1", DomainInfo("d1", "north"))
AUTH = {"type": "token", "token": SECRET}


PLUGINS: dict[str, dict[str, object]] = {
    "compute": {},
    "network": {},
    "cinder": {"volume_types": ["ssd"]},
    "manila": {"share_types": [{"name": "nfs"}]},
    "loadbalancing": {},
    "dns": {},
    "object-store": {},
    "liquid": {"area": "x"},
    "placement": {"area": "x", "resources": {"cores": {"class": "VCPU"}}},
}


@pytest.mark.parametrize("plugin", PLUGINS)
@pytest.mark.parametrize("status", STATUSES)
def test_services_of_openstack(plugin: str, status: int, asked: WebServer, other: WebServer) -> None:
    asked.answer = redirect(status, other.url)
    spec = BackendSpec("services[0]", "compute", plugin, {"endpoint": asked.url, "auth": AUTH, **PLUGINS[plugin]})
    backend = load([spec], [], STATIC_DISCOVERY, availability_zones=["a"])
    with pytest.raises(BackendError, match="leads to"):
        backend.quota["compute"].report_usage(PROJECT)
    assert asked.requests
    assert other.requests == []


@pytest.mark.parametrize("status", STATUSES)
def test_prometheus(status: int, asked: WebServer, other: WebServer) -> None:
    asked.answer = redirect(status, other.url)
    params = {"api": {"url": asked.url, "token": SECRET}, "queries": {"compute": {"cores": "1"}}}
    spec = BackendSpec("capacitors[0]", "prometheus", "prometheus", params)
    backend = load([], [spec], STATIC_DISCOVERY, availability_zones=["a"])
    with pytest.raises(BackendError, match="another origin"):
        backend.capacity["prometheus"].report_capacity()
    assert asked.saw(SECRET)
    assert other.requests == []


@pytest.mark.parametrize("status", STATUSES)
def test_discovery(status: int, asked: WebServer, other: WebServer) -> None:
    asked.answer = redirect(status, other.url)
    session = keystone_session(Token(asked.url, SECRET))
    spec = BackendSpec("discovery", "list", "list", {"endpoint_override": f"{asked.url}/v3"}, "method")
    discovery = load([], [], spec, availability_zones=["a"], session_factory=lambda: session).discovery
    with pytest.raises(BackendError, match="another origin"):
        list(discovery.list_domains())
    assert asked.saw(SECRET)
    assert other.requests == []


def test_sessions_that_plugins_make_themselves() -> None:
    context = BackendContext("x", [])
    assert isinstance(context.plain_session(), GuardedSession)
    assert isinstance(context.own_session(Token(None, SECRET)).session, GuardedSession)
