"""What the server itself answers to a request that it cannot read: JSON with a request id, not gunicorn's HTML."""

import contextlib
import logging
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import orjson
from gunicorn import util
from gunicorn.http import errors

log = logging.getLogger(__name__)

_STATUS: dict[type[Exception], int] = {
    errors.LimitRequestLine: 414,
    errors.LimitRequestHeaders: 431,
    errors.ExpectationFailed: 417,
    errors.ForbiddenProxyRequest: 403,
    errors.UnsupportedTransferCoding: 501,
    # mistakes of our own, which gunicorn reports as any other
    errors.ConfigurationProblem: 0,
    errors.InvalidResponseHeader: 0,
    errors.InvalidResponseHeaderName: 0,
    errors.ParseException: 400,
}


def refuse(client: Any, address: Any, error: BaseException) -> bool:
    """Answers on the socket, if the error is about what the client has sent. The connection is not used any more."""
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 0)
    if not status:
        return False
    request_id = f"req-{uuid4()}"
    log.warning("a request from %s was refused with %d: %s (%s)", (address or ["-"])[0], status, error, request_id)
    with contextlib.suppress(OSError):  # the client has gone away
        util.write_nonblock(client, _answer(HTTPStatus(status), str(error), request_id))
    return True


def _answer(status: HTTPStatus, detail: str, request_id: str) -> bytes:
    problem = {"status": status.value, "title": status.phrase, "detail": detail, "request_id": request_id}
    body = orjson.dumps({"errors": [problem]}, option=orjson.OPT_APPEND_NEWLINE)
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        "connection: close",
        "content-type: application/json",
        f"content-length: {len(body)}",
        f"x-openstack-request-id: {request_id}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body
