"""What a browser keeps while its user is at a provider: a signed cookie, good for one answer within some minutes.

A page elsewhere could have a browser bring us an answer, and with it sign its user in as somebody else. So an answer
counts only in the browser that has begun, which has this cookie, and the provider's answer repeats what is derived from
it (`state`). The page itself brings both: its requests are those of our own origin, so the cookie is `SameSite=Strict`.
"""

import base64
import contextlib
import hashlib
import hmac
import secrets
import threading
from datetime import UTC, datetime
from pathlib import Path

import falcon
import msgspec

from limes.kernel.errors import Unauthorized
from limes.kernel.system import Clock

COOKIE = "limes-sign-in"
GOOD_FOR = 600
"""Seconds: the time to sign in at the provider."""
_KEPT_FOR = 3600
"""Seconds, so that an answer that comes too late is told from one to a question that was never asked."""

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class Attempt(msgspec.Struct, frozen=True):
    """A sign-in that was begun. It holds no secret: what is derived from `number` needs our key."""

    number: str
    provider: str
    until: float
    return_to: str
    """The page that the user was at."""


class Attempts(msgspec.Struct, frozen=True):
    """Begins attempts, and ends each once; of all processes with the same key and folder."""

    key: bytes
    clock: Clock
    used: "UsedNumbers"
    __repr__ = object.__repr__  # without the key

    def begin(self, req: falcon.Request, resp: falcon.Response, provider: str, return_to: str) -> Attempt:
        until = self.clock.now().timestamp() + GOOD_FOR
        attempt = Attempt(secrets.token_hex(16), provider, until, return_to)
        payload = base64.urlsafe_b64encode(msgspec.json.encode(attempt)).decode()
        resp.set_cookie(
            _name(req),
            f"{payload}.{self._sign('cookie', payload)}",
            path="/",
            max_age=_KEPT_FOR,
            secure=req.forwarded_scheme == "https",
            http_only=True,
            same_site="Strict",
        )
        return attempt

    def read(self, req: falcon.Request, resp: falcon.Response, provider: str) -> Attempt:
        """Returns the browser's attempt, and takes its cookie away. Raises `Unauthorized` for all but a good one, which
        is not used up yet."""
        cookie = req.cookies.get(_name(req))
        if not cookie:
            raise Unauthorized(
                "Limes: this is not the answer to a sign-in that was started in this browser, or it was used already;"
                " sign in again"
            )
        # not `unset_cookie`: with its prefix, browsers take it only with `Secure`, even to drop it
        is_secure = req.forwarded_scheme == "https"
        resp.set_cookie(_name(req), "", expires=_LONG_AGO, path="/", secure=is_secure, same_site="Strict")
        payload, _, signature = cookie.partition(".")
        if not cookie.isascii() or not hmac.compare_digest(signature, self._sign("cookie", payload)):
            raise Unauthorized("Limes: the cookie of this sign-in is forged, or of another Limes; sign in again")
        attempt = msgspec.json.decode(base64.urlsafe_b64decode(payload), type=Attempt)
        if self.clock.now().timestamp() >= attempt.until:
            raise Unauthorized(f"Limes: this sign-in took longer than {GOOD_FOR // 60} minutes; sign in again")
        if attempt.provider != provider:
            raise Unauthorized("Limes: this answer is of another provider than this browser has asked; sign in again")
        return attempt

    def end(self, attempt: Attempt) -> None:
        """Raises `Unauthorized` if it has ended before."""
        if not self.used.add(attempt.number, attempt.until):
            raise Unauthorized("Limes: the answer to this sign-in was used before; sign in again")

    def derive(self, attempt: Attempt, kind: str) -> str:
        """Returns a secret of an attempt, of 43 characters that are safe in URLs: the same one each time."""
        digest = hmac.digest(self.key, f"sign-in.{kind}.{attempt.number}".encode(), "sha256")
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")

    def _sign(self, kind: str, payload: str) -> str:
        return hmac.new(self.key, f"sign-in.{kind}.{payload}".encode(), hashlib.sha256).hexdigest()


def _name(req: falcon.Request) -> str:
    """With this prefix, browsers take the cookie from us alone, and not from other hosts of our domain: these could
    have somebody answer a sign-in of theirs."""
    return f"__Host-{COOKIE}" if req.forwarded_scheme == "https" else COOKIE


class UsedNumbers:
    """Numbers of attempts that have ended. Processes with the same folder know each other's."""

    def __init__(self, clock: Clock, folder: Path | None) -> None:
        self._clock = clock
        self._folder = folder and folder / "ended-sign-ins"
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def add(self, number: str, until: float) -> bool:
        """Returns whether it is new. It is remembered until then, as nobody takes it for good after that."""
        now = self._clock.now().timestamp()
        if self._folder is not None:
            return self._add_file(self._folder, number, now)
        with self._lock:
            self._until = {each: end for each, end in self._until.items() if end >= now}
            is_new = number not in self._until
            self._until[number] = until
            return is_new

    def _add_file(self, folder: Path, number: str, now: float) -> bool:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in folder.iterdir():
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                if old.stat().st_mtime < now - _KEPT_FOR:
                    old.unlink()
        try:
            (folder / number).touch(0o600, exist_ok=False)  # whoever makes the file is the first
        except FileExistsError:
            return False
        return True
