"""Errors over HTTP. Handlers raise `LimesError`s; what goes wrong inside reaches the client only as the request's id.

The log has more under the same id. Most APIs answer plain text with one trailing newline, as Limes' clients know it.
"""

import logging
import re
from collections.abc import Mapping
from typing import Any, ClassVar

import falcon

from limes.kernel import errors

log = logging.getLogger(__name__)

UNAUTHORIZED = "Unauthorized"
"""What a 401 says, whatever is wrong with the token: clients compare it."""

_PLAIN = "text/plain; charset=utf-8"
_LONG_WORD = re.compile(r"(\S{300})\S+")
"""Longer than upstream Placement's longest valid names, 255, so that its wordings with these stay as they are."""
_LONGEST_LINE = 2000
_LONGEST = 64_000
"""Room for a line for each of some hundred resources that are refused."""


class PlainErrors:
    """Answers everything that is raised, as plain text. Subclasses answer in another form."""

    statuses: ClassVar[Mapping[type[errors.LimesError], int]] = {
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
    """Errors of other types are answered with 500, and the client does not see their text."""
    unexpected = "internal error; the log has more under {request_id}"
    reasons: ClassVar[Mapping[int, str]] = {404: "404 page not found", 405: "Method Not Allowed"}
    """What is said where Falcon refuses with these statuses."""

    def install(self, app: falcon.App[Any, Any]) -> None:
        app.add_error_handler(Exception, self._answer_unexpected_error)
        app.add_error_handler(errors.LimesError, self._answer_own_error)
        app.add_error_handler(falcon.HTTPError, self._answer_falcon_error)

    def answer(
        self, req: falcon.Request, resp: falcon.Response, status: int, message: str, error: Exception | None = None
    ) -> None:
        answer_text(resp, status, message)

    def _answer_own_error(
        self, req: falcon.Request, resp: falcon.Response, error: errors.LimesError, params: dict[str, Any]
    ) -> None:
        status = next((code for kind, code in self.statuses.items() if isinstance(error, kind)), None)
        if status is None:
            self._answer_unexpected_error(req, resp, error, params)
            return
        if status >= 500:
            log.error("%s %s: %s", req.method, req.path, error)
        self.answer(req, resp, status, str(error), error)
        if status == 503:
            resp.set_header("retry-after", "5")

    def _answer_falcon_error(
        self, req: falcon.Request, resp: falcon.Response, error: falcon.HTTPError, params: dict[str, Any]
    ) -> None:
        resp.set_headers(error.headers or {})
        message = self.reasons.get(error.status_code)
        if message is None:
            message = error.description or error.title or str(error.status_code)
        self.answer(req, resp, error.status_code, message)

    def _answer_unexpected_error(
        self, req: falcon.Request, resp: falcon.Response, error: Exception, params: dict[str, Any]
    ) -> None:
        log.exception("%s %s failed", req.method, req.path, exc_info=error)
        request_id = getattr(req.context, "request_id", "-")
        self.answer(req, resp, 500, self.unexpected.format(request_id=request_id))


def shortened(message: str) -> str:
    """Returns what is said of a mistake, without most of what it repeats of a large request. A word has at most 300
    characters, a line 2,000, and all 64,000. Of a longer text the beginning and the end stay."""
    lines = _LONG_WORD.sub(r"\1...", message).split("\n")
    return _ends("\n".join(_ends(line, _LONGEST_LINE) for line in lines), _LONGEST)


def _ends(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 2 :]}"


def answer_text(resp: falcon.Response, status: int, text: str) -> None:
    """Makes the response a plain text of one or more lines, which is `shortened` if it is about a mistake."""
    text = shortened(text) if status >= 400 else text
    resp.status = falcon.code_to_http_status(status)
    resp.content_type = _PLAIN
    resp.text = text if text.endswith("\n") else f"{text}\n"
    resp.set_header("x-content-type-options", "nosniff")
