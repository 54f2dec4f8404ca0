"""OpenID Connect: the authorization code flow with PKCE, as far as a client that only passes a token on needs it."""

import base64
import hashlib
import logging
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec
import requests
from keystoneauth1 import exceptions as ksa_errors

from limes.auth import session, tokens
from limes.kernel.errors import BackendError, Forbidden, Unauthorized, Unavailable
from limes.kernel.outgoing import AnswerLimits, keystone_session
from limes.kernel.system import Clock
from limes.ui.settings import SignInProvider

log = logging.getLogger(__name__)

_KEPT_FOR = 3600.0
"""Seconds for which a discovery document is not asked for again."""
_LEEWAY = 60.0
"""Seconds by which the provider's clock may differ."""
_AT_ONCE, _PATIENCE = 2, 2.0
"""Requests of a worker that may wait for a provider at a time, and seconds in which others wait for that. A provider
that hangs takes no more of the places that there are for all who wait, such as for Keystone."""
_BUSY = ("temporarily_unavailable", "server_error")
_USERS = ("access_denied", "login_required", "consent_required", "interaction_required", "account_selection_required")


class Discovery(msgspec.Struct, frozen=True):
    """What a provider says of itself at `{issuer}/.well-known/openid-configuration`, as far as it is used."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    end_session_endpoint: str | None = None
    authorization_response_iss_parameter_supported: bool = False
    code_challenge_methods_supported: tuple[str, ...] = ()
    """Empty: it does not say."""


class Secrets(msgspec.Struct, frozen=True):
    """Of one sign-in."""

    state: str
    nonce: str
    verifier: str

    @property
    def challenge(self) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).decode().rstrip("=")


class OidcClient:
    """Limes as a client of one provider. Errors say that they are the provider's. For many threads at once."""

    def __init__(
        self, provider: SignInProvider, redirect_uri: str, limits: AnswerLimits, clock: Clock, gate: tokens.Gate
    ) -> None:
        """`gate` is for the threads that wait, whatever for."""
        self._gate = gate
        self._provider = provider
        self._whose = f"the provider {provider.label}"
        self._redirect_uri = redirect_uri
        self._clock = clock
        self._session = keystone_session(
            limits=limits,
            verify=str(provider.cacert) if provider.cacert else True,
            timeout=provider.timeout,
            user_agent="limes-ui",
        )
        self._known: tuple[float, Discovery] | None = None
        """Until when it counts, by the monotonic clock."""
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(_AT_ONCE)

    def discover(self) -> Discovery:
        """Raises `Unavailable` if the provider does not answer, or with something else than what was configured."""
        with self._lock:
            known = self._known
        if known is not None and self._clock.monotonic() < known[0]:
            return known[1]
        issuer = str(self._provider.issuer)
        answer = self._ask("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if answer.status_code != 200:
            raise self._unavailable(f"its discovery document is missing (HTTP {answer.status_code})")
        try:
            found = msgspec.json.decode(answer.content, type=Discovery)
        except msgspec.MsgspecError:
            raise self._unavailable("what is at the place of its discovery document is none") from None
        if found.issuer != issuer:
            raise self._unavailable(f"it says that its issuer is {found.issuer!r}, not {issuer!r}")
        for endpoint in (found.authorization_endpoint, found.token_endpoint, found.end_session_endpoint or issuer):
            if urlsplit(endpoint).scheme != "https" and urlsplit(issuer).scheme == "https":
                raise self._unavailable(f"its address {endpoint!r} is not encrypted")
        with self._lock:
            self._known = self._clock.monotonic() + _KEPT_FOR, found
        return found

    def begin(self, secrets: Secrets) -> str:
        """Returns the address at which the provider asks the user who they are."""
        query = {
            "response_type": "code",
            "client_id": self._provider.client_id,
            "redirect_uri": self._redirect_uri,
            "scope": " ".join(self._provider.scopes),
            "state": secrets.state,
            "nonce": secrets.nonce,
            "code_challenge": secrets.challenge,
            "code_challenge_method": "S256",
        }
        return _with_query(self.discover().authorization_endpoint, query)

    def refusal(self, error: str) -> Exception:
        """Returns what it means that the provider has answered with an error and no code."""
        if error in _BUSY:
            return Unavailable(f"{self._whose} cannot sign you in just now ({error}); try again later")
        if error in _USERS:
            return Forbidden(f"{self._whose} has refused the sign-in ({error})")
        log.error("sign-in: %s refuses what Limes asks for: %s", self._whose, error)
        return Forbidden(
            f"{self._whose} does not accept what Limes asks for ({error}); tell the operators of this cloud"
        )

    def redeem(self, code: str, iss: str | None, secrets: Secrets) -> str:
        """Returns the token for Keystone that a code stands for."""
        found = self.discover()
        may_lack_issuer = not found.authorization_response_iss_parameter_supported
        if iss != found.issuer and not (iss is None and may_lack_issuer):
            raise Unauthorized(f"Limes: this answer is not one of {self._whose}; sign in again")
        body = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": secrets.verifier,
        }
        client_id, secret = str(self._provider.client_id), self._provider.client_secret
        if secret is None:
            answer = self._ask("POST", found.token_endpoint, data={**body, "client_id": client_id})
        else:
            quoted = _form_encoded(client_id), _form_encoded(secret)
            answer = self._ask("POST", found.token_endpoint, data=body, requests_auth=quoted)
        document = _json_object(answer)
        if answer.status_code >= 400:
            raise self._not_redeemed(answer.status_code, str(document.get("error", "")))
        self._check_identity(document.get("id_token"), found.issuer, secrets.nonce)
        token = document.get(self._provider.keystone_gets)
        if not isinstance(token, str) or not token:
            raise self._unavailable(f"it gives no {self._provider.keystone_gets}")
        return token

    def sign_out_url(self, return_to: str) -> str | None:
        """Returns where the provider signs people out, if it does. It asks them first, as Limes keeps no token of
        theirs that could prove who they are."""
        try:
            endpoint = self.discover().end_session_endpoint if self._provider.sign_out else None
        except Unavailable:
            return None
        query = {"client_id": self._provider.client_id, "post_logout_redirect_uri": return_to}
        return endpoint and _with_query(endpoint, query)

    def _check_identity(self, id_token: Any, issuer: str, nonce: str) -> None:
        """The token comes straight from the provider, over TLS, which says as much as its signature would (OpenID
        Connect Core, 3.1.3.7). Keystone checks whatever it is given by itself."""
        try:
            claims = msgspec.json.decode(base64.urlsafe_b64decode(id_token.split(".")[1] + "=="), type=dict[str, Any])
            audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
            client = self._provider.client_id
            is_good = (
                claims["iss"] == issuer
                and client in audience
                and claims.get("azp", client) == client
                and claims["exp"] > self._clock.now().timestamp() - _LEEWAY
            )
            is_ours = claims.get("nonce") == nonce
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            raise self._unavailable("its id_token cannot be read") from None
        if not is_good:
            raise self._unavailable("its id_token is expired, or not for Limes")
        if not is_ours:
            raise Unauthorized(
                f"Limes: {self._whose} has answered another question than this one (nonce); sign in again"
            )

    def _not_redeemed(self, status: int, error: str) -> Exception:
        if error == "invalid_grant":
            return Unauthorized(
                f"{self._whose} does not know this code, or not any more (invalid_grant); sign in again"
            )
        if error in ("invalid_client", "unauthorized_client") or status in (401, 403):
            return self._unavailable("it does not accept Limes as a client (client_id, client_secret)")
        return self._unavailable(f"it gives no token (HTTP {status})")

    def _ask(self, method: str, url: str, **options: Any) -> requests.Response:
        # log=False: keystoneauth would write headers and bodies at DEBUG
        options |= {"authenticated": False, "raise_exc": False, "log": False, "headers": {"Accept": "application/json"}}
        if not self._places.acquire(timeout=_PATIENCE):
            raise Unavailable(f"{self._whose} is slow, and too many sign-ins wait for it; try again later")
        try:
            with self._gate.admit():
                answer: requests.Response = self._session.request(url, method, **options)
        except Unavailable:
            raise Unavailable("Limes: too many requests wait just now; try again later") from None
        except (ksa_errors.ClientException, requests.RequestException, BackendError) as error:
            raise self._unavailable(session.reason_of(error)) from None
        else:
            return answer
        finally:
            self._places.release()

    def _unavailable(self, problem: str) -> Unavailable:
        log.error("sign-in: %s (%s): %s", self._whose, self._provider.issuer, problem)
        return Unavailable(f"{self._whose} cannot be asked: {problem}")


def _with_query(url: str, query: Mapping[str, str | None]) -> str:
    return f"{url}{'&' if '?' in url else '?'}{urlencode(query)}"


def _form_encoded(text: str) -> str:
    """As OAuth 2.0 has it in `Authorization: Basic` (RFC 6749, 2.3.1)."""
    return urlencode({"": text})[1:]


def _json_object(answer: requests.Response) -> Mapping[str, Any]:
    try:
        document = answer.json()
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
