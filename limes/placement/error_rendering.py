"""Errors over HTTP: JSON, HTML or plain text by the request's Accept header. All errors of the app come through here.

What went wrong inside reaches the client only as the id of the request, which is also in the log.
"""

import html
import logging
from typing import Any

import falcon
import orjson

from limes import errors
from limes.placement import accept, microversion
from limes.placement.errors import (
    UNDEFINED,
    NotAcceptable,
    TooLarge,
    UnacceptableVersion,
    UnsupportedMediaType,
    UriTooLong,
)

log = logging.getLogger(__name__)

STATUS: dict[type[errors.LimesError], int] = {
    UnacceptableVersion: 406,
    NotAcceptable: 406,
    UnsupportedMediaType: 415,
    TooLarge: 413,
    UriTooLong: 414,
    errors.BadRequest: 400,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.Unavailable: 503,
}

_TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    409: "Conflict",
    413: "Request Entity Too Large",
    414: "Request-URI Too Long",
    415: "Unsupported Media Type",
    500: "Internal Server Error",
    503: "Service Unavailable",
}

# The sentence before the message. Clients show the last line of the detail, so the message comes last.
_SENTENCES = {
    400: "The request is malformed or asks for something that cannot be.",
    401: "A valid token is required.",
    403: "Access was denied to this resource.",
    404: "The resource could not be found.",
    405: "The method {method} is not allowed for this resource.",
    406: "The request asks for something that this server does not offer.",
    409: "There was a conflict when trying to complete your request.",
    413: "The request is too large.",
    414: "The address is too long.",
    415: "The media type of the request is not supported.",
    500: "The server failed to answer the request.",
    503: "The server cannot answer the request at the moment.",
}

_TEXT = "text/plain; charset=utf-8"
_HTML = "text/html; charset=utf-8"


def install_error_handlers(app: falcon.App[Any, Any]) -> None:
    """Makes this module answer for everything that is raised."""
    app.add_error_handler(Exception, _unexpected)
    app.add_error_handler(errors.LimesError, _ours)
    app.add_error_handler(falcon.HTTPError, _falcons)


def answer(
    req: falcon.Request, resp: falcon.Response, status: int, message: str, code: str = UNDEFINED, **more: str
) -> None:
    """Makes the response an error with the last line `message`. `more` goes into the JSON form."""
    resp.status = falcon.code_to_http_status(status)
    sentence = _SENTENCES.get(status, "").replace("{method}", req.method)
    detail = f"{sentence}\n\n {message}" if message else sentence
    kind = accept.error_type(req.accept)
    if kind == "html":
        resp.content_type = _HTML
        lines = "<br />".join(html.escape(detail).split("\n"))
        title = f"{status} {_TITLES.get(status, 'Error')}"
        resp.text = (
            f"<html>\n <head>\n  <title>{title}</title>\n </head>\n <body>\n  <h1>{title}</h1>\n"
            f"  {lines}\n </body>\n</html>\n"
        )
    elif kind == "text":
        resp.content_type = _TEXT
        resp.text = f"{status} {_TITLES.get(status, 'Error')}\n\n{detail}\n"
    else:
        resp.content_type = falcon.MEDIA_JSON
        resp.data = orjson.dumps(_document(req, status, detail, code, more))


def _document(req: falcon.Request, status: int, detail: str, code: str, more: dict[str, str]) -> dict[str, Any]:
    title = _TITLES.get(status, "Error")
    if status == 401:
        return {"message": detail, "code": f"401 {title}", "title": title}
    error: dict[str, Any] = {
        "status": status,
        "title": title,
        "detail": detail,
        "request_id": getattr(req.context, "request_id", ""),
    }
    if getattr(req.context, "version", 0) >= 23:
        error["code"] = code
    return {"errors": [error | more]}


def _ours(req: falcon.Request, resp: falcon.Response, error: errors.LimesError, params: dict[str, Any]) -> None:
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), None)
    if status is None:
        _unexpected(req, resp, error, params)
        return
    more = {}
    if isinstance(error, UnacceptableVersion):
        more = {
            "max_version": microversion.text(microversion.MAX),
            "min_version": microversion.text(microversion.MIN),
        }
    if status == 503:
        log.error("%s %s: %s", req.method, req.path, error)
        resp.set_header("retry-after", "5")
    answer(req, resp, status, str(error), getattr(error, "code", UNDEFINED), **more)


def _falcons(req: falcon.Request, resp: falcon.Response, error: falcon.HTTPError, params: dict[str, Any]) -> None:
    resp.set_headers(error.headers or {})
    if error.status_code == 404:
        answer(req, resp, 404, "")
    elif error.status_code == 405:
        answer(req, resp, 405, "The method specified is not allowed for this resource.")
    else:
        answer(req, resp, error.status_code, error.description or error.title or "")


def _unexpected(req: falcon.Request, resp: falcon.Response, error: Exception, params: dict[str, Any]) -> None:
    log.exception("%s %s failed", req.method, req.path, exc_info=error)
    request_id = getattr(req.context, "request_id", "-")
    answer(req, resp, 500, f"The log has more under {request_id}.")
