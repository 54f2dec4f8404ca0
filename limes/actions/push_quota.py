"""Writes quota into backends as soon as it differs from what they enforce.

Invariants:

- Nobody begins to write the quota of a project's service while another writer's lease on it holds. A quota that changes
  meanwhile is written afterwards.
- A writer clears the desync mark only if nobody else can have written meanwhile: it still holds its lease, and neither
  the mark nor the quota has changed since its claim.
- A writer that has lost its lease may have overwritten something newer. It leaves a new mark, so that the quota is
  written once more.

So a crash, a slow backend or two writers at once cost a repetition, but no quota is forgotten.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from limes.actions.project_tasks import SILENT, Telemetry, never, next_pause, project_info, wanted_quotas
from limes.backends import BackendError, QuotaBackend, ResourceDef, calls
from limes.core.catalog import Catalog
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import project_quotas, tasks
from limes.db.queries import quota_pushes as queries
from limes.db.queries.autogrow_quotas import quotas_of_project
from limes.db.queries.tasks import ProjectTask
from limes.errors import BackendPaused
from limes.system import Clock, Jitter

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PushQuota:
    """The use case with what it works with. Durations are in seconds."""

    engine: Engine
    catalog: Catalog
    backends: Mapping[str, QuotaBackend]
    clock: Clock
    jitter: Jitter
    lease: float = 300.0
    retry: float = 30.0
    retry_max: float = 900.0
    patience: float = 15.0
    """`push_project()` begins nothing after this many seconds."""
    telemetry: Telemetry = SILENT

    def push_project(self, project_id: int, service_types: Sequence[str]) -> list[str]:
        """Writes the quota of these services of a project if it has to be written. Returns a line for each failure.

        Skips what another process is writing, and leaves to the push job what has not begun after `patience` seconds:
        a user waits for the answer.
        """

        def claim() -> list[tuple[ProjectTask, dict[str, int]]]:
            now = self._now()
            horizon = never(now, self.retry_max, self.lease)
            claimed = tasks.claim_push_of(self.engine, project_id, service_types, now, now + self.lease, horizon)
            return [(task, quotas) for task in claimed if (quotas := self._wanted(task)) is not None]

        if not service_types:
            return []
        deadline = self.clock.monotonic() + self.patience
        errors: list[str | None] = []
        for task, quotas in self.engine.atomic(claim):
            if self.clock.monotonic() > deadline:
                self._give_back(task)
                errors.append(f"service {task.service_type}: not written yet, as other backends took too long")
                continue
            try:
                errors.append(self._push(task, quotas))
            except BackendPaused as pause:
                errors.append(str(pause))
        return [error for error in errors if error]

    def _give_back(self, task: ProjectTask) -> None:
        self.engine.atomic(lambda: tasks.release_push(self.engine, task.id, task.lease, self._now()))

    def run_next(self, service_type: str) -> bool | None:
        """Writes the quota of the project that has waited longest.

        Returns whether that succeeded; None if there was nothing to do, or the backend is paused.
        """

        def claim() -> tuple[ProjectTask, dict[str, int] | None] | None:
            now = self._now()
            horizon = never(now, self.retry_max, self.lease)
            task = tasks.claim_push(self.engine, service_type, now, now + self.lease, horizon)
            return None if task is None else (task, self._wanted(task))

        claimed = self.engine.atomic(claim)
        if claimed is None:
            return None
        task, quotas = claimed
        if task.taken_over:
            self.telemetry.lease_taken_over("push-quota")
        try:
            return quotas is None or not self._push(task, quotas)
        except BackendPaused:
            return None

    def _wanted(self, task: ProjectTask) -> dict[str, int] | None:
        """Returns what to write. None if a resource was never scraped: its backend quota may be wanted as it is. Then
        this requests a scrape, and the write follows it."""
        ids = catalog_queries.service_resource_ids(self.engine, task.service_id)
        stored = project_quotas.project_quotas_by_resource(self.engine, task.project_id, ids.values())
        wanted = wanted_quotas(self.catalog, task, ids, stored)
        if all(ids[name] in stored for name in wanted):
            return wanted
        queries.request_scrape(self.engine, task.id)
        state = queries.lock_push_state(self.engine, task.id)
        self._retry_later(task, state.push_failures if state else 0, "waits for a scrape")
        return None

    def _push(self, task: ProjectTask, quotas: dict[str, int]) -> str | None:
        """Tells the backend and records the outcome. Returns the error, if any.

        Gives the claim back and raises `BackendPaused` if the backend is paused.
        """
        service = self.catalog.services[task.service_type]
        error: str | None = None
        try:
            azs = self._azs(task)
            calls.set_quota(self.backends[task.service_type], service, project_info(task), quotas, azs)
        except BackendPaused:
            self._give_back(task)
            raise
        except BackendError as caught:
            error = str(caught)
            log.error("quota of project %s was not written: %s", task.project_uuid, error)
        self.engine.atomic(lambda: self._record(task, quotas, error))
        return error

    def _azs(self, task: ProjectTask) -> dict[str, dict[str, int]]:
        """Returns quota that follows usage, by resource and AZ, where the backend enforces it in each AZ. If it changes
        meanwhile, the backend is marked again."""
        separated = [resource.name for resource in self._resources(task) if resource.az_separated]
        if not separated:
            return {}
        ids = catalog_queries.service_resource_ids(self.engine, task.service_id)
        names = {ids[name]: name for name in separated if name in ids}
        azs: dict[str, dict[str, int]] = {}
        for (resource, az), quota in quotas_of_project(self.engine, task.project_id, list(names)).items():
            azs.setdefault(names[resource], {})[az] = quota
        return azs

    def _record(self, task: ProjectTask, written: dict[str, int], error: str | None) -> None:
        ids = catalog_queries.service_resource_ids(self.engine, task.service_id)
        stored = project_quotas.project_quotas_by_resource(self.engine, task.project_id, ids.values(), lock=True)
        state = queries.lock_push_state(self.engine, task.id)
        if state is None:  # the project has vanished
            return
        if state.push_claimed_until != task.lease:
            self._leave_new_mark(task, state)
        elif error is not None:
            self._retry_later(task, state.push_failures + 1, error)
            if any(resource.quota_at_least_usage for resource in self._resources(task)):
                queries.request_scrape(self.engine, task.id)  # usage may have grown since the last one
        else:
            project_quotas.write_backend_quotas(
                self.engine, task.project_id, {ids[name]: quota for name, quota in written.items() if name in ids}
            )
            unchanged = wanted_quotas(self.catalog, task, ids, stored) == written
            if unchanged and state.quota_desynced_at in (task.desynced_at, None):
                queries.record_push(self.engine, task.id, self._now())
                if state.drifted_at is not None:
                    self.engine.after_commit(partial(self.telemetry.drift_repaired, task.service_type))
            else:
                now = self._now()
                queries.record_outdated_push(self.engine, task.id, state.quota_desynced_at or now, now)

    def _resources(self, task: ProjectTask) -> Iterable[ResourceDef]:
        return self.catalog.services[task.service_type].resources.values()

    def _leave_new_mark(self, task: ProjectTask, state: queries.PushState) -> None:
        log.warning(
            "quota of project %s, service %s: written after its lease was over, so it will be written once more",
            task.project_uuid,
            task.service_type,
        )
        # later than the old mark, whatever the clock says, so that another writer sees that it has changed
        mark = max(self._now(), (state.quota_desynced_at or 0) + 1e-3)
        queries.mark_desynced_again(self.engine, task.id, mark, self._now())

    def _retry_later(self, task: ProjectTask, failures: int, error: str) -> None:
        pause = next_pause(failures, self.retry, self.retry_max)
        queries.record_failed_push(self.engine, task.id, self._now() + self.jitter.spread(pause), failures, error)

    def _now(self) -> float:
        return self.clock.now().timestamp()
