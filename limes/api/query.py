"""Query arguments and headers that the reports share."""

from collections.abc import Sequence
from urllib.parse import urlencode

import falcon

from limes.api import parameters
from limes.api.collaborators import ApiCollaborators
from limes.api.render.common import RenderContext
from limes.api.shapes.common import Link
from limes.core.selection import Page, Selection, select
from limes.errors import BadRequest
from limes.web.json import dump


def selection_of(deps: ApiCollaborators, req: falcon.Request) -> Selection:
    """What `service`, `area` and `resource` ask for. Each may repeat; an empty value selects nothing."""
    return select(
        deps.catalog,
        services=parameters.SERVICE.of(req),
        areas=parameters.AREA.of(req),
        resources=parameters.RESOURCE.of(req),
    )


def transfer_token_of(req: falcon.Request) -> str:
    """The token of a commitment's transfer: in the header `Transfer-Token`, or in the query. Raises `BadRequest`."""
    token = parameters.TRANSFER_TOKEN.of(req) or parameters.TOKEN.of(req)
    if not token:
        raise BadRequest("no transfer token provided")
    return token


def render_context_of(deps: ApiCollaborators, req: falcon.Request) -> RenderContext:
    """How the answer is to be rendered. `detail` counts by its presence."""
    per_az = "per-az" in (parameters.PREVIEW.of(req) or "")
    return RenderContext(
        deps.catalog, deps.clock, detail=parameters.DETAIL.of(req), per_az=per_az, stale_after=deps.stale_after
    )


def page_of(req: falcon.Request) -> Page | None:
    """What `limit` and `marker` ask for; None without `limit`. Raises `BadRequest` for what is no such number."""
    limits, markers = (parameters.values_of(req, one.name) or [] for one in (parameters.LIMIT, parameters.MARKER))
    if not limits:
        if markers:
            raise BadRequest("marker goes with limit only")
        return None
    if len(limits) > 1 or len(markers) > 1:
        raise BadRequest("limit and marker may be given once only")
    if "\0" in "".join(markers):  # PostgreSQL could not even be asked
        raise BadRequest("query parameter marker: expected an id, which has no NUL")
    return Page(parameters.LIMIT.read(limits[0]), markers[0] if markers else "")


def next_link(req: falcon.Request, page: Page | None, uuids: Sequence[str]) -> list[Link] | None:
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
