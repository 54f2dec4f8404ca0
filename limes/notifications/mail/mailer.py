"""A mail, the contract of those who take it, and the links in it with which a recipient unsubscribes."""

import base64
import binascii
import enum
import hashlib
import hmac
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol
from urllib.parse import urlencode

import orjson
from msgspec import Struct, field


class Mail(Struct, frozen=True):
    """One mail to one recipient. A repetition has the same id and the same contents."""

    id: str
    recipient: str
    """An address; for the sink `mail_api`, the UUID of a project."""
    subject: str
    text: str
    html: str
    at: float
    """When it was made, in seconds since the epoch."""
    language: str = "en"
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further ones. Values are one line each."""


def one_line(text: str, longest: int = 900) -> str:
    """Returns the text without line breaks and other control characters, which could begin another header."""
    return " ".join("".join(" " if each.isspace() or not each.isprintable() else each for each in text).split())[
        :longest
    ]


class DeliveryStatus(enum.Enum):
    SENT = "sent"
    LATER = "later"
    """The server refuses it, or its recipient, for now."""
    NEVER = "never"
    """The server refuses it, or its recipient, permanently."""


class MailResult(NamedTuple):
    fate: DeliveryStatus
    reason: str = ""
    """Without secrets."""


SENT = MailResult(DeliveryStatus.SENT)


class MailerDown(Exception):
    """No mail can be sent now. The text has no secret in it."""


class MailSession(Protocol):
    """An open connection, for one mail after the other."""

    def send(self, mail: Mail) -> MailResult:
        """Sends a mail. Raises `MailerDown`: then it is unknown whether it has arrived, and the session is over."""
        ...


class Mailer(Protocol):
    """A server that takes mail. Contract: all calls return in bounded time. Nothing but `MailerDown` is raised, by
    opening and by sending."""

    def open(self) -> AbstractContextManager[MailSession]:
        """Connects and logs in."""
        ...

    def try_out(self) -> str | None:
        """Returns why it could not take mail now; None if it could. Sends nothing, and raises nothing."""
        ...


# -- links to unsubscribe ----------------------------------------------------------------------------------------------

PATH = "/v1/notifications/unsubscribe"
ALL_KINDS = "*"
_LONGEST = 2000


class Subscription(NamedTuple):
    recipient: str
    kind: str


class Unsubscribe(Struct, frozen=True):
    """Makes and reads links, which are signed. One works as long as the secret stays the same: a mail may be read much
    later."""

    url: str
    secret: str

    def link(self, subscription: Subscription) -> str:
        """The address of a page, which also takes one-click requests (RFC 8058)."""
        return f"{self.url.rstrip('/')}{PATH}?{urlencode({'token': self.token(subscription)})}"

    def token(self, subscription: Subscription) -> str:
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
