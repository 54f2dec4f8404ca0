"""Sessions for requests to other servers: plain ones, and those of keystoneauth1.

All requests to Keystone, backends and other Placements go through these, so redirects and endless answers are handled
here. `tests/unit/outgoing/test_one_place.py` refuses other ways to make a request.
"""

import time
from typing import Any

import requests
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session

from limes.errors import BackendError
from limes.outgoing import transport
from limes.outgoing.answers import DEFAULT_LIMITS, MAX_HOPS, AnswerLimits, next_url, printable_url, read_body
from limes.outgoing.secrets import without_secrets
from limes.redaction import redact

_ENCODINGS = "gzip, deflate"
"""Those that can be decompressed step by step."""


class GuardedSession(requests.Session):
    """Reads each answer whole, within its limits, and goes where a redirect leads only if nothing is given away.

    Raises `BackendError` for answers that go too far. The `timeout` of a request is for the whole of it.
    """

    def __init__(self, limits: AnswerLimits = DEFAULT_LIMITS) -> None:
        super().__init__()
        self._limits = limits
        self.headers["Accept-Encoding"] = _ENCODINGS
        transport.mount_on(self)

    def get_redirect_target(self, resp: requests.Response) -> None:
        """None: `requests` would read the answer to look where it leads. `send` does that."""
        return

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Sends as `requests` does, except for the above. Answers are always read at once, whatever `stream` says."""
        seconds = _total(options.get("timeout")) or self._limits.timeout
        until = time.monotonic() + seconds
        options |= {"allow_redirects": False, "stream": True}
        for _ in range(MAX_HOPS + 1):
            options["timeout"] = max(0.001, until - time.monotonic())
            token = transport.deadline.set(until)
            try:
                response = super().send(request, **options)
            finally:
                transport.deadline.reset(token)
            try:
                body, share = read_body(response, self._limits, until, seconds)
            except BaseException:
                response.close()
                raise
            body = without_secrets(body, response.status_code, request)
            response._content, response._content_consumed = body, True  # type: ignore[attr-defined]  # as requests does
            if response.status_code >= 400:  # of errors, little is left
                share.free()
            response.share = share  # type: ignore[attr-defined]  # for as long as somebody has the answer
            response.encoding = "utf-8"  # as `Contents` has read it: what other encodings hide it has not seen
            response.reason = redact(response.reason or "")
            response.raw.release_conn()
            target = next_url(response)
            if target is None:
                return response
            request = request.copy()
            request.url = target
        raise BackendError(
            f"{request.method} {printable_url(str(request.url))}: more than {MAX_HOPS} redirects in a row"
        )


def keystone_session(auth: Any = None, *, limits: AnswerLimits = DEFAULT_LIMITS, **options: Any) -> Session:
    """Returns a session of keystoneauth1, with its `options` (`verify`, `cert`, `timeout`, `user_agent`, ...)."""
    return Session(auth, session=GuardedSession(limits), redirect=False, **options)


class TimedAdapter(Adapter):
    """Sessions know one timeout for all services; this adapter has its own, in seconds."""

    def __init__(self, session: Session, timeout: float | None, **options: Any) -> None:
        super().__init__(session, **options)
        self._timeout = timeout

    def request(self, url: str, method: str, **options: Any) -> Any:
        if self._timeout is not None:
            options.setdefault("timeout", self._timeout)
        return super().request(url, method, **options)


def _total(timeout: Any) -> float | None:
    """Returns the time of a request, from what `requests` takes as one."""
    if isinstance(timeout, tuple):
        return sum(part for part in timeout if part) or None
    return float(timeout) if timeout else None
