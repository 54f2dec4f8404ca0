"""Where audit events go to: the contract of sinks, and all of them but RabbitMQ."""

import hashlib
import hmac
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import requests
from msgspec import Struct, field

from limes.kernel import errors, system


class OutgoingEvent(Struct, frozen=True):
    number: int
    stream: str
    id: str
    document: str
    """JSON, in one line."""
    tries: int = 0
    """How often the sink has refused it."""


class Delivery(Struct, frozen=True):
    """How a delivery went. Events that are neither delivered nor refused were not tried."""

    delivered: Sequence[int] = ()
    """Numbers of events that the sink is sure to have: it has confirmed them, or they are on disk."""
    refused: Mapping[int, str] = field(default_factory=dict)
    """Why it refused others, by their numbers. A later try may succeed."""
    error: str | None = None
    """Why it stopped, if so. The text has no password in it."""
    later: Mapping[int, float] = field(default_factory=dict)
    """When to try others, by their numbers. Until then, all of their streams wait."""


class Sink(Protocol):
    """A receiver of events.

    Contract: `deliver` raises nothing. It takes the events in order, and after a refused one it skips all others of the
    same stream. It may be interrupted anywhere: an event that has arrived, but was not reported as delivered, is
    delivered again. It returns in bounded time, whatever the other side does. No two threads call it at the same time.
    """

    @property
    def name(self) -> str:
        """The name in the configuration."""

    def deliver(self, events: Sequence[OutgoingEvent]) -> Delivery: ...

    def try_out(self) -> str | None:
        """Returns why it could not take events now; None if it could. Sends and creates nothing, and raises nothing."""


class LogSink(Struct, frozen=True):
    """Appends a JSON object a line to a file, which is opened for each delivery, so that it can be rotated at any time,
    and synced to disk before anything counts as delivered."""

    path: Path | None = None
    """None means standard output, where nothing is known about what becomes of events."""
    name: str = "log"

    def deliver(self, events: Sequence[OutgoingEvent]) -> Delivery:
        text = "".join(f"{event.document}\n" for event in events).encode()
        try:
            if self.path is None:
                sys.stdout.buffer.write(text)
                sys.stdout.flush()
            else:
                _append(self.path, text)
        except OSError as error:
            where = "standard output" if self.path is None else str(self.path)
            return Delivery(error=f"cannot write to {where}: {error.strerror or error}")
        return Delivery([event.number for event in events])

    def try_out(self) -> str | None:
        if self.path is None:
            return None
        target = self.path if self.path.exists() else self.path.absolute().parent
        if not target.exists():
            return f"there is no folder {target}"
        if self.path.is_dir() or not os.access(target, os.W_OK):
            return f"cannot write to {target}"
        return None


def _append(path: Path, text: bytes) -> None:
    with path.open("ab", buffering=0) as file:
        is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)  # and not a pipe, or a device
        if is_file and _ends_within_a_line(path):  # after a full disk or a crash; that event is delivered again
            text = b"\n" + text
        while text:
            text = text[file.write(text) :]
        if is_file:
            os.fsync(file.fileno())


def _ends_within_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


# -- a webhook ---------------------------------------------------------------------------------------------------------
# `Limes-Signature` is `sha256=` and the HMAC-SHA256, in hexadecimal digits, of the value of `Limes-Timestamp`, a dot
# and the body. A receiver that also checks the timestamp (in seconds since the epoch) cannot be sent old requests
# again. `Limes-Message-Id` stays the same when a delivery is repeated.

_BUDGET = 60.0
"""Seconds after which a delivery begins no other request."""
_TRY_LATER = frozenset({408, 425, 429})


def sign(secret: str, timestamp: str, body: bytes) -> str:
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"


class WebhookSink(Struct, frozen=True):
    """Sends one event after the other. An answer of 400 to 499 refuses the event; any other failure stops the
    delivery."""

    url: str
    secret: str
    session: requests.Session
    clock: system.Clock
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
            except (requests.RequestException, errors.LimesError) as error:
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
        except (requests.RequestException, errors.LimesError) as error:
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
