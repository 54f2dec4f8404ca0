"""What was recorded of usage that no closed day has counted so far (docs/adr/0032).

Gaps are pending, and steps of a time before: `recorded_at` is `PENDING`. Whoever counts them makes it the same as
`at` or `begins`, in the transaction that counts.

Invariant: what is pending is counted with its day, or compared with what was counted, exactly once; nothing depends on
the order in which transactions commit. What commits after a look is still pending in the next one. Rows are taken
before anything else is read, so all that was taken is seen. Whoever writes such a row again has to wait for us, and
makes it pending again.
"""

from collections.abc import Sequence
from typing import Any

from limes.db.compiled import Compiled, any_of, compiled
from limes.db.engine import Engine
from limes.db.models import UsageGap, UsageStep
from limes.db.queries.metering import PENDING

# equality with a constant: PostgreSQL knows how few rows there are, and looks them up in the index of `recorded_at`
_STEP = (UsageStep, UsageStep.at, UsageStep.recorded_at == PENDING)
_GAP = (UsageGap, UsageGap.begins, UsageGap.recorded_at == PENDING)


def _find(model: Any, since: Any, is_pending: Any) -> Compiled:
    return compiled(lambda p: model.select(model.project_uuid).where(is_pending, since < p.end).limit(p.limit))


def _take(model: Any, since: Any, is_pending: Any) -> Compiled:
    return compiled(
        lambda p: (
            model.update(recorded_at=since)
            .where(is_pending, since >= p.begin, since < p.end, any_of(model.project_uuid, p.projects))
            .returning(model.project_uuid, since)
        )
    )


_FIND = (_find(*_STEP), _find(*_GAP))
_TAKE = (_take(*_STEP), _take(*_GAP))


def late_projects(engine: Engine, end: int, limit: int) -> list[str]:
    """Returns at most `limit` projects (UUIDs) of which something is pending that is about a time before `end`; none
    only if there are none."""
    found = {project for query in _FIND for project in engine.column(query, end=end, limit=limit)}
    return sorted(found)[:limit]


def take_pending(engine: Engine, projects: Sequence[str], begin: int, end: int) -> dict[str, int]:
    """Takes what is pending of these projects in this time: the caller counts it. Returns from when on that is, by
    project."""
    found: dict[str, int] = {}
    for query in _TAKE:
        for project, at in engine.tuples(query, projects=projects, begin=begin, end=end):
            found[project] = min(at, found.get(project, at))
    return found
