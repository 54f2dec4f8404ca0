"""What Placement does around each handler, in this order: the operation's microversion (404, or 405 where clients are
used to it), media types (406, 415), policy (403), the handler, its answer. And errors: JSON, HTML or plain text.

Media types have no case, and a list in an Accept header may have empty entries.
"""

import html
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import lru_cache
from typing import Any, ClassVar, Literal

import falcon
import orjson
from falcon.util import mediatypes

from limes.kernel import errors
from limes.placement import errors as own
from limes.placement import operation as microversion
from limes.placement.call import Answer, Call, PlacementCollaborators
from limes.placement.errors import InvalidBody, UnacceptableVersion
from limes.placement.search.render import dump
from limes.web import operation as web
from limes.web.call import identity_of
from limes.web.errors import PlainErrors, shortened

MIN = 0
MAX = 39
HEADER = "openstack-api-version"
SERVICE = "placement"

_VERSION = re.compile(r"(-?\d{1,99})\.(-?\d{1,99})")


def text(version: int) -> str:
    return f"1.{version}"


@lru_cache(maxsize=256)  # refusals are not cached
def negotiate(header: str | None) -> int:
    """Returns the version that the header's last entry for `placement` asks for; 1.0 where there is none. The header
    may name several services, separated by commas. `latest` means the newest. Raises `InvalidBody` for what is no
    version, and `UnacceptableVersion` for one that this server does not speak."""
    wanted = None
    for entry in (header or "").split(","):
        words = entry.split(maxsplit=1)
        if len(words) == 2 and words[0].lower() == SERVICE:
            wanted = words[1].rstrip()
    if wanted is None:
        return MIN
    if wanted == "latest":
        return MAX
    match = _VERSION.fullmatch(wanted)
    if match is None:
        raise InvalidBody(f"Invalid microversion: invalid version string: {wanted[:100]}")
    major, minor = int(match[1]), int(match[2])
    if major != 1 or not MIN <= minor <= MAX:
        raise UnacceptableVersion(f"Invalid microversion: Unacceptable version header: {wanted}")
    return minor


class Operation(web.Operation, frozen=True):
    """One method of one path."""

    description: str = ""
    """What its rule allows."""
    since: int = 0
    """The first microversion that has the operation."""
    before: int = 404
    """What it answers below that: 404 as if the path did not exist, or 405 as if the method did not."""
    body_below: int = 0
    """The microversion from which it takes no JSON body any more; 0 if it never does."""
    renders: bool = False
    """Whether it answers a document, so that the client has to accept JSON."""


class PlacementApi(web.Api[Operation, Call]):
    def __init__(self, deps: PlacementCollaborators) -> None:
        self._deps = deps

    def responder(self, operation: Operation, siblings: Mapping[str, Operation]) -> web.Responder:
        respond = super().responder(operation, siblings)
        if not operation.since:
            return respond
        refuse = self.refusal(siblings)

        def respond_since(req: falcon.Request, resp: falcon.Response, **params: str) -> None:
            if req.context.version >= operation.since:
                respond(req, resp, **params)
            elif operation.before == 405:
                refuse(req, resp)
            else:
                raise falcon.HTTPNotFound()

        return respond_since

    def refusal(self, operations: Mapping[str, Operation]) -> web.Responder:
        """Answers 405 for all methods that the path does not have, OPTIONS included."""

        def refuse(req: falcon.Request, resp: falcon.Response, **params: str) -> None:
            version: int = req.context.version
            known = [name for name, one in operations.items() if one.before != 405 or version >= one.since]
            raise falcon.HTTPMethodNotAllowed(sorted(known))

        return refuse

    def call(self, req: falcon.Request, operation: Operation, params: Mapping[str, str]) -> Call:
        version: int = req.context.version
        if operation.renders and not _accepts_json(req.accept):
            raise falcon.HTTPNotAcceptable(description="Only application/json is provided")
        if version < operation.body_below:
            media_type = (req.content_type or "").split(";")[0].strip().lower() or None
            if media_type != falcon.MEDIA_JSON:
                message = f"The media type {media_type} is not supported, use application/json"
                raise falcon.HTTPUnsupportedMediaType(description=message)
        now = self._deps.clock.now().timestamp()
        return Call(req, self._deps, operation.rule, params, identity_of(req), version, now)

    def render(self, call: Call, resp: falcon.Response, answer: Answer) -> None:
        """JSON, the location as an absolute URL, and from 1.15 when it was last modified."""
        resp.status = falcon.code_to_http_status(answer.status)
        if answer.location is not None:
            resp.set_header("location", f"{call.req.scheme}://{call.req.netloc}{call.prefix}{answer.location}")
        if answer.last_modified is not None and call.version >= 15:
            resp.set_header("last-modified", _http_date(int(answer.last_modified)))
            resp.set_header("cache-control", "no-cache")
        for name, value in answer.headers.items():
            resp.set_header(name, value)
        data = answer.data if answer.document is None else dump(answer.document)
        if data is not None or answer.stream is not None:
            resp.content_type = falcon.MEDIA_JSON
            resp.data, resp.stream = data, answer.stream


@lru_cache(maxsize=1024)  # many rows were written in the same second
def _http_date(seconds: int) -> str:
    return format_datetime(datetime.fromtimestamp(seconds, UTC), usegmt=True)


@lru_cache(maxsize=256)
def _accepts_json(header: str) -> bool:
    """Returns whether the client accepts JSON. A header that cannot be parsed accepts everything, as upstream."""
    ranges = _ranges(header)
    return ranges is None or mediatypes.quality(falcon.MEDIA_JSON, ranges) > 0


@lru_cache(maxsize=256)
def _error_type(header: str) -> Literal["json", "html", "text"]:
    """Returns the form of errors: JSON if the client does not say, else its preference; text if it accepts neither."""
    if header == "*/*":
        return "json"
    ranges = _ranges(header)
    if ranges is None:
        return "html"
    best: dict[str, Literal["json", "html"]] = {falcon.MEDIA_HTML: "html", falcon.MEDIA_JSON: "json"}
    return best.get(mediatypes.best_match(best, ranges), "text")


def _ranges(header: str) -> str | None:
    """None if the header cannot be parsed."""
    ranges = ",".join(entry for entry in header.lower().split(",") if entry.strip()) or header
    try:
        mediatypes.quality(falcon.MEDIA_JSON, ranges)
    except ValueError:
        return None
    return ranges


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


class PlacementErrors(PlainErrors):
    statuses: ClassVar[Mapping[type[errors.LimesError], int]] = {
        own.UnacceptableVersion: 406,
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
        resp.status = falcon.code_to_http_status(status)
        title, sentence = _WORDS.get(status, ("Error", ""))
        sentence = sentence.replace("{method}", req.method)
        detail = f"{sentence}\n\n {shortened(message)}" if message else sentence
        kind = _error_type(req.accept)
        if kind == "html":
            resp.content_type = "text/html; charset=utf-8"
            lines = "<br />".join(html.escape(detail).split("\n"))
            resp.text = (
                f"<html>\n <head>\n  <title>{status} {title}</title>\n </head>\n <body>\n  <h1>{status} {title}</h1>\n"
                f"  {lines}\n </body>\n</html>\n"
            )
        elif kind == "text":
            resp.content_type = "text/plain; charset=utf-8"
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
