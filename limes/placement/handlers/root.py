"""The version document."""

from limes.placement import microversion
from limes.placement.call import Answer, Call


def show(call: Call) -> Answer:
    """GET /: what clients negotiate microversions with. `extensions` names what we have beyond OpenStack Placement."""
    document = {
        "versions": [
            {
                "id": "v1.0",
                "max_version": microversion.text(microversion.MAX),
                "min_version": microversion.text(microversion.MIN),
                "status": "CURRENT",
                "links": [{"rel": "self", "href": ""}],
                "extensions": ["quotas", "usage_groups"],
            }
        ]
    }
    return Answer(document=document, last_modified=call.now)
