"""Writes quota into backends as soon as it differs from what they enforce.

Invariants:

- No process starts to write the quota of a project's service while another writer's lease on it holds. A quota that
changes meanwhile is written afterwards.
- A writer clears the desync mark only if no other can have written meanwhile: it still holds its lease, and neither
  the mark nor the quota has changed since its claim.
- A writer that has lost its lease may have overwritten something newer. It leaves a new mark, so that the quota is
  written once more.

So a crash, a slow backend or two writers at once cost a repetition, but no quota is forgotten.

Backends that were changed outside Limes are found here, too. Without `collector.authoritative`, setting a quota to what
it is already, and a sync, are the only ways to correct them.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from limes.app.context import Limes
from limes.backends import BackendError, ResourceDef, calls
from limes.catalog import queries as catalog_queries
from limes.catalog.catalog import Catalog, Ref
from limes.db.transactions import atomic
from limes.kernel.errors import BackendPaused
from limes.projects import claims, pushes, scrapes, tasks
from limes.projects.queries import ProjectRow
from limes.projects.tasks import ProjectTask
from limes.quota import change_log, queries, rules
from limes.quota.change_log import scope_of
from limes.quota.queries import HasQuota, az_quotas, project_quotas_by_resource

log = logging.getLogger(__name__)


def wanted_quotas(
    catalog: Catalog, task: tasks.ProjectTask, ids: Mapping[str, int], stored: Mapping[int, HasQuota]
) -> dict[str, int]:
    """Returns the quota that the backend should enforce for each resource of the service that tracks quota, by name.
    That is what the project may use, with bursting, or what it uses already if the backend would refuse less. Resources
    without a quota yet get 0. `ids` are the resources' ids by name."""
    wanted = {}
    for name, resource in catalog.services[task.service_type].resources.items():
        if not resource.tracks_quota or name not in ids:
            continue
        ref = (task.service_type, name)
        wanted[name] = wanted_quota(catalog, ref, task.scope, stored.get(ids[name]), has_bursting=task.has_bursting)
    return wanted


def wanted_quota(catalog: Catalog, ref: Ref, scope: str, row: HasQuota | None, *, has_bursting: bool) -> int:
    """Returns the same for one resource that tracks quota; `scope` is the project's (`ProjectTask.scope`)."""
    resource = catalog.find(ref)
    quota = row.quota or 0 if row else 0
    usable = rules.usable_quota(quota, catalog.behavior(ref, scope).burst_multiplier if has_bursting else 0)
    return max(usable, row.usage) if row and resource and resource.quota_at_least_usage else usable


def push_quota(limes: Limes, project_id: int, service_types: Sequence[str]) -> list[str]:
    """Writes the quota of these services of a project if it has to be written. Returns a line for each failure. Skips
    what another process is writing, and leaves to the push job what has not started after `api.backend_timeout`: a user
    waits for the answer."""
    if not service_types:
        return []
    deadline = limes.clock.monotonic() + limes.settings.api.backend_timeout
    errors: list[str | None] = []
    for task, quotas in _claim_of_project(limes, project_id, service_types):
        if limes.clock.monotonic() > deadline:
            _give_back(limes, task)
            errors.append(f"service {task.service_type}: not written yet, as other backends took too long")
            continue
        try:
            errors.append(_push(limes, task, quotas))
        except BackendPaused as pause:
            errors.append(str(pause))
    return [error for error in errors if error]


@atomic
def _claim_of_project(
    limes: Limes, project_id: int, service_types: Sequence[str]
) -> list[tuple[ProjectTask, dict[str, int]]]:
    claimed = tasks.claim_push_of(limes.engine, project_id, service_types, *_times_of_claim(limes))
    return [(task, quotas) for task in claimed if (quotas := _wanted(limes, task)) is not None]


def _times_of_claim(limes: Limes) -> tuple[float, float, float]:
    """Returns the present, the end of a claim, and a time later than any that is written now."""
    now = limes.now()
    return now, now + limes.lease, claims.never(now, limes.settings.collector.push_retry_max, limes.lease)


@atomic
def _give_back(limes: Limes, task: ProjectTask) -> None:
    tasks.release_push(limes.engine, task.id, task.lease, limes.now())


def push_next(limes: Limes, service_type: str) -> bool | None:
    """Writes the quota of the project that has waited longest. Returns whether that succeeded; None if there was
    nothing to do, or the backend is paused."""
    claimed = _claim_next(limes, service_type)
    if claimed is None:
        return None
    task, quotas = claimed
    if task.taken_over:
        limes.telemetry.lease_taken_over("push-quota")
    try:
        return quotas is None or not _push(limes, task, quotas)
    except BackendPaused:
        return None


@atomic
def _claim_next(limes: Limes, service_type: str) -> tuple[ProjectTask, dict[str, int] | None] | None:
    task = tasks.claim_push(limes.engine, service_type, *_times_of_claim(limes))
    return None if task is None else (task, _wanted(limes, task))


def _wanted(limes: Limes, task: ProjectTask) -> dict[str, int] | None:
    """Returns what to write. None if a resource was never scraped: its backend quota may be wanted as it is. Then
    this requests a scrape, and the write follows it."""
    ids, stored = _read_quotas(limes, task)
    wanted = wanted_quotas(limes.catalog, task, ids, stored)
    if all(ids[name] in stored for name in wanted):
        return wanted
    pushes.request_scrape(limes.engine, task.id)
    state = pushes.lock_push_state(limes.engine, task.id)
    _retry_later(limes, task, state.push_failures if state else 0, "waits for a scrape")
    return None


def _read_quotas(
    limes: Limes, task: ProjectTask, *, lock: bool = False
) -> tuple[dict[str, int], dict[int, queries.ProjectResourceRow]]:
    """Returns the ids of the service's resources by name, and what is stored of those that were scraped."""
    rows = queries.quotas_of_service(limes.engine, task.project_id, task.service_id, lock=lock)
    return dict(rows.keys()), {id_: row for (_, id_), row in rows.items() if row is not None}


def _push(limes: Limes, task: ProjectTask, quotas: dict[str, int]) -> str | None:
    """Pushes the quota and records the outcome. Returns the error, if any. Gives the claim back and raises
    `BackendPaused` if the backend is paused."""
    service, backend = limes.catalog.services[task.service_type], limes.backends.quota[task.service_type]
    error: str | None = None
    try:
        calls.set_quota(backend, service, scrapes.project_info(task), quotas, _azs(limes, task))
    except BackendPaused:
        _give_back(limes, task)
        raise
    except BackendError as caught:
        error = str(caught)
        log.error("quota of project %s was not written: %s", task.project_uuid, error)
    _record(limes, task, quotas, error)
    return error


def _azs(limes: Limes, task: ProjectTask) -> dict[str, dict[str, int]]:
    """Returns quota that follows usage, by resource and AZ, where the backend enforces it in each AZ. If it changes
    meanwhile, the backend is marked again."""
    separated = [resource.name for resource in _resources(limes, task) if resource.az_separated]
    if not separated:
        return {}
    ids = catalog_queries.service_resource_ids(limes.engine, task.service_id)
    names = {ids[name]: name for name in separated if name in ids}
    azs: dict[str, dict[str, int]] = {}
    for (_, resource, az), quota in az_quotas(limes.engine, [task.project_id], list(names)).items():
        azs.setdefault(names[resource], {})[az] = quota
    return azs


@atomic
def _record(limes: Limes, task: ProjectTask, written: dict[str, int], error: str | None) -> None:
    ids, stored = _read_quotas(limes, task, lock=True)
    state = pushes.lock_push_state(limes.engine, task.id)
    if state is None:  # the project has vanished
        return
    if state.push_claimed_until != task.lease:
        text = "quota of project %s, service %s: written after its lease was over, so it will be written once more"
        log.warning(text, task.project_uuid, task.service_type)
        # later than the old mark, whatever the clock says, so that another writer sees that it has changed
        mark = max(limes.now(), (state.quota_desynced_at or 0) + 1e-3)
        pushes.mark_desynced_again(limes.engine, task.id, mark, limes.now())
    elif error is not None:
        _retry_later(limes, task, state.push_failures + 1, error)
        if any(resource.quota_at_least_usage for resource in _resources(limes, task)):
            pushes.request_scrape(limes.engine, task.id)  # usage may have grown since the last one
    else:
        told = {ids[name]: quota for name, quota in written.items() if name in ids}
        other = {id_: quota for id_, quota in told.items() if stored[id_].backend_quota != quota}
        unchanged = wanted_quotas(limes.catalog, task, ids, stored) == written
        is_done = unchanged and state.quota_desynced_at in (task.desynced_at, None)
        with limes.engine.batch.collect():
            queries.write_backend_quotas(limes.engine, task.project_id, other)
            if is_done:
                pushes.record_push(limes.engine, task.id, limes.now())
            else:
                now = limes.now()
                pushes.record_outdated_push(limes.engine, task.id, state.quota_desynced_at or now, now)
        if is_done and state.drifted_at is not None:
            limes.engine.after_commit(partial(limes.telemetry.drift_repaired, task.service_type))


def _resources(limes: Limes, task: ProjectTask) -> Iterable[ResourceDef]:
    return limes.catalog.services[task.service_type].resources.values()


def _retry_later(limes: Limes, task: ProjectTask, failures: int, error: str) -> None:
    rules = limes.settings.collector
    pause = claims.next_pause(failures, rules.push_retry, rules.push_retry_max)
    pushes.record_failed_push(limes.engine, task.id, limes.now() + limes.jitter.spread(pause), failures, error)


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
    types. The quota is written to them after the commit. Inside the transaction of the request. It is no change of a
    quota, so it is recorded only where the backend was changed outside Limes, and no other process corrects that
    already."""
    diverging = _find_diverging(limes, project, ids)
    services = sorted({ref[0] for ref in diverging})
    if services:
        drifted = set(pushes.drifted_services(limes.engine, project.id, services))
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
