"""Everybody who asks other servers, each as a call that has to fail if the answer is no good."""

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from keystoneauth1.token_endpoint import Token

from limes.app.composition.identity import build_authenticator
from limes.auth.session import open_session
from limes.auth.settings import IdentitySettings
from limes.backends import BackendError, ProjectInfo, calls
from limes.backends.base import DomainInfo
from limes.backends.loader import BackendSpec, load
from limes.kernel.errors import LimesError, StartupError, Unavailable
from limes.kernel.outgoing import AnswerLimits, keystone_session
from limes.kernel.outgoing.answers import DEFAULT_LIMITS
from limes.kernel.system import SystemClock
from limes.placement.transfer.api import RemoteApi
from limes.ui.keystone_sign_in import KeystoneSignInMethod
from limes.ui.sign_in import PasswordSignIn
from tests.backends.conftest import STATIC_DISCOVERY
from tests.support.faulty_keystone import token_body
from tests.support.web_server import Answer, Request, WebServer

SECRET = "0f3d7a1c-planted"
"""Part of each password and token."""

PROJECT = ProjectInfo("p1", "berlin", "d1", DomainInfo("d1", "north"))

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


@dataclass(frozen=True)
class Asker:
    """One of them: `ask(url, limits)`."""

    ask: Callable[[str, AnswerLimits], object]
    error: type[Exception] = BackendError
    refused: type[Exception] | None = None
    """The error if the answer says that something is wrong, where that is another one."""
    sends: str = SECRET
    """What the server is sent."""
    logs_in: bool = False
    """Whether our own login comes first, and has to succeed."""

    def serve(self, server: WebServer, answer: Callable[[Request], Answer]) -> None:
        """Has the server answer so when it is asked."""
        server.answer = logs_in(server.url, answer) if self.logs_in else answer

    def fail(
        self,
        server: WebServer,
        caplog: pytest.LogCaptureFixture,
        limits: AnswerLimits = DEFAULT_LIMITS,
        error: type[Exception] | None = None,
    ) -> str:
        """Asks, and fails as it must. Answers everything that is told about it, errors and log lines."""
        with pytest.raises(error or self.error) as caught:
            self.ask(server.url, limits)
        assert server.saw(self.sends)
        found = caught.value
        logged = [record.getMessage() for record in caplog.records]
        return f"{found} {found!r} {getattr(found, 'observed', None)} {logged}"


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


def identity(url: str, **more: object) -> IdentitySettings:
    login = {"username": "limes", "user_domain_name": "d", "project_name": "p", "project_domain_name": "d"}
    keystone = {"auth_url": f"{url}/v3", "password": f"{SECRET}-of-ours", **login}
    return IdentitySettings.model_validate({"keystone": keystone, **more})


def own_login(url: str, limits: AnswerLimits) -> None:
    open_session(identity(url), limits).check()


def validation_by(validator: str) -> Callable[[str, AnswerLimits], object]:
    def validate(url: str, limits: AnswerLimits) -> object:
        settings = identity(url, validator=validator)
        authenticator = build_authenticator(settings, open_session(settings, limits), SystemClock())
        return authenticator.authenticate({"HTTP_X_AUTH_TOKEN": f"{SECRET}-of-a-user"})

    return validate


def dashboard(url: str, limits: AnswerLimits) -> KeystoneSignInMethod:
    return KeystoneSignInMethod(open_session(identity(url), limits), "Default")


def sign_in(url: str, limits: AnswerLimits) -> object:
    secrets = {"password": f"{SECRET}-of-a-user", "passcode": f"{SECRET}-too"}
    body = {"method": "password", "user": "ada", "user_domain": "d", **secrets}
    return dashboard(url, limits).sign_in(PasswordSignIn.model_validate(body))


def import_without_keystone(url: str, limits: AnswerLimits) -> object:
    adapter = open_session(IdentitySettings(method="noauth"), limits).adapter("placement", url)
    return RemoteApi(adapter, url)


def import_with_keystone(url: str, limits: AnswerLimits) -> object:
    session = keystone_session(Token(url, SECRET), limits=limits)
    return RemoteApi(session, url.replace("http://", f"http://limes:{SECRET}@"))


def discovery(url: str, limits: AnswerLimits) -> object:
    session = keystone_session(Token(url, SECRET), limits=limits)
    spec = BackendSpec("discovery", "list", "list", {"endpoint_override": f"{url}/v3"}, "method")
    plugin = load([], [], spec, availability_zones=["a"], session_factory=lambda: session).discovery
    return calls.list_domains(plugin, None, None)


def prometheus_with(**login: str) -> Callable[[str, AnswerLimits], object]:
    def report(url: str, limits: AnswerLimits) -> object:
        params = {"api": {"url": url, **login}, "queries": {"compute": {"cores": "1"}}}
        spec = BackendSpec("capacitors[0]", "prometheus", "prometheus", params)
        backends = load([], [spec], STATIC_DISCOVERY, availability_zones=["a"], limits=limits)
        return backends.capacity["prometheus"].report_capacity()

    return report


def usage_by(plugin: str) -> Callable[[str, AnswerLimits], object]:
    def report(url: str, limits: AnswerLimits) -> object:
        params = {"endpoint": url, "auth": {"type": "token", "token": SECRET}, **PLUGINS[plugin]}
        spec = BackendSpec("services[0]", "compute", plugin, params)
        backends = load([spec], [], STATIC_DISCOVERY, availability_zones=["a"], limits=limits)
        return backends.quota["compute"].report_usage(PROJECT)

    return report


ASKERS = {
    "own login": Asker(own_login, StartupError),
    "own validator": Asker(validation_by("own"), Unavailable, sends=f"{SECRET}-of-a-user", logs_in=True),
    "keystonemiddleware": Asker(
        validation_by("keystonemiddleware"), Unavailable, sends=f"{SECRET}-of-a-user", logs_in=True
    ),
    "sign in": Asker(sign_in, Unavailable, LimesError),
    "scopes": Asker(lambda url, limits: dashboard(url, limits).scopes(f"{SECRET}-token"), Unavailable, LimesError),
    "sign out": Asker(lambda url, limits: dashboard(url, limits).revoke(f"{SECRET}-token"), Unavailable, LimesError),
    "import without Keystone": Asker(import_without_keystone, sends="admin"),
    "import with Keystone": Asker(import_with_keystone),
    "discovery": Asker(discovery),
    "Prometheus, token": Asker(prometheus_with(token=SECRET)),
    "Prometheus, password": Asker(prometheus_with(username="limes", password=SECRET), sends="Basic "),
    **{plugin: Asker(usage_by(plugin), sends="") for plugin in PLUGINS},
}

whoever_asks = pytest.mark.parametrize("asker", ASKERS.values(), ids=ASKERS)
