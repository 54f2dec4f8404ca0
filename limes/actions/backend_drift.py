"""Backend quota that somebody else has changed: finding it, and telling backends again what the quota is.

Without `collector.authoritative`, setting a quota to what it is already, and a sync, are the only ways to put a backend
right.
"""

from collections.abc import Mapping

from limes.actions import change_log
from limes.actions.change_log import scope_of
from limes.actions.context import Limes
from limes.actions.project_tasks import HasQuota, wanted_quota
from limes.core.catalog import Ref
from limes.db.queries.projects import ProjectRow
from limes.db.queries.quota_pushes import drifted_services
from limes.db.queries.quotas import project_quotas_by_resource


def find_drift(
    wanted: Mapping[str, int], before: Mapping[str, HasQuota], after: Mapping[str, HasQuota]
) -> dict[str, tuple[int | None, int | None]]:
    """Returns the resources whose backend quota has changed since the last scrape to something other than the
    wanted quota, with the backend quota then and now."""
    return {
        name: (before[name].backend_quota, row.backend_quota)
        for name, row in sorted(after.items())
        if name in before
        and before[name].backend_quota is not None  # else this is the first scrape
        and row.backend_quota not in (before[name].backend_quota, wanted.get(name))
    }


def repair_backends(limes: Limes, project: ProjectRow, ids: Mapping[Ref, int]) -> list[str]:
    """Marks the services of these resources (with their ids) whose backends differed at the last scrape; returns their
    types. They are told the quota after the commit.

    Inside the transaction of the request. It is no change of a quota, so it is recorded only where somebody had changed
    the backend, and nobody is putting that right already.
    """
    diverging = _find_diverging(limes, project, ids)
    services = sorted({ref[0] for ref in diverging})
    if services:
        drifted = set(drifted_services(limes.engine, project.id, services))
        repairs = {ref: quotas for ref, quotas in sorted(diverging.items()) if ref[0] in drifted}
        change_log.record_repairs(limes, scope_of(project), repairs)
        change_log.request_push(limes, project.id, services)
    return services


def _find_diverging(limes: Limes, project: ProjectRow, ids: Mapping[Ref, int]) -> dict[Ref, tuple[int, int]]:
    """Returns enforced and wanted quota (in the stored form) where the last scrape found them different."""
    stored = project_quotas_by_resource(limes.engine, project.id, ids.values())
    diverging: dict[Ref, tuple[int, int]] = {}
    for ref, id_ in ids.items():
        row = stored.get(id_)
        if row is None or row.quota is None or row.backend_quota is None:
            continue
        wanted = wanted_quota(limes.catalog, ref, project.scope, row, has_bursting=bool(project.has_bursting))
        if row.backend_quota != wanted:
            diverging[ref] = (row.backend_quota, wanted)
    return diverging
