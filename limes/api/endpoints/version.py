"""Version documents, without a token."""

import falcon

from limes.api.collaborators import ApiCollaborators
from limes.api.query import answer_json
from limes.api.render.common import Json


def _version(deps: ApiCollaborators, req: falcon.Request) -> Json:
    base = (deps.catalog_url or req.prefix).rstrip("/")
    return {
        "status": "CURRENT",
        "id": "v1",
        "links": [
            {"rel": "self", "href": f"{base}/v1"},
            {"rel": "describedby", "href": f"{base}/v1/", "type": "application/json"},
        ],
    }


class VersionListEndpoint:
    """`/`: which versions there are. 300, as OpenStack services answer."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Shows all versions."""
        answer_json(resp, {"versions": [_version(self._deps, req)]}, status=300)


class VersionEndpoint:
    """`/v1/`: this version."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Shows this version."""
        answer_json(resp, {"version": _version(self._deps, req)})
