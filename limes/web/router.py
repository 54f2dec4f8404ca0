"""Which endpoint is for a path."""

from typing import Any

import falcon
from falcon.routing import CompiledRouter


class Router(CompiledRouter):
    """Falcon's, but that a method which nobody knows is one that the path does not have: 405 and not 400."""

    def find(self, uri: str, req: falcon.Request | None = None) -> Any:
        """As Falcon's."""
        found = super().find(uri, req)
        if found is None or req is None or req.method in found[1]:
            return found
        endpoint, responders, params, template = found
        # no endpoint answers TRACE, so that this one refuses, and says what is allowed
        return endpoint, {**responders, req.method: responders["TRACE"]}, params, template
