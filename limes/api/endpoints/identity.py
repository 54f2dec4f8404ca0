"""Whose a token is."""

import falcon

from limes.api.collaborators import ApiCollaborators
from limes.api.query import answer_json
from limes.auth.context import scope_of, user_of


class IdentityEndpoint:
    """`/v1/identity`."""

    def __init__(self, deps: ApiCollaborators) -> None:
        """As all endpoints; it needs nothing but the request."""

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Shows user, scope and roles of the request's own token: for clients that have no Keystone to ask."""
        identity = req.context.identity
        document = {"user": user_of(identity), "scope": scope_of(identity), "roles": list(identity.roles)}
        answer_json(resp, {"identity": document})
