"""What was recorded of usage that no closed day has counted so far (docs/adr/0032).

Gaps are pending, and steps of a time before: `recorded_at` is `PENDING`. Whoever counts them makes it the same as
`at` or `begins`, in the transaction that counts.

Invariant: what is pending is counted with its day, or compared with what was counted, exactly once; nothing depends on
the order in which transactions commit. What commits after a look is still pending in the next one. Rows are taken
before anything else is read, so all that was taken is seen. Whoever writes such a row again has to wait for us, and
makes it pending again.
"""

from collections.abc import Sequence

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.models import UsageGap, UsageStep
from limes.db.queries.metering import PENDING
from limes.db.query import Node, column, tuples


@column(str)
def _find(of_gaps: bool, end: int, limit: int) -> Node:
    row, since = (UsageGap, UsageGap.begins) if of_gaps else (UsageStep, UsageStep.at)
    # equality with a constant: PostgreSQL knows how few there are, and looks them up in the index of `recorded_at`
    return row.select(row.project_uuid).where(row.recorded_at == PENDING, since < end).limit(limit)


@tuples(tuple[str, int])
def _take(of_gaps: bool, projects: Sequence[str], begin: int, end: int) -> Node:
    row, since = (UsageGap, UsageGap.begins) if of_gaps else (UsageStep, UsageStep.at)
    is_wanted = (row.recorded_at == PENDING, since >= begin, since < end, any_of(row.project_uuid, projects))
    return row.update(recorded_at=since).where(*is_wanted).returning(row.project_uuid, since)


def late_projects(engine: Engine, end: int, limit: int) -> list[str]:
    """At most `limit` projects (UUIDs) of which something is pending that is about a time before `end`; none only if
    there are none."""
    found = {project for of_gaps in (False, True) for project in _find(engine, of_gaps, end, limit)}
    return sorted(found)[:limit]


def take_pending(engine: Engine, projects: Sequence[str], begin: int, end: int) -> dict[str, int]:
    """Takes what is pending of these projects in this time: the caller counts it. Returns from when on that is, by
    project."""
    found: dict[str, int] = {}
    for of_gaps in (False, True):
        for project, at in _take(engine, of_gaps, projects, begin, end):
            found[project] = min(at, found.get(project, at))
    return found
