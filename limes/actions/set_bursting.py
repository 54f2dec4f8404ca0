"""Switches quota bursting of a project on and off.

Source: the original. Bursting can only be switched off while the usage of every resource is within its quota: the
backend is told the plain quota from then on.
"""

from collections.abc import Sequence

from limes.actions import change_log
from limes.actions.change_log import scope_of
from limes.actions.context import Limes
from limes.actions.lookup import Place, find_project
from limes.actions.quota_changes import IfMatch, project_tag
from limes.db.queries import quotas as queries
from limes.db.transactions import atomic
from limes.errors import BadRequest, Conflict


def set_bursting(
    limes: Limes, place: Place, *, enabled: bool, dry_run: bool, condition: IfMatch | None = None
) -> Sequence[str]:
    """Switches bursting and tells the backends. Returns one line for each backend that could not be told yet.

    Raises `NotFound`, `BadRequest` where the cluster has no bursting, `Conflict` while something is bursted, and
    `PreconditionFailed`.
    """
    if not limes.catalog.burst_multiplier:
        raise BadRequest("bursting is not available for this cluster")

    def work() -> tuple[int, Sequence[str]]:
        project = find_project(limes.engine, place.domain_uuid, place.project_uuid)
        present = queries.lock_project(limes.engine, project.id, lock=not dry_run)
        if condition is not None:
            condition.check(project_tag(limes.engine, limes.catalog, project.id, lock=not dry_run))
        if present == enabled:
            return project.id, ()
        if not enabled:
            _refuse_while_bursted(limes, project.id)
        if dry_run:
            return project.id, ()
        services = list(limes.catalog.services)
        queries.write_bursting(limes.engine, project.id, enabled)
        change_log.record_bursting(limes, scope_of(project), enabled)
        change_log.request_push(limes, project.id, services)
        return project.id, services

    if dry_run:
        limes.engine.snapshot(work)
        return ()
    try:
        project_id, services = limes.engine.atomic(work)
    except Conflict as error:
        if limes.settings.audit.sinks:
            _record_refusal(limes, place, enabled, str(error))
        raise
    return limes.push_quota(limes, project_id, services) if services else ()


@atomic
def _record_refusal(limes: Limes, place: Place, enabled: bool, message: str) -> None:
    """Records a refusal in a transaction of its own, as that of the request is undone."""
    project = find_project(limes.engine, place.domain_uuid, place.project_uuid)
    change_log.record_refused_bursting(limes, scope_of(project), enabled, message)


def _refuse_while_bursted(limes: Limes, project_id: int) -> None:
    bursted = sorted(ref for ref in queries.bursted_resources(limes.engine, project_id) if limes.catalog.find(ref))
    if bursted:
        count = f"{len(bursted)} resource is" if len(bursted) == 1 else f"{len(bursted)} resources are"
        names = ", ".join("/".join(ref) for ref in bursted)
        raise Conflict(f"cannot disable bursting because {count} currently bursted: {names}")
