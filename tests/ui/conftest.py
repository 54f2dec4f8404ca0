"""The dashboard on Falcon alone: neither API nor database are behind it."""

import falcon
import falcon.testing
import pytest

from limes.auth.without_keystone import SampleIdentities
from limes.settings.sample import SampleSettings
from limes.ui.known_browser import KnownBrowsers
from limes.ui.pages import dashboard as make_mount
from limes.ui.session import ScopesEndpoint, SessionEndpoint
from limes.ui.sign_in import SampleSignInMethod
from limes.ui.throttle import Throttle
from limes.web.errors import PlainErrors
from limes.web.mount import MountMiddleware
from tests.support.clock import FrozenClock

SAMPLE = SampleSettings.model_validate(
    {
        "domains": [{"name": "acme"}],
        "projects": [{"name": "shop", "domain": "acme"}],
        "users": [
            {
                "name": "anna",
                "domain": "acme",
                "assignments": [
                    {"domain": "acme", "roles": ["resource_admin"]},
                    {"project": "shop", "roles": ["admin"]},
                    {"system": "all", "roles": ["reader"]},
                ],
            },
            {"name": "bert", "domain": "acme", "assignments": [{"project": "shop", "roles": ["member"]}]},
        ],
        "tokens": [
            {"token": "anna-domain", "user": "anna", "domain": "acme"},
            {"token": "anna-shop", "user": "anna", "project": "shop"},
            {"token": "anna-system", "user": "anna", "system": "all"},
            {"token": "bert", "user": "bert", "project": "shop"},
        ],
    }
)


@pytest.fixture
def clock() -> FrozenClock:
    """The clock of the throttle."""
    return FrozenClock()


@pytest.fixture
def dashboard(clock: FrozenClock) -> falcon.testing.TestClient:
    """A client of `/ui` with the sample identities above."""
    method, identities = SampleSignInMethod(SAMPLE), SampleIdentities(SAMPLE)
    throttle = Throttle(clock)
    session = SessionEndpoint(method, identities, throttle, KnownBrowsers(b"key"), title="Test")
    mount = make_mount(session, ScopesEndpoint(method, throttle))
    app = falcon.App(middleware=[MountMiddleware([mount])])
    PlainErrors().install(app)
    for path, endpoint in mount.routes:
        app.add_route(path, endpoint)
    return falcon.testing.TestClient(app)
