"""The dashboard on Falcon alone: neither API nor database are behind it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import falcon
import falcon.testing
import pytest

from limes.auth.context import Authenticator
from limes.auth.settings import SampleSettings
from limes.auth.without_keystone import SampleIdentities
from limes.kernel.system import SystemClock
from limes.ui.attempts import Attempts, UsedNumbers
from limes.ui.browser import KnownBrowsers
from limes.ui.pages import dashboard as make_mount
from limes.ui.session import ScopesEndpoint, SessionEndpoint
from limes.ui.sign_in import SampleSignInMethod, SignInMethod
from limes.ui.single_sign_on import SingleSignOn
from limes.ui.throttle import Throttle
from limes.web.errors import PlainErrors
from limes.web.operational import Mount, MountMiddleware
from tests.support.clock import FrozenClock
from tests.support.faulty_provider import FaultyProvider, faulty_provider

if TYPE_CHECKING:
    from tests.ui.provider_clients import Browser

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

OWN = {"X-Limes-Dashboard": "1"}
"""A header that our own page sends."""

BROWSERS = KnownBrowsers(b"key")
NO_PROVIDERS = SingleSignOn(Attempts(b"key", SystemClock(), UsedNumbers(SystemClock(), None)), {}, {}, "")


@pytest.fixture
def clock() -> FrozenClock:
    """The clock of the throttle."""
    return FrozenClock()


@pytest.fixture
def provider() -> Iterator[FaultyProvider]:
    with faulty_provider() as made:
        yield made


@pytest.fixture
def browser(provider: FaultyProvider, clock: FrozenClock) -> "Browser":
    from tests.ui.provider_clients import Browser  # which is made of what stands here

    return Browser(provider, clock)


def mount_of(
    method: SignInMethod,
    authenticator: Authenticator,
    throttle: Throttle,
    browsers: KnownBrowsers = BROWSERS,
    single_sign_on: SingleSignOn = NO_PROVIDERS,
) -> Mount:
    """The dashboard, to be put into an app."""
    session = SessionEndpoint(method, authenticator, throttle, browsers, single_sign_on, title="Test")
    return make_mount(session, ScopesEndpoint(method, throttle))


def client_of(mount: Mount) -> falcon.testing.TestClient:
    """Of an app that has nothing else."""
    app = falcon.App(middleware=[MountMiddleware([mount])])
    PlainErrors().install(app)
    for path, endpoint in mount.routes:
        app.add_route(path, endpoint)
    return falcon.testing.TestClient(app)


@pytest.fixture
def dashboard(clock: FrozenClock) -> falcon.testing.TestClient:
    """A client of `/ui` with the sample identities above."""
    return client_of(mount_of(SampleSignInMethod(SAMPLE), SampleIdentities(SAMPLE), Throttle(clock)))
