"""Query arguments and headers that the reports share."""

import falcon

from limes.api.collaborators import ApiCollaborators
from limes.api.render.common import RenderContext
from limes.core.selection import Selection, select
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


def render_context_of(deps: ApiCollaborators, req: falcon.Request) -> RenderContext:
    """How the answer is to be rendered. `detail` counts by its presence."""
    return RenderContext(deps.catalog, deps.clock, detail="detail" in req.params)


def answer_json(resp: falcon.Response, document: object, status: int = 200) -> None:
    """Makes the response a JSON document with a trailing newline, as the original does."""
    resp.status = falcon.code_to_http_status(status)
    resp.content_type = falcon.MEDIA_JSON
    resp.data = dump(document)
