"""Single sign-on: people sign in at a provider, and come back with what Keystone gives a token for.

The page begins with a POST of its own, which says where to go. The provider, or Keystone (WebSSO), sends the browser
back to `/ui/sign-in/{id}`, which is the page again. It hands over what it was given, with the cookie of `attempts`.
"""

from collections.abc import Mapping
from typing import Protocol
from urllib.parse import urlencode

import falcon
from msgspec import Struct

from limes.kernel.errors import BadRequest, NotFound, Unauthorized
from limes.ui import browser, oidc, settings
from limes.ui.attempts import Attempt, Attempts
from limes.ui.sign_in import Issued, ProviderAnswer

ANSWERS = "/ui/sign-in"
"""Below it, by provider, is where people come back to."""


class FederatedKeystone(Protocol):
    """What is asked of Keystone. Contract: as that of `limes.ui.sign_in.SignInMethod`."""

    def exchange(self, identity_provider: str, protocol: str, bearer: str) -> str:
        """Returns an unscoped token for another provider's token."""

    def browser_url(self, identity_provider: str | None, protocol: str) -> str:
        """Returns where Keystone has browsers sign in elsewhere, without the origin to come back to."""


class Provider(Protocol):
    """One way to sign in elsewhere. Raises `Unauthorized` for answers that count for nothing, `Forbidden` where the
    user is refused, `Unavailable` if that cannot be found out."""

    def begin(self, attempts: Attempts, attempt: Attempt) -> str:
        """Returns the address that the browser goes to."""

    def finish(self, attempts: Attempts, attempt: Attempt, answer: ProviderAnswer) -> str:
        """Returns Keystone's token for the answer."""

    def sign_out_url(self, return_to: str) -> str | None:
        """Returns where people sign out at the provider itself; None if they cannot."""

    def posts_from(self) -> str | None:
        """Returns the origin whose pages may post an answer; None if answers come by GET."""


class WebSso(Struct, frozen=True):
    """Keystone's own: the browser goes to Keystone, which has its user signed in and posts a token."""

    url: str
    """Keystone's, with the origin to come back to."""

    def begin(self, attempts: Attempts, attempt: Attempt) -> str:
        return self.url

    def finish(self, attempts: Attempts, attempt: Attempt, answer: ProviderAnswer) -> str:
        attempts.end(attempt)
        if answer.token is None:
            raise BadRequest("Keystone: there is no token in its answer")
        return answer.token.get_secret_value()

    def sign_out_url(self, return_to: str) -> str | None:
        return None

    def posts_from(self) -> str | None:
        return browser.origin_of(self.url)


class Oidc(Struct, frozen=True):
    """OpenID Connect. Keystone gets the provider's token."""

    client: oidc.OidcClient
    keystone: FederatedKeystone
    identity_provider: str
    protocol: str

    def begin(self, attempts: Attempts, attempt: Attempt) -> str:
        return self.client.begin(self._secrets(attempts, attempt))

    def finish(self, attempts: Attempts, attempt: Attempt, answer: ProviderAnswer) -> str:
        secrets = self._secrets(attempts, attempt)
        if answer.state != secrets.state:
            raise Unauthorized(
                "Limes: this answer is not the one to the sign-in that this browser has started last; sign in again"
            )
        attempts.end(attempt)
        if answer.error is not None:
            raise self.client.refusal(answer.error)
        if answer.code is None:
            raise BadRequest("the provider has sent neither a code nor an error")
        bearer = self.client.redeem(answer.code.get_secret_value(), answer.iss, secrets)
        return self.keystone.exchange(self.identity_provider, self.protocol, bearer)

    def sign_out_url(self, return_to: str) -> str | None:
        return self.client.sign_out_url(return_to)

    def posts_from(self) -> str | None:
        return None

    @staticmethod
    def _secrets(attempts: Attempts, attempt: Attempt) -> oidc.Secrets:
        return oidc.Secrets(*(attempts.derive(attempt, kind) for kind in ("state", "nonce", "verifier")))


class SingleSignOn(Struct, frozen=True):
    """All providers of the configuration."""

    attempts: Attempts
    labels: Mapping[str, str]
    """By id, in the order of the page."""
    providers: Mapping[str, Provider]
    home: str
    """The dashboard's address."""

    def offer(self) -> list[dict[str, str]]:
        return [{"id": name, "label": label} for name, label in self.labels.items()]

    def find(self, name: str) -> Provider:
        """Raises `NotFound` with the ids that there are."""
        if name not in self.providers:
            raise NotFound(f"Limes: there is no provider {name!r}; there are: {', '.join(self.providers) or 'none'}")
        return self.providers[name]

    def begin(self, req: falcon.Request, resp: falcon.Response, name: str, return_to: str) -> str:
        """Returns where the browser goes. Raises `BadRequest` if it is at another address than people come back to."""
        provider = self.find(name)
        if req.get_header("Origin") not in (None, browser.origin_of(self.home)):
            raise BadRequest(f"Limes: single sign-on works at {self.home}, not at other addresses; sign in there")
        return provider.begin(self.attempts, self.attempts.begin(req, resp, name, return_to))

    def finish(self, answer: ProviderAnswer, attempt: Attempt) -> Issued:
        """The attempt is the browser's, as `Attempts.read` has returned it."""
        token = self.find(answer.provider).finish(self.attempts, attempt, answer)
        return Issued(token, token, provider=answer.provider)

    def sign_out_url(self, name: str) -> str | None:
        provider = self.providers.get(name)
        return None if provider is None else provider.sign_out_url(self.home)


def answer_address(url: str, name: str) -> str:
    """Returns the address that people come back to: OpenID Connect's `redirect_uri`, and WebSSO's `origin`."""
    return f"{url}{ANSWERS}/{name}"


def web_sso(provider: settings.SignInProvider, url: str, keystone: FederatedKeystone) -> WebSso:
    there = keystone.browser_url(provider.identity_provider, provider.protocol)
    return WebSso(f"{there}?{urlencode({'origin': answer_address(url, provider.id)})}")
