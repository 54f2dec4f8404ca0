"""What keeps browsers from doing harm: headers of each answer, and a check of the page that a request comes from."""

import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path
from urllib.parse import urlsplit

import falcon
from msgspec import Struct

from limes.kernel.errors import Forbidden
from limes.kernel.outgoing import answers
from limes.ui.throttle import normalised

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
"""Nothing from elsewhere, nothing inline, and no page around ours."""
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
PAGE_HEADER = "X-Limes-Dashboard"
"""Which only scripts can set, and those of other origins only with our leave, which they never get."""


def require_own_page(req: falcon.Request) -> None:
    """Raises `Forbidden` for a request from another page. `Sec-Fetch-Site` is the browser's own word, and knows nothing
    of proxies that change `Host`. Browsers leave it out on plain HTTP beyond this machine; then `Origin` has to fit."""
    if req.get_header(PAGE_HEADER) is None:
        raise Forbidden(f"only for the dashboard's own page: the header {PAGE_HEADER} is missing")
    site, origin = req.get_header("Sec-Fetch-Site"), req.get_header("Origin")
    try:
        is_own = site == "same-origin" if site is not None else origin is None or urlsplit(origin).netloc == req.netloc
    except ValueError:
        is_own = False
    if not is_own:
        raise Forbidden("only for the dashboard's own page, not for those of other origins")


def origin_of(url: str) -> str:
    """Returns the origin of a URL as browsers write it: in lower case, without the port that everybody knows."""
    scheme, host, port = answers.origin(url)
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}" if port == {"http": 80, "https": 443}.get(scheme) else f"{scheme}://{host}:{port}"


COOKIE = "limes-browser"


class KnownBrowsers(Struct, frozen=True):
    """Gives and reads cookies of browsers that have signed in to an account before, so that they need not wait for what
    others fail at; of all processes with the same key.

    Such a cookie is no session: all that it gives is a count of failures of its own. It does not name the user, either:
    whose it is can only be found out with the key, and the account's name.
    """

    key: bytes
    __repr__ = object.__repr__  # without the key

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
            max_age=180 * 24 * 3600,
            secure=req.forwarded_scheme == "https",
            http_only=True,
            same_site="Strict",
        )

    def _sign(self, number: str, account: str) -> str:
        return hmac.new(self.key, f"browser.{number}.{normalised(account)}".encode(), hashlib.sha256).hexdigest()


def shared_key(folder: Path | None) -> bytes:
    """Returns the key in a folder that processes share, where the first one makes it; without, one for this process."""
    key = secrets.token_bytes(32)
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
