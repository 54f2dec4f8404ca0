"""A server that tells back what it was sent, and a URL with a password in it: neither gets further than to us."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from keystoneauth1.token_endpoint import Token

from limes.auth.session import open_session
from limes.backends import BackendError, DomainInfo, ProjectInfo, calls
from limes.backends.loader import BackendSpec, load
from limes.cli import main
from limes.composition.identity import build_authenticator
from limes.errors import LimesError, StartupError, Unavailable
from limes.outgoing import GuardedSession, keystone_session
from limes.placement.transfer.api import RemoteApi
from limes.settings.identity import IdentitySettings
from limes.system import SystemClock
from limes.ui.keystone_sign_in import KeystoneSignInMethod
from limes.ui.requests import PasswordSignIn
from tests.backends.conftest import STATIC_DISCOVERY
from tests.support.web_server import Answer, Request, WebServer, web_server
from tests.unit.outgoing.test_redirects import PLUGINS, logs_in

SECRET = "0f3d7a1c-planted"
PROJECT = ProjectInfo("p1", "berlin", "d1", DomainInfo("d1", "north"))
QUICKSTART = Path(__file__).parents[3] / "config" / "quickstart.yaml"


def echo(status: int, kind: str) -> Callable[[Request], Answer]:
    """Says what it was sent, as JSON or in plain words."""

    def answer(request: Request) -> Answer:
        told = f"{request.method} {request.path} with {dict(request.headers)} {request.body.decode()} was no good"
        if kind == "text/plain":
            return Answer(status, told.encode(), {"Content-Type": kind})
        return Answer(status, json.dumps({"error": {"code": status, "message": told}}).encode(), {"Content-Type": kind})

    return answer


@pytest.fixture(params=[(400, "application/json"), (403, "text/plain"), (500, "application/json"), (503, "text/plain")])
def server(request: pytest.FixtureRequest) -> Iterator[WebServer]:
    with web_server(echo(*request.param)) as running:
        yield running


def everything(error: BaseException, caplog: pytest.LogCaptureFixture) -> str:
    return f"{error} {error!r} {getattr(error, 'observed', None)} {caplog.text if not caplog.records else [one.getMessage() for one in caplog.records]}"


@pytest.mark.parametrize("plugin", PLUGINS)
def test_services_of_openstack(plugin: str, server: WebServer, caplog: pytest.LogCaptureFixture) -> None:
    params = {"endpoint": server.url, "auth": {"type": "token", "token": SECRET}, **PLUGINS[plugin]}
    backends = load([BackendSpec("s", "compute", plugin, params)], [], STATIC_DISCOVERY, availability_zones=["a"])
    with pytest.raises(BackendError) as caught:
        backends.quota["compute"].report_usage(PROJECT)
    assert server.requests
    assert SECRET not in everything(caught.value, caplog)


def test_prometheus(server: WebServer, caplog: pytest.LogCaptureFixture) -> None:
    for login in ({"token": SECRET}, {"username": "limes", "password": SECRET}):
        params = {"api": {"url": server.url, **login}, "queries": {"compute": {"cores": "1"}}}
        spec = BackendSpec("c", "p", "prometheus", params)
        backends = load([], [spec], STATIC_DISCOVERY, availability_zones=["a"])
        with pytest.raises(BackendError) as caught:
            backends.capacity["p"].report_capacity()
        assert SECRET not in everything(caught.value, caplog)
    assert server.saw(SECRET)


def test_discovery(server: WebServer, caplog: pytest.LogCaptureFixture) -> None:
    session = keystone_session(Token(server.url, SECRET))
    spec = BackendSpec("discovery", "list", "list", {"endpoint_override": f"{server.url}/v3"}, "method")
    discovery = load([], [], spec, availability_zones=["a"], session_factory=lambda: session).discovery
    with pytest.raises(BackendError) as caught:
        calls.list_domains(discovery, None, None)
    assert server.saw(SECRET)
    assert SECRET not in everything(caught.value, caplog)


def identity(url: str, **more: object) -> IdentitySettings:
    login = {"username": "limes", "user_domain_name": "d", "project_name": "p", "project_domain_name": "d"}
    return IdentitySettings.model_validate({"keystone": {"auth_url": f"{url}/v3", "password": SECRET, **login}, **more})


def test_our_own_login(server: WebServer, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(StartupError) as caught:
        open_session(identity(server.url)).check()
    assert server.saw(SECRET)
    assert SECRET not in everything(caught.value, caplog)


@pytest.mark.parametrize("validator", ["own", "keystonemiddleware"])
def test_token_validation(validator: str, server: WebServer, caplog: pytest.LogCaptureFixture) -> None:
    server.answer = logs_in(server.url, server.answer)
    settings = identity(server.url, validator=validator)
    authenticator = build_authenticator(settings, open_session(settings), SystemClock())
    with pytest.raises(Unavailable) as caught:
        authenticator.authenticate({"HTTP_X_AUTH_TOKEN": f"{SECRET}-of-a-user"})
    assert server.saw(f"{SECRET}-of-a-user")
    assert SECRET not in everything(caught.value, caplog)


def test_sign_in(server: WebServer, caplog: pytest.LogCaptureFixture) -> None:
    own = IdentitySettings.model_validate(
        {"keystone": {**identity(server.url).keystone.model_dump(), "password": "o" * 9}}
    )
    method = KeystoneSignInMethod(open_session(own), "Default")
    body = {"method": "password", "user": "ada", "user_domain": "d", "password": SECRET, "passcode": f"{SECRET}-too"}
    for attempt in (
        lambda: method.sign_in(PasswordSignIn.model_validate(body)),
        lambda: method.scopes(f"{SECRET}-token"),
    ):
        with pytest.raises(LimesError) as caught:
            attempt()
        assert SECRET not in everything(caught.value, caplog)
    assert server.saw(SECRET)


def test_import_of_a_placement(server: WebServer, caplog: pytest.LogCaptureFixture) -> None:
    adapter = keystone_session(Token(server.url, SECRET))
    with pytest.raises(BackendError) as caught:
        RemoteApi(adapter, server.url.replace("http://", f"http://limes:{SECRET}@"))
    assert server.saw(SECRET)
    assert SECRET not in everything(caught.value, caplog)


def test_data_stay_as_they_are() -> None:
    """A token that is as short as a name, and what a document of an answer that is no error holds."""
    document = json.dumps({"user": "cloud-admin", "password": "policy", "token=x": 1}).encode()
    with web_server(lambda _: Answer(200, document)) as server:
        assert GuardedSession().get(server.url, headers={"X-Auth-Token": "cloud-admin"}).content == document


def test_error_documents_stay_documents() -> None:
    told = {"error": {"message": 'token="abc" and {"password": "x\\"y"}', "title": f"X-Auth-Token: {SECRET}"}}
    with web_server(lambda _: Answer(409, json.dumps(told).encode())) as server:
        answer = GuardedSession().get(server.url, headers={"X-Auth-Token": SECRET})
    assert answer.json()["error"]["title"] == "X-Auth-Token: ***"
    assert "abc" not in answer.text


@pytest.mark.parametrize(
    "command",
    [
        ("plugin", "test", "planted", "--project", "1a000000000000000000000000000001"),
        ("plugin", "get-usage", "planted", "1a000000000000000000000000000001"),
        ("plugin", "scan-capacity", "planted"),
        ("doctor",),
        ("doctor", "--json"),
    ],
)
def test_commands(
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With the port of discard, where nothing listens, and a password in each URL."""
    monkeypatch.chdir(tmp_path)
    url = f"http://limes:{SECRET}@127.0.0.1:9"
    document = yaml.safe_load(QUICKSTART.read_text())
    auth = {"auth": {"type": "token", "token": SECRET}}
    document["services"] = [
        *document["services"],
        {"service_type": "planted", "type": "network", "params": {"endpoint": url, **auth}},
    ]
    prometheus = {"api": {"url": url}, "queries": {"object-store": {"capacity": "1"}}}
    document["capacitors"] = [{"id": "planted", "type": "prometheus", "params": prometheus}]
    config = tmp_path / "limes.yaml"
    config.write_text(yaml.safe_dump(document))
    assert main([*command, "--config", str(config)]) != 0
    printed = capsys.readouterr()
    assert "127.0.0.1" in printed.out + printed.err
    assert SECRET not in printed.out + printed.err + caplog.text
