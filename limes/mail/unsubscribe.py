"""Links with which a recipient unsubscribes without signing in: a signed address and kind."""

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode

import orjson

PATH = "/v1/notifications/unsubscribe"
ALL_KINDS = "*"
_LONGEST = 2000


class Subscription(NamedTuple):
    """What a recipient may unsubscribe from."""

    recipient: str
    kind: str


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """Makes and reads links. A link works as long as the secret stays the same: a mail may be read much later."""

    url: str
    secret: str

    def link(self, subscription: Subscription) -> str:
        """Returns the address of a page, which also takes one-click requests (RFC 8058)."""
        return f"{self.url.rstrip('/')}{PATH}?{urlencode({'token': self.token(subscription)})}"

    def token(self, subscription: Subscription) -> str:
        """Returns what is in the link."""
        payload = base64.urlsafe_b64encode(orjson.dumps(list(subscription))).rstrip(b"=")
        return f"{payload.decode()}.{self._sign(payload)}"

    def read(self, token: str) -> Subscription | None:
        """Returns what a token is for; None if it is not ours."""
        payload, _, signature = token.partition(".")
        if len(token) > _LONGEST or not token.isascii():
            return None
        if not hmac.compare_digest(self._sign(payload.encode()), signature):
            return None
        try:
            recipient, kind = orjson.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        except (ValueError, TypeError, binascii.Error):
            return None
        return Subscription(str(recipient), str(kind))

    def _sign(self, payload: bytes) -> str:
        digest = hmac.new(self.secret.encode(), b"unsubscribe." + payload, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
