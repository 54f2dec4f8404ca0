"""Where an answer wants to send us, and whether we go."""

from urllib.parse import urljoin, urlsplit

import requests

from limes.errors import BackendError

MAX_HOPS = 5
_REDIRECTS = (301, 302, 303, 305, 307, 308)
_SAFE = ("GET", "HEAD")
_PORTS = {"http": 80, "https": 443}


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port: who gets what is sent there. Raises `ValueError` for what is no URL."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(scheme)


def next_url(response: requests.Response) -> str | None:
    """The address to go on with, or None for an answer that is none of these.

    Only reads are sent on, and only within their origin: credentials are for the server that they were meant for.
    Raises `BackendError` for all other redirects.
    """
    location = response.headers.get("Location")
    if response.status_code not in _REDIRECTS or not location:
        return None
    method, url = str(response.request.method), str(response.url)
    told = f"{method} {shown(url)}: answered with {response.status_code}, which leads to"
    try:
        target = urljoin(url, location)
        leaves = origin(target) != origin(url)
    except ValueError:
        raise BackendError(f"{told} what is no URL; look at what answers there") from None
    if leaves:
        raise BackendError(
            f"{told} {shown(target)}. It is not followed: that is another origin, and our credentials are not for it."
            " If the service is there, correct its endpoint in Keystone's catalog or in the configuration"
        )
    if method not in _SAFE or response.status_code == 305:
        raise BackendError(
            f"{told} {shown(target)}. It is not followed: only reads are. Correct the endpoint in Keystone's catalog"
            " or in the configuration, so that it needs no redirect"
        )
    return target


def shown(url: str) -> str:
    """A URL without what may be secret in it: user and password, query and fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
