"""The dashboard with two providers of single sign-on, and what a browser does with it: cookies, and the way there and
back. Keystone is the sample's: what it is given is one of its tokens."""

import html
import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import falcon.testing

from limes.auth.tokens import Gate
from limes.auth.without_keystone import SampleIdentities
from limes.kernel.errors import Forbidden
from limes.kernel.outgoing import DEFAULT_LIMITS
from limes.ui.attempts import Attempts, UsedNumbers
from limes.ui.oidc import OidcClient
from limes.ui.settings import SignInProvider
from limes.ui.sign_in import SampleSignInMethod
from limes.ui.single_sign_on import Oidc, SingleSignOn, answer_address, web_sso
from limes.ui.throttle import Throttle
from tests.support.clock import FrozenClock
from tests.support.faulty_provider import FaultyProvider
from tests.ui.conftest import OWN, SAMPLE, client_of, mount_of

URL = "https://limes.example.com"
KEYSTONE = "https://keystone.example.com"
COOKIE = "limes-sign-in"


@dataclass
class SampleKeystone:
    """Takes sample tokens for the provider's, and gives them back as its own."""

    accepts: bool = True
    given: list[str] = field(default_factory=list)

    def exchange(self, identity_provider: str, protocol: str, bearer: str) -> str:
        self.given.append(bearer)
        if not self.accepts:
            raise Forbidden("Keystone does not accept you")
        return bearer

    def browser_url(self, identity_provider: str | None, protocol: str) -> str:
        return f"{KEYSTONE}/v3/auth/OS-FEDERATION/websso/{protocol}"


class Browser:
    """One that keeps the cookie of a sign-in."""

    def __init__(self, provider: FaultyProvider, clock: FrozenClock, key: bytes = b"key", **settings: Any) -> None:
        self.provider = provider
        self.keystone = SampleKeystone()
        self.cookie = ""
        common = {"label": "Acme", "protocol": "openid", "identity_provider": "acme"}
        oidc = SignInProvider(type="oidc", id="acme", issuer=provider.url, client_id="limes", **{**common, **settings})
        sso = SignInProvider(type="websso", id="sso", **common)
        attempts = Attempts(key, clock, UsedNumbers(clock, None))
        client = OidcClient(oidc, answer_address(URL, "acme"), DEFAULT_LIMITS, clock, Gate())
        providers = {"acme": Oidc(client, self.keystone, "acme", "openid"), "sso": web_sso(sso, URL, self.keystone)}
        single_sign_on = SingleSignOn(attempts, {"acme": "Acme", "sso": "SSO"}, providers, f"{URL}/ui")
        method, identities = SampleSignInMethod(SAMPLE), SampleIdentities(SAMPLE)
        self.client = client_of(mount_of(method, identities, Throttle(clock), single_sign_on=single_sign_on))

    def begin(self, name: str = "acme", **query: str) -> falcon.testing.Result:
        answer = self.client.simulate_post(f"/ui/session/with/{name}", headers=OWN, params=query)
        if COOKIE in answer.cookies:
            self.cookie = answer.cookies[COOKIE].value
        return answer

    def asked(self, name: str = "acme", **query: str) -> dict[str, str]:
        """Begins, and returns what the provider is asked."""
        there = self.begin(name, **query).json["continue_at"]
        asked = {key: values[0] for key, values in parse_qs(urlsplit(there).query).items()}
        self.provider.claims["nonce"] = asked.get("nonce")
        return asked

    def finish(self, name: str = "acme", **answer: str) -> falcon.testing.Result:
        """Hands over an answer, as the page does."""
        cookies = {COOKIE: self.cookie} if self.cookie else {}
        body = {"method": "provider", "provider": name, **answer}
        return self.client.simulate_post("/ui/session", headers=OWN, cookies=cookies, json=body)

    def sign_in(self) -> falcon.testing.Result:
        return self.finish(code="c0de", state=self.asked()["state"])

    def post_token(self, name: str = "sso", body: str = "token=bert", **headers: str) -> dict[str, str]:
        """What the page finds in itself after a POST by Keystone's page, and the status."""
        headers = {"Origin": KEYSTONE, "Content-Type": "application/x-www-form-urlencoded", **headers}
        answer = self.client.simulate_post(f"/ui/sign-in/{name}", headers=headers, body=body)
        (content,) = re.findall(r'<meta name="limes-sign-in" content="([^"]*)" />', answer.text)
        assert answer.headers["cache-control"] == "no-store"
        assert "set-cookie" not in answer.headers
        return {"status": str(answer.status_code), **json.loads(html.unescape(content))}
