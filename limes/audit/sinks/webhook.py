"""The sink `webhook`: a POST with a signature for each event.

`Limes-Signature` is `sha256=` and the HMAC-SHA256, in hexadecimal digits, of the value of `Limes-Timestamp`, a dot and
the body. A receiver that also checks the timestamp (in seconds since the epoch) cannot be sent old requests again.
`Limes-Message-Id` stays the same when a delivery is repeated.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

import requests

from limes.audit.sinks.base import Delivery, OutgoingEvent
from limes.errors import LimesError
from limes.system import Clock

_BUDGET = 60.0
"""Seconds after which a delivery begins no other request."""
_TRY_LATER = frozenset({408, 425, 429})


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """Returns the signature of a request."""
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"


@dataclass(frozen=True, slots=True)
class WebhookSink:
    """Sends one event after the other. An answer of 400 to 499 refuses the event; any other failure stops the
    delivery."""

    url: str
    secret: str
    session: requests.Session
    clock: Clock
    timeout: float = 10.0
    name: str = "webhook"

    def deliver(self, events: Sequence[OutgoingEvent]) -> Delivery:
        delivered: list[int] = []
        refused: dict[int, str] = {}
        blocked: set[str] = set()
        until = self.clock.monotonic() + _BUDGET
        for event in events:
            if event.stream in blocked:
                continue
            if (delivered or refused) and self.clock.monotonic() > until:
                break
            try:
                status = self._post(event)
            except (requests.RequestException, LimesError) as error:
                return Delivery(delivered, refused, f"no answer: {type(error).__name__}")
            if 200 <= status < 300:
                delivered.append(event.number)
            elif 400 <= status < 500 and status not in _TRY_LATER:
                refused[event.number] = f"HTTP {status}"
                blocked.add(event.stream)
            else:
                return Delivery(delivered, refused, f"HTTP {status}")
        return Delivery(delivered, refused)

    def try_out(self) -> str | None:
        """See `Sink`. Any answer will do: only a notification would tell more, and that is not sent to try it."""
        try:
            self.session.head(self.url, timeout=self.timeout)
        except (requests.RequestException, LimesError) as error:
            return f"no answer: {type(error).__name__}"
        return None

    def _post(self, event: OutgoingEvent) -> int:
        body, timestamp = event.document.encode(), str(int(self.clock.now().timestamp()))
        headers = {
            "Content-Type": "application/json",
            "Limes-Message-Id": event.id,
            "Limes-Timestamp": timestamp,
            "Limes-Signature": sign(self.secret, timestamp, body),
        }
        answer = self.session.post(self.url, data=body, headers=headers, timeout=self.timeout)
        return answer.status_code
