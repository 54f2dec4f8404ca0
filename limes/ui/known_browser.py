"""A cookie of browsers that have signed in to an account before, so that they need not wait for what others fail at.

It is no session: all that it gives is a count of failures of its own. It names nobody, either: whose it is can only be
found out with the key, and the account's name.
"""

import contextlib
import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

import falcon

from limes.ui.throttle import normalised

COOKIE = "limes-browser"
_DAYS = 180
_KEY = 32


@dataclass(frozen=True, slots=True)
class KnownBrowsers:
    """Gives and reads the cookies, of all processes with the same key."""

    key: bytes = field(repr=False)

    def read(self, req: falcon.Request, account: str) -> str | None:
        """Returns the number of a browser that has signed in to the account; None for all others."""
        cookie = req.cookies.get(COOKIE, "")
        number, _, signature = cookie.partition(".")
        is_ours = cookie.isascii() and hmac.compare_digest(signature, self._sign(number, account))
        return number if is_ours else None

    def mark(self, req: falcon.Request, resp: falcon.Response, account: str, number: str | None) -> None:
        """Gives the browser its cookie, and the number that it has already."""
        number = number or secrets.token_hex(16)
        resp.set_cookie(
            COOKIE,
            f"{number}.{self._sign(number, account)}",
            path="/ui/session",
            max_age=_DAYS * 24 * 3600,
            secure=req.forwarded_scheme == "https",
            http_only=True,
            same_site="Strict",
        )

    def _sign(self, number: str, account: str) -> str:
        return hmac.new(self.key, f"browser.{number}.{normalised(account)}".encode(), hashlib.sha256).hexdigest()


def shared_key(folder: Path | None) -> bytes:
    """Returns the key in a folder that processes share, where the first one makes it; without, one for this process."""
    key = secrets.token_bytes(_KEY)
    if folder is None:
        return key
    path, own = folder / "browser-key", folder / f"browser-key-{secrets.token_hex(8)}"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            own.touch(0o600)
            own.write_bytes(key)
            with contextlib.suppress(FileExistsError):
                os.link(own, path)  # whole or not at all
            key = path.read_bytes()
        finally:
            own.unlink(missing_ok=True)
    return key
