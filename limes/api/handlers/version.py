"""Version documents, without a token; and whose token it is."""

from limes.api.answers.caller import Version, VersionAnswer, VersionsAnswer, render_identity
from limes.api.answers.common import Link
from limes.api.call import Call
from limes.web.call import Answer


def list_versions(call: Call) -> Answer:
    """Shows all versions."""
    return Answer(300, VersionsAnswer(versions=[_version(call)]))  # 300, as OpenStack services answer


def show(call: Call) -> Answer:
    """Shows this version."""
    return Answer(document=VersionAnswer(version=_version(call)))


def show_identity(call: Call) -> Answer:
    """Shows user, scope and roles of the request's own token: for clients that have no Keystone to ask."""
    return Answer(document=render_identity(call.identity))


def _version(call: Call) -> Version:
    base = (call.limes.settings.catalog_url or call.req.prefix).rstrip("/")
    links = [Link(rel="self", href=f"{base}/v1"), Link(rel="describedby", href=f"{base}/v1/", type="application/json")]
    return Version(status="CURRENT", id="v1", links=links)
