"""The Limes API's errors over HTTP: plain text with one trailing newline, as its clients know them.

What went wrong inside reaches the client only as the id of the request, which is also in the log.
"""

import logging
from typing import Any

import falcon

from limes import errors

log = logging.getLogger(__name__)

STATUS: dict[type[errors.LimesError], int] = {
    errors.BadRequest: 400,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.PreconditionFailed: 412,
    errors.Unprocessable: 422,
    errors.NotReady: 423,
    errors.BackendError: 500,
    errors.Unavailable: 503,
}

UNAUTHORIZED = "Unauthorized"
"""What a 401 says, whatever is wrong with the token: clients compare it."""

_PLAIN = "text/plain; charset=utf-8"


def answer(resp: falcon.Response, status: int, text: str) -> None:
    """Makes the response a plain text of one or more lines."""
    resp.status = falcon.code_to_http_status(status)
    resp.content_type = _PLAIN
    resp.text = text if text.endswith("\n") else f"{text}\n"
    resp.set_header("x-content-type-options", "nosniff")


def install_error_handlers(app: falcon.App[Any, Any]) -> None:
    """Makes this module answer for everything that is raised."""
    app.add_error_handler(Exception, _unexpected)
    app.add_error_handler(errors.LimesError, _ours)
    app.add_error_handler(falcon.HTTPError, _falcons)


def _ours(req: falcon.Request, resp: falcon.Response, error: errors.LimesError, params: dict[str, Any]) -> None:
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), None)
    if status is None:
        _unexpected(req, resp, error, params)
        return
    if status >= 500:
        log.error("%s %s: %s", req.method, req.path, error)
    answer(resp, status, str(error))
    if status == 503:
        resp.set_header("retry-after", "5")


def _falcons(req: falcon.Request, resp: falcon.Response, error: falcon.HTTPError, params: dict[str, Any]) -> None:
    resp.set_headers(error.headers or {})
    if error.status_code == 404:
        answer(resp, 404, "404 page not found")
    elif error.status_code == 405:
        answer(resp, 405, "Method Not Allowed")
    else:
        answer(resp, error.status_code, error.description or error.title or str(error.status_code))


def _unexpected(req: falcon.Request, resp: falcon.Response, error: Exception, params: dict[str, Any]) -> None:
    log.exception("%s %s failed", req.method, req.path, exc_info=error)
    request_id = getattr(req.context, "request_id", "-")
    answer(resp, 500, f"internal error; the log has more under {request_id}")
