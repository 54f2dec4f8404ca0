"""The services and resources that there are, without figures."""

from limes.api.call import Call
from limes.api.render.common import render_resources
from limes.web.call import Answer


def list_resources(call: Call) -> Answer:
    """Lists services and resources: names, units, and what commitments to them can be. Nothing is read for it."""
    selection = call.selection()
    return Answer(document=render_resources(call.render_context(), selection))
