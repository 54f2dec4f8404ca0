"""Headers of every answer below `/ui`."""

import falcon

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
"""Nothing from elsewhere, nothing inline, and no page around ours."""


SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def set_security_headers(resp: falcon.Response) -> None:
    """Tells browsers what this page will never do."""
    resp.set_headers(SECURITY_HEADERS)
