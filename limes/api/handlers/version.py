"""Version documents, without a token; and whose token it is."""

from limes.api.call import Call
from limes.api.shapes.version import Version
from limes.auth.context import scope_of, user_of
from limes.web.call import Answer


def list_versions(call: Call) -> Answer:
    """Shows all versions."""
    return Answer(300, {"versions": [_version(call)]})  # 300, as OpenStack services answer


def show(call: Call) -> Answer:
    """Shows this version."""
    return Answer(document={"version": _version(call)})


def show_identity(call: Call) -> Answer:
    """Shows user, scope and roles of the request's own token: for clients that have no Keystone to ask."""
    identity = call.identity
    document = {"user": user_of(identity), "scope": scope_of(identity), "roles": list(identity.roles)}
    return Answer(document={"identity": document})


def _version(call: Call) -> Version:
    base = (call.limes.settings.catalog_url or call.req.prefix).rstrip("/")
    return {
        "status": "CURRENT",
        "id": "v1",
        "links": [
            {"rel": "self", "href": f"{base}/v1"},
            {"rel": "describedby", "href": f"{base}/v1/", "type": "application/json"},
        ],
    }
