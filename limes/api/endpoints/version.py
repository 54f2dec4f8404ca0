"""Version documents, without a token."""

import falcon

from limes.api.collaborators import ApiCollaborators
from limes.api.query import answer_json
from limes.api.shapes.others import Version, VersionAnswer, VersionsAnswer


def _version(deps: ApiCollaborators, req: falcon.Request) -> Version:
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
        document: VersionsAnswer = {"versions": [_version(self._deps, req)]}
        answer_json(resp, document, status=300)


class VersionEndpoint:
    """`/v1/`: this version."""

    def __init__(self, deps: ApiCollaborators) -> None:
        self._deps = deps

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Shows this version."""
        document: VersionAnswer = {"version": _version(self._deps, req)}
        answer_json(resp, document)
