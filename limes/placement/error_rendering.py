"""Placement's errors over HTTP: JSON, HTML or plain text, by the request's Accept header."""

import html
from collections.abc import Mapping
from typing import Any, ClassVar

import falcon
import orjson

from limes import errors
from limes.placement import accept, microversion
from limes.placement import errors as own
from limes.web.errors import PlainErrors, shortened

_WORDS = {
    400: ("Bad Request", "The request is malformed or asks for something that cannot be."),
    401: ("Unauthorized", "A valid token is required."),
    403: ("Forbidden", "Access was denied to this resource."),
    404: ("Not Found", "The resource could not be found."),
    405: ("Method Not Allowed", "The method {method} is not allowed for this resource."),
    406: ("Not Acceptable", "The request asks for something that this server does not offer."),
    409: ("Conflict", "There was a conflict when trying to complete your request."),
    413: ("Request Entity Too Large", "The request is too large."),
    414: ("Request-URI Too Long", "The address is too long."),
    415: ("Unsupported Media Type", "The media type of the request is not supported."),
    500: ("Internal Server Error", "The server failed to answer the request."),
    503: ("Service Unavailable", "The server cannot answer the request at the moment."),
}
"""The title, and the sentence before the message. Clients show the last line, so the message comes last."""

_TEXT = "text/plain; charset=utf-8"
_HTML = "text/html; charset=utf-8"


class PlacementErrors(PlainErrors):
    """Answers everything that is raised, in the form that the client accepts."""

    statuses: ClassVar[Mapping[type[errors.LimesError], int]] = {
        own.UnacceptableVersion: 406,
        own.NotAcceptable: 406,
        own.UnsupportedMediaType: 415,
        own.TooLarge: 413,
        own.UriTooLong: 414,
        errors.BadRequest: 400,
        errors.Unauthorized: 401,
        errors.Forbidden: 403,
        errors.NotFound: 404,
        errors.Conflict: 409,
        errors.Unavailable: 503,
    }
    unexpected = "The log has more under {request_id}."
    reasons: ClassVar[Mapping[int, str]] = {404: "", 405: "The method specified is not allowed for this resource."}

    def answer(
        self, req: falcon.Request, resp: falcon.Response, status: int, message: str, error: Exception | None = None
    ) -> None:
        """Makes the response an error with the last line `message`."""
        resp.status = falcon.code_to_http_status(status)
        title, sentence = _WORDS.get(status, ("Error", ""))
        sentence = sentence.replace("{method}", req.method)
        detail = f"{sentence}\n\n {shortened(message)}" if message else sentence
        kind = accept.error_type(req.accept)
        if kind == "html":
            resp.content_type = _HTML
            lines = "<br />".join(html.escape(detail).split("\n"))
            resp.text = (
                f"<html>\n <head>\n  <title>{status} {title}</title>\n </head>\n <body>\n  <h1>{status} {title}</h1>\n"
                f"  {lines}\n </body>\n</html>\n"
            )
        elif kind == "text":
            resp.content_type = _TEXT
            resp.text = f"{status} {title}\n\n{detail}\n"
        else:
            resp.content_type = falcon.MEDIA_JSON
            resp.data = orjson.dumps(_document(req, status, title, detail, error))


def _document(req: falcon.Request, status: int, title: str, detail: str, error: Exception | None) -> dict[str, Any]:
    if status == 401:
        return {"message": detail, "code": f"401 {title}", "title": title}
    document: dict[str, Any] = {
        "status": status,
        "title": title,
        "detail": detail,
        "request_id": getattr(req.context, "request_id", ""),
    }
    if getattr(req.context, "version", 0) >= 23:
        document["code"] = getattr(error, "code", own.UNDEFINED)
    if isinstance(error, own.UnacceptableVersion):
        document["max_version"] = microversion.text(microversion.MAX)
        document["min_version"] = microversion.text(microversion.MIN)
    return {"errors": [document]}
