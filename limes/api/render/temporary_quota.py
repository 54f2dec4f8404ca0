"""Quota for a time."""

from typing import Protocol

from limes.api.render.common import unix
from limes.api.shapes.common import TemporaryQuota
from limes.core.temporary_quota import TemporaryState


class Temporary(Protocol):
    """What is to be shown, as it is stored or as it is planned."""

    @property
    def state(self) -> str:
        """As `limes.core.temporary_quota.TemporaryState`."""
        ...

    @property
    def quota(self) -> int: ...

    @property
    def before(self) -> int | None: ...

    @property
    def starts_at(self) -> float: ...

    @property
    def until(self) -> float: ...

    @property
    def problem(self) -> str: ...


def render_temporary(temporary: Temporary, present: int) -> TemporaryQuota:
    """Returns the document, given the present quota."""
    document: TemporaryQuota = {
        "state": TemporaryState(temporary.state).value,
        "quota": temporary.quota,
        "from": unix(temporary.starts_at),
        "until": unix(temporary.until),
    }
    if temporary.before is not None:
        document["quota_before"] = temporary.before
        if temporary.state == TemporaryState.OVER.value:
            document["over_by"] = max(0, present - temporary.before)
    if temporary.problem:
        document["problem"] = temporary.problem
    return document
