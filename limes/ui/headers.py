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


def set_security_headers(resp: falcon.Response) -> None:
    """Tells browsers what this page will never do."""
    resp.set_header("content-security-policy", CONTENT_SECURITY_POLICY)
    resp.set_header("x-content-type-options", "nosniff")
    resp.set_header("referrer-policy", "same-origin")
    resp.set_header("cross-origin-opener-policy", "same-origin")
    resp.set_header("cross-origin-resource-policy", "same-origin")
