"""Which endpoint is for a path."""

from collections.abc import Callable
from typing import Any

import falcon
from falcon.routing import CompiledRouter


class Router(CompiledRouter):
    """Falcon's, but that a method which nobody knows is one that the path does not have: 405 and not 400."""

    def __init__(self, *, head: bool = False) -> None:
        """With `head`, HEAD is answered wherever GET is; Falcon leaves the body out."""
        super().__init__()
        self._head = head

    def map_http_methods(self, resource: object, **kwargs: Any) -> dict[str, Callable[..., Any]]:
        """The responders of an endpoint by method."""
        found: dict[str, Callable[..., Any]] = super().map_http_methods(resource, **kwargs)
        if self._head and "GET" in found:
            found.setdefault("HEAD", found["GET"])
        return found

    def find(self, uri: str, req: falcon.Request | None = None) -> Any:
        """As Falcon's."""
        found = super().find(uri, req)
        if found is None or req is None or req.method in found[1]:
            return found
        endpoint, responders, params, template = found
        # no endpoint answers TRACE, so that this one refuses, and says what is allowed
        return endpoint, {**responders, req.method: responders["TRACE"]}, params, template
