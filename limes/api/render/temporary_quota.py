"""Quota for a time."""

from limes.api.render.common import unix
from limes.api.shapes.common import TemporaryQuota
from limes.core.temporary_quota import TemporaryQuota as Temporary
from limes.core.temporary_quota import TemporaryState


def render_temporary(temporary: Temporary, present: int) -> TemporaryQuota:
    """Returns the document, given the present quota."""
    document: TemporaryQuota = {
        "state": temporary.state.value,
        "quota": temporary.quota,
        "from": unix(temporary.starts_at),
        "until": unix(temporary.until),
    }
    if temporary.before is not None:
        document["quota_before"] = temporary.before
        if temporary.state is TemporaryState.OVER:
            document["over_by"] = max(0, present - temporary.before)
    if temporary.problem:
        document["problem"] = temporary.problem
    return document
