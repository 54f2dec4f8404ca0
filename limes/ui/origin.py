"""Whether a request comes from our own page: cookies travel by themselves, so other pages must not use them."""

from urllib.parse import urlsplit

import falcon

from limes.errors import Forbidden

PAGE_HEADER = "X-Limes-Dashboard"
"""Which only scripts can set, and those of other origins only with our leave, which they never get."""


def require_own_page(req: falcon.Request) -> None:
    """Raises `Forbidden` for what another page has sent.

    `Sec-Fetch-Site` is the browser's own word, and knows nothing of proxies that change `Host`. Browsers leave it out
    on plain HTTP beyond this machine; then `Origin` has to fit.
    """
    if req.get_header(PAGE_HEADER) is None:
        raise Forbidden(f"only for the dashboard's own page: the header {PAGE_HEADER} is missing")
    site = req.get_header("Sec-Fetch-Site")
    origin = req.get_header("Origin")
    is_own = site == "same-origin" if site is not None else origin is None or _host(origin) == req.netloc
    if not is_own:
        raise Forbidden("only for the dashboard's own page, not for those of other origins")


def _host(origin: str) -> str | None:
    """Host and port of an origin; None for what is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None
