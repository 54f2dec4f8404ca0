"""Query arguments and headers that the reports share."""

from collections.abc import Sequence
from urllib.parse import urlencode

import falcon

from limes.api.collaborators import ApiCollaborators
from limes.api.render.common import RenderContext
from limes.core.selection import Selection, select
from limes.db.queries.reports import Page
from limes.errors import BadRequest
from limes.web.json import dump


def selection_of(deps: ApiCollaborators, req: falcon.Request) -> Selection:
    """What `service`, `area` and `resource` ask for. Each may repeat; an empty value selects nothing."""
    return select(
        deps.catalog,
        services=_values(req, "service"),
        areas=_values(req, "area"),
        resources=_values(req, "resource"),
    )


def _values(req: falcon.Request, name: str) -> list[str] | None:
    if name not in req.params:
        return None
    value = req.params[name]
    return value if isinstance(value, list) else [value]


def int_param(req: falcon.Request, name: str, default: int, minimum: int, maximum: int) -> int:
    """A whole number in the query. Raises `BadRequest`."""
    text = (_values(req, name) or [str(default)])[-1]
    if not text.isascii() or not text.isdigit() or not minimum <= int(text[:20]) <= maximum:
        raise BadRequest(f"query parameter {name}: expected a whole number from {minimum} to {maximum}")
    return int(text)


def transfer_token_of(req: falcon.Request) -> str:
    """The token of a commitment's transfer: in the header `Transfer-Token`, or in the query. Raises `BadRequest`."""
    token = req.get_header("Transfer-Token") or (_values(req, "token") or [""])[-1]
    if not token:
        raise BadRequest("no transfer token provided")
    return token


def render_context_of(deps: ApiCollaborators, req: falcon.Request) -> RenderContext:
    """How the answer is to be rendered. `detail` counts by its presence."""
    per_az = "per-az" in (req.get_header("X-Limes-V2-Api-Preview") or "")
    return RenderContext(deps.catalog, deps.clock, detail="detail" in req.params, per_az=per_az)


MAX_LIMIT = 1000
"""Items of a page."""


def page_of(req: falcon.Request) -> Page | None:
    """What `limit` and `marker` ask for; None without `limit`. Raises `BadRequest` for what is no such number."""
    text = req.params.get("limit")
    if text is None:
        if "marker" in req.params:
            raise BadRequest("marker goes with limit only")
        return None
    if not isinstance(text, str) or not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MAX_LIMIT:
        raise BadRequest(f"limit must be a whole number from 1 to {MAX_LIMIT}")
    marker = req.params.get("marker", "")
    if not isinstance(marker, str):
        raise BadRequest("marker may be given once only")
    return Page(int(text), marker)


def next_link(req: falcon.Request, page: Page | None, uuids: Sequence[str]) -> list[dict[str, str]] | None:
    """The link to the page behind a full one; None without pagination, and an empty list behind the last page."""
    if page is None:
        return None
    if len(uuids) < page.limit:
        return []
    query = {key: value for key, value in req.params.items() if key != "marker"} | {"marker": uuids[-1]}
    return [{"rel": "next", "href": f"{req.path}?{urlencode(query, doseq=True)}"}]


def answer_json(resp: falcon.Response, document: object, status: int = 200) -> None:
    """Makes the response a JSON document with a trailing newline, as the original does."""
    resp.status = falcon.code_to_http_status(status)
    resp.content_type = falcon.MEDIA_JSON
    resp.data = dump(document)
