"""What keeps browsers from doing harm: headers of each answer, and a check of the page that a request comes from."""

from urllib.parse import urlsplit

import falcon

from limes.errors import Forbidden

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
"""Tell browsers what this page will never do."""

PAGE_HEADER = "X-Limes-Dashboard"
"""Which only scripts can set, and those of other origins only with our leave, which they never get."""


def require_own_page(req: falcon.Request) -> None:
    """Raises `Forbidden` for a request from another page.

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
    """Returns host and port of an origin; None if it is not one."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None
