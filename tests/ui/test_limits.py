"""How many may sign in at once."""

from typing import Any

import falcon
import falcon.testing

from limes.auth.without_keystone import SampleIdentities
from limes.ui.session import SessionEndpoint
from limes.ui.sign_in import Issued, SampleSignInMethod
from limes.ui.throttle import Throttle
from limes.web.errors import PlainErrors
from tests.support.clock import FrozenClock
from tests.ui.conftest import SAMPLE

OWN = {"X-Limes-Dashboard": "1"}
BODY = {"method": "token", "token": "bert"}


class BusyDoor(SampleSignInMethod):
    """While somebody is on the way in, somebody else knocks."""

    def __init__(self) -> None:
        super().__init__(SAMPLE)
        self.client = None
        self.others = []

    def sign_in(self, request: Any) -> Issued:
        self.others.append(self.client.simulate_post("/ui/session", headers=OWN, json=BODY))
        return super().sign_in(request)


def test_threads_of_the_api_do_not_all_wait_for_keystone(clock: FrozenClock) -> None:
    method, app = BusyDoor(), falcon.App()
    PlainErrors().install(app)
    session = SessionEndpoint(method, SampleIdentities(SAMPLE), Throttle(clock), title="T", at_once=1)
    app.add_route("/ui/session", session)
    method.client = falcon.testing.TestClient(app)
    for _ in range(2):  # what was taken is given back
        assert method.client.simulate_post("/ui/session", headers=OWN, json=BODY).status_code == 200
    assert [one.status_code for one in method.others] == [503, 503]
    assert "try again in a few seconds" in method.others[0].text
