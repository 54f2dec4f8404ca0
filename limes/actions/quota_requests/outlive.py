"""What was passed on belongs to the domain: it stays when the project is deleted whose request it was made for."""

from collections.abc import Collection

from limes.actions import change_log
from limes.actions.context import Limes
from limes.audit.events import Scope
from limes.core.quota_requests import EventKind, RequestStatus
from limes.db.queries import quota_requests as queries
from limes.db.queries.projects import projects_by_id
from limes.db.queries.quota_requests import EventRow


def outlive_projects(limes: Limes, uuids: Collection[str]) -> None:
    """Lets requests of domains go on without these projects, which are locked and about to be deleted.

    An open one has nothing to wait for. The projects' own are locked first, so that nobody passes them on meanwhile.
    """
    if not uuids:
        return
    engine, now = limes.engine, limes.now()
    below = {row.id: row for row in queries.lock_open_of_projects(engine, uuids)}
    above = queries.lock_passed_on(engine, list(below))
    if above:
        queries.close(engine, [row.id for row in above], RequestStatus.SUPERSEDED, now)
    projects = projects_by_id(engine, {row.project_id for row in below.values() if row.project_id is not None})
    for row in above:
        project = projects[below[row.passed_on_from or 0].project_id or 0]
        text, initiator = f"project {project.name} was deleted", limes.initiator
        event = EventRow(row.id, now, EventKind.SUPERSEDED.value, text, initiator.id, initiator.name)
        queries.add_events(engine, [event])
        domain = Scope(project.domain_uuid, project.domain_name)
        change_log.record_quota_request(limes, domain, row.id, event.kind, {})
    queries.forget_origins(engine, uuids)
