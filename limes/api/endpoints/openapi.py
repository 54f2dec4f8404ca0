"""The description of this API for machines."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import falcon

from limes.api.openapi.document import build
from limes.web.json import dump


class OpenApiEndpoint:
    """`/v1/openapi.json`."""

    def __init__(self, routes: Sequence[tuple[str, Any, str | None]], public_paths: frozenset[str]) -> None:
        self._routes = routes
        self._public_paths = public_paths

    @cached_property
    def _document(self) -> bytes:
        return dump(build(self._routes, self._public_paths))

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Shows this document."""
        resp.content_type = falcon.MEDIA_JSON
        resp.data = self._document
