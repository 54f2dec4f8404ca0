"""What the server itself answers when no app can: JSON with a request id instead of gunicorn's HTML."""

import contextlib
import logging
import ssl
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import orjson
from gunicorn.http import errors

from limes.web.errors import shortened

log = logging.getLogger(__name__)

_STATUS: dict[type[Exception], int] = {
    errors.LimitRequestLine: 414,
    errors.LimitRequestHeaders: 431,
    errors.ExpectationFailed: 417,
    errors.ForbiddenProxyRequest: 403,
    errors.UnsupportedTransferCoding: 501,
    # gunicorn is configured to serve below a path, and a client asks for another one
    errors.ConfigurationProblem: 404,
    # our own mistakes, which gunicorn reports like those of clients
    errors.InvalidResponseHeader: 500,
    errors.InvalidResponseHeaderName: 500,
    errors.ParseException: 400,
    ssl.SSLError: 400,
}
_RETRY_SECONDS = {429: 1, 503: 5}


class Refusal(Exception):
    """A request is refused before any app sees it."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


def refuse(client: Any, address: Any, error: BaseException) -> None:
    """Answers on the socket. The connection is not used any more."""
    status = _status_of(error)
    request_id = f"req-{uuid4()}"
    peer = (address or ["-"])[0] if isinstance(address, tuple) else "-"
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("a request from %s failed (%s)", peer, request_id, exc_info=error)
        detail = "internal server error"
    else:
        log.warning("a request from %s was refused with %d: %s (%s)", peer, status, error, request_id)
        detail = shortened(str(error))
    with contextlib.suppress(OSError):  # the client has gone away
        client.sendall(_answer(HTTPStatus(status), detail, request_id))


def _status_of(error: BaseException) -> int:
    if isinstance(error, Refusal):
        return error.status
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)


def _answer(status: HTTPStatus, detail: str, request_id: str) -> bytes:
    problem = {"status": status.value, "title": status.phrase, "detail": detail, "request_id": request_id}
    body = orjson.dumps({"errors": [problem]}, option=orjson.OPT_APPEND_NEWLINE)
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        "connection: close",
        "content-type: application/json",
        f"content-length: {len(body)}",
        f"x-openstack-request-id: {request_id}",
        *([f"retry-after: {_RETRY_SECONDS[status]}"] if status in _RETRY_SECONDS else []),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body
