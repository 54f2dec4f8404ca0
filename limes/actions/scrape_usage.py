"""Asks a service for the usage and quota of a project, and stores what it says.

The project is claimed in one transaction, the backend is asked with none open, and the report is written in another
one, if the claim still holds. Commitments that wait for capacity get what is not used any more right after that, in
transactions of their own: the scrape holds no lock that others wait for. The backend is the truth about usage; about
quota Limes is: a backend quota that differs from the wanted one is marked, and written by `limes.actions.push_quota`.

Where the first scrape fails nothing is stored but the error: no usage of 0 and no unlimited quota is made up (the
original did, and they showed up as inconsistencies). Quota can be set as soon as a scrape has succeeded.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import orjson

from limes.actions.commitments.settle import SettleCommitments
from limes.actions.project_tasks import project_info, scope, wanted_quotas
from limes.actions.telemetry import SILENT, Telemetry
from limes.backends import BackendError, QuotaBackend, ResourceDef, ResourceUsage, UsageReport, ask
from limes.core.catalog import Catalog
from limes.core.constraint_set import ConstraintSet
from limes.core.quota import to_stored
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import tasks
from limes.db.queries import usage as queries
from limes.db.queries.tasks import ProjectTask
from limes.db.queries.usage import AZUsageRow, QuotaRow
from limes.seams import Clock, Jitter

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ScrapeUsage:
    """The use case with what it works with. Durations are in seconds."""

    engine: Engine
    catalog: Catalog
    constraints: ConstraintSet
    backends: Mapping[str, QuotaBackend]
    clock: Clock
    jitter: Jitter
    commitments: SettleCommitments
    authoritative: bool = True
    """Whether a backend quota that differs is put right."""
    interval: float = 1800.0
    retry: float = 300.0
    lease: float = 300.0
    telemetry: Telemetry = SILENT

    def run_next(self, service_type: str) -> bool | None:
        """Scrapes the project whose turn it is. Answers whether that succeeded; None if there was nothing to do."""
        now = self._now()
        task = self.engine.atomic(lambda: tasks.claim_scrape(self.engine, service_type, now, now + self.lease))
        if task is None:
            return None
        begun, started = self._now(), self.clock.monotonic()
        service = self.catalog.services[service_type]
        try:
            report = ask.report_usage(self.backends[service_type], service, project_info(task), self.catalog)
        except BackendError as error:
            message = str(error)
            log.error("scrape of project %s failed: %s", task.project_uuid, message)
            self.engine.atomic(lambda: self._record_failure(task, message))
            return False
        duration = self.clock.monotonic() - started
        self.engine.atomic(lambda: self._record(task, report, duration, begun))
        return True

    def _record_failure(self, task: ProjectTask, message: str) -> None:
        if self._still_ours(task, queries.lock_state(self.engine, task.id)):
            now = self._now()
            queries.record_failed_scrape(self.engine, task.id, now, now + self.jitter.spread(self.retry), message)

    def _record(self, task: ProjectTask, report: UsageReport, duration: float, begun: float) -> None:
        ids = catalog_queries.service_resource_ids(self.engine, task.service_id)
        stored = queries.lock_quotas(self.engine, task.project_id, ids.values())
        state = queries.lock_state(self.engine, task.id)
        if state is None or not self._still_ours(task, state):
            return
        resources = {name: usage for name, usage in report.resources.items() if name in ids}
        quotas = {ids[name]: self._quota(task, name, usage, stored.get(ids[name])) for name, usage in resources.items()}
        queries.write_quotas(self.engine, task.project_id, quotas)
        rows = [row for name, usage in resources.items() for row in _az_rows(ids[name], usage)]
        if freed := queries.write_usage(self.engine, task.project_id, quotas, rows):
            self.engine.after_commit(partial(self.commitments.freed, freed))
        now = self._now()
        queries.record_scrape(self.engine, task.id, now, now + self.jitter.spread(self.interval), duration)
        wanted = wanted_quotas(self.catalog, task, ids, quotas)
        after = {name: quotas[ids[name]] for name in resources}
        self._compare(task, wanted, after, state)
        told_meanwhile = state.pushed_at is not None and state.pushed_at >= begun
        if state.quota_desynced_at is None and task.desynced_at is None and not told_meanwhile:
            before = {name: stored[id_] for name, id_ in ids.items() if id_ in stored}
            self._look_for_drift(task, wanted, before, after, state.drifted_at)

    def _still_ours(self, task: ProjectTask, state: queries.ServiceState | None) -> bool:
        if state is not None and state.next_scrape_at == task.lease:
            return True
        log.warning("scrape of project %s, service %s: lease lost", task.project_uuid, task.service_type)
        return False

    def _quota(self, task: ProjectTask, name: str, usage: ResourceUsage, stored: QuotaRow | None) -> QuotaRow:
        """The project's quota, after this report, and the backend's."""
        resource = self.catalog.services[task.service_type].resources[name]
        used = sum(item.usage for item in usage.per_az.values())
        if usage.quota is None:
            return QuotaRow(None, None, used)
        backend_quota = to_stored(usage.quota)
        quota = stored.quota if stored and stored.quota is not None else _initial_quota(resource, backend_quota)
        constraint = self.constraints.for_project((task.service_type, name), task.domain_name, task.project_name)
        if constraint is not None and not constraint.allows(quota):
            old, quota = quota, constraint.apply_to(quota)
            where = f"{scope(task)}, {task.service_type}/{name}"
            demanded = constraint.render(resource.unit)
            text = f"AUDIT: quota of {where}: {old} -> {quota}, as its constraint demands ({demanded})"
            self.engine.after_commit(partial(log.warning, "%s", text))
        return QuotaRow(quota, backend_quota, used)

    def _compare(
        self, task: ProjectTask, wanted: Mapping[str, int], quotas: Mapping[str, QuotaRow], state: queries.ServiceState
    ) -> None:
        """Marks the service if its backend quota is not the wanted one, and takes the mark away if it is.

        A mark that was made after the claim stays: the report may be older than the change that it stands for.
        """
        in_sync = all(quotas[name].backend_quota == quota for name, quota in wanted.items())
        if in_sync:
            if state.quota_desynced_at is None:
                if state.drifted_at is not None:
                    queries.set_drift(self.engine, task.id, None)
            elif state.quota_desynced_at == task.desynced_at:
                queries.mark_synced(self.engine, task.id)
        elif state.quota_desynced_at is None and self.authoritative:
            now = self._now()
            queries.mark_desynced(self.engine, task.id, now, now)

    def _look_for_drift(
        self,
        task: ProjectTask,
        wanted: Mapping[str, int],
        before: Mapping[str, QuotaRow],
        after: Mapping[str, QuotaRow],
        since: float | None,
    ) -> None:
        """Notes where the backend enforces something else than at the last look, and not what is wanted either.

        `since` is when that was noted already. Not to be asked while a quota waits to be written, or when one was
        written since the backend was asked: then a difference proves nothing.
        """
        moved = [name for name in sorted(after) if _has_moved(before.get(name), after[name], wanted.get(name))]
        if not moved:
            return
        if since is None:
            queries.set_drift(self.engine, task.id, self._now())
        texts = [f"{name} {before[name].backend_quota} -> {after[name].backend_quota}" for name in moved]
        what = f"the backend quota of {scope(task)}, service {task.service_type}, was changed by somebody else"
        then = "it is put right" if self.authoritative else "it is left alone"
        self.engine.after_commit(partial(log.warning, "%s: %s; %s", what, ", ".join(texts), then))
        self.engine.after_commit(partial(self.telemetry.drift_found, task.service_type))

    def _now(self) -> float:
        return self.clock.now().timestamp()


def _has_moved(before: QuotaRow | None, after: QuotaRow, wanted: int | None) -> bool:
    if before is None or before.backend_quota is None:  # the first look at it
        return False
    return after.backend_quota not in (before.backend_quota, wanted)


def _initial_quota(resource: ResourceDef, backend_quota: int) -> int:
    """0, or what the backend has if that is what it gives to every new project."""
    approved = resource.auto_approve_initial_quota
    return approved if approved and backend_quota == approved else 0


def _az_rows(resource_id: int, usage: ResourceUsage) -> list[AZUsageRow]:
    return [
        AZUsageRow(
            resource_id,
            az,
            item.usage,
            item.physical_usage,
            orjson.dumps(item.subresources).decode() if item.subresources else "",
        )
        for az, item in usage.per_az.items()
    ]
