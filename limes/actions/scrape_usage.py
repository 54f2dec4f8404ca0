"""Asks a service for the usage and quota of a project, and stores them.

One transaction claims the project. The backend is asked with none open. Another transaction writes the report if the
claim still holds. What is not used any more then goes to commitments that wait for capacity, in transactions of their
own, so that the scrape holds no lock that others wait for. The backend is the authority on usage, Limes on quota: a
backend quota that differs from the wanted one is marked, and `limes.actions.push_quota` writes it.

If the first scrape fails, only the error is stored: no usage of 0 and no unlimited quota is made up (the original did
that, which led to inconsistencies). Quota can be set as soon as a scrape has succeeded.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import orjson

from limes.actions.backend_drift import find_drift
from limes.actions.change_log import ChangeLog, scope_of
from limes.actions.commitments.settle import settle_waiting
from limes.actions.compute_quota import autogrow_rule
from limes.actions.context import Limes
from limes.actions.project_tasks import SILENT, Telemetry, never, next_pause, project_info, wanted_quotas
from limes.actions.raise_to_demand import on_scrape
from limes.actions.scrape import Listener, Scrape
from limes.audit.initiator import Initiator
from limes.backends import AZUsage, BackendError, QuotaBackend, ResourceDef, ResourceUsage, UsageReport, calls
from limes.core.catalog import Catalog
from limes.core.constraints import ConstraintSet
from limes.core.quota import to_stored
from limes.core.units import MAX_AMOUNT
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import scrapes as queries
from limes.db.queries import tasks
from limes.db.queries.scrapes import AZRow, Figures, Outcome, ResourceRow
from limes.db.queries.tasks import ProjectTask
from limes.errors import BackendPaused
from limes.system import Clock, Jitter

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ScrapeTask:
    """A claimed project, and the ids of the service's resources that its backend still offers, by name."""

    project: ProjectTask
    resource_ids: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ScrapeUsage:
    """The use case with what it works with. Durations are in seconds."""

    engine: Engine
    catalog: Catalog
    constraints: ConstraintSet
    backends: Mapping[str, QuotaBackend]
    clock: Clock
    jitter: Jitter
    limes: Limes
    change_log: ChangeLog
    authoritative: bool = True
    """Whether backend quotas that differ are repaired."""
    interval: float = 1800.0
    retry: float = 300.0
    retry_max: float = 1800.0
    lease: float = 300.0
    telemetry: Telemetry = SILENT
    listeners: Sequence[Listener] = ()
    """Called in this order."""

    def by(self, initiator: Initiator) -> "ScrapeUsage":
        """Returns the same use case for changes that `initiator` makes."""
        return replace(self, change_log=self.change_log.by(initiator), limes=self.limes.as_initiator(initiator))

    def claim(self, service_type: str, limit: int) -> list[ScrapeTask]:
        """Claims up to `limit` projects that are due. Give each of them to `run`, or back."""

        def work() -> list[ScrapeTask]:
            now = self._now()
            horizon = never(now, self.interval, self.retry_max, self.lease)
            claimed = tasks.claim_scrapes(self.engine, service_type, now, now + self.lease, horizon, limit)
            ids = catalog_queries.service_resource_ids(self.engine, claimed[0].service_id) if claimed else {}
            return [ScrapeTask(task, ids) for task in claimed]

        claimed = self.engine.atomic(work)
        for task in claimed:
            if task.project.taken_over:
                log.warning("%s: taken over from a collector that did not finish it", _describe(task.project))
                self.telemetry.lease_taken_over("scrape-usage")
        return claimed

    def give_back(self, claimed: Sequence[ScrapeTask]) -> None:
        """Ends claims that were not begun."""
        self.engine.atomic(lambda: tasks.release_scrapes(self.engine, [task.project for task in claimed]))

    def run_next(self, service_type: str) -> bool | None:
        """Scrapes the project that is due first. Returns what `run` returns; None if none is due."""
        for task in self.claim(service_type, 1):
            return self.run(task)
        return None

    def run(self, claimed: ScrapeTask) -> bool | None:
        """Scrapes a claimed project. Returns whether that succeeded; None, with the claim given back, if the backend
        is paused."""
        task = claimed.project
        begun, started = self._now(), self.clock.monotonic()
        service = self.catalog.services[task.service_type]
        try:
            report = calls.report_usage(self.backends[task.service_type], service, project_info(task), self.catalog)
        except BackendPaused:
            self.give_back([claimed])
            return None
        except BackendError as error:
            message = error.observed or str(error)
            log.error("%s failed: %s", _describe(task), error)
            self.engine.atomic(lambda: self._record_failure(task, message))
            return False
        duration = self.clock.monotonic() - started
        if not self.engine.atomic(lambda: self._record(claimed, report, duration, begun)):
            log.warning("%s: not recorded, as its lease is over or the project is gone", _describe(task))
        return True

    def _record_failure(self, task: ProjectTask, message: str) -> None:
        before = queries.lock_claim(self.engine, task.id, task.lease)
        if before is not None:
            now = self._now()
            pause = self.jitter.spread(next_pause(before + 1, self.retry, self.retry_max))
            queries.record_failure(self.engine, task.id, now, now + pause, before + 1, message)

    def _record(self, claimed: ScrapeTask, report: UsageReport, duration: float, begun: float) -> bool:
        """Writes the outcome. False if the claim is lost: then nothing is written.

        Marks the service if its backend quota is not the wanted one, and takes the mark away if it is.
        """
        task, ids = claimed.project, claimed.resource_ids
        stored = queries.lock_figures(self.engine, task.project_id, ids.values())
        usages = {name: usage for name, usage in report.resources.items() if name in ids}
        after = {name: self._row(task, name, use, stored.resources.get(ids[name])) for name, use in usages.items()}
        present = Figures(
            {ids[name]: row for name, row in after.items()},
            {(ids[name], az): _az_row(item) for name, usage in usages.items() for az, item in usage.per_az.items()},
        )
        wanted = wanted_quotas(self.catalog, task, ids, present.resources)
        # a sync applies the quota as well, but the first scrape shows what is there before anything is overwritten
        is_known = any(row.quota is not None for row in stored.resources.values())
        repairs = self.authoritative or (task.asked_for and is_known)
        in_sync = all(after[name].backend_quota == quota for name, quota in wanted.items())
        outcome = self._outcome(in_sync, duration, repairs=repairs)
        changed = report.state if report.state != task.scrape_state else None
        seen = None if self._keeps_split(task) else task.desynced_at
        state = queries.record_success(self.engine, task.id, task.lease, outcome, seen, changed)
        if state is None:
            return False
        scrape = Scrape(self.engine, task, ids, stored, present, usages, outcome.now)
        with self.engine.batch.collect():
            queries.write_figures(self.engine, task.project_id, stored, present)
            for listen in self.listeners:
                listen(scrape)
        on_scrape(self.limes, scrape)
        before = {name: stored.resources[id_] for name, id_ in ids.items() if id_ in stored.resources}
        self.change_log.record_scrape(task, self.constraints, before, after)
        if freed := queries.less_used(stored, present):
            self.engine.after_commit(partial(settle_waiting, self.limes, freed))
        # while a quota waits to be written, or after one was written since the backend was asked, it proves nothing
        told_meanwhile = state.pushed_at is not None and state.pushed_at >= begun
        if task.desynced_at is None and state.quota_desynced_at in (None, outcome.mark_at) and not told_meanwhile:
            drift = find_drift(wanted, before, after)
            if not drift and repairs and not self.authoritative and state.drifted_at is not None:
                # noted before, and left alone until now
                self._record_repair(task, {name: after[name].backend_quota for name in wanted}, wanted)
            self._note_drift(task, drift, wanted, state.drifted_at, repairs=repairs)
        return True

    def _keeps_split(self, task: ProjectTask) -> bool:
        """Returns whether the backend may have the right quota in the wrong AZs: a report does not show that, so it
        takes away no mark."""
        return any(resource.az_separated for resource in self.catalog.services[task.service_type].resources.values())

    def _outcome(self, in_sync: bool, duration: float, *, repairs: bool) -> Outcome:
        now = self._now()
        mark_at = now if repairs and not in_sync else None
        return Outcome(now, now + self.jitter.spread(self.interval), duration, in_sync, mark_at)

    def _note_drift(
        self,
        task: ProjectTask,
        drift: Mapping[str, tuple[int | None, int | None]],
        wanted: Mapping[str, int],
        since: float | None,
        *,
        repairs: bool,
    ) -> None:
        """`since` is when drift was noted before."""
        if not drift:
            return
        if since is None:
            queries.set_drift(self.engine, task.id, self._now())
        if repairs:
            self._record_repair(task, {name: after for name, (_, after) in drift.items()}, wanted)
        texts = [f"{name} {before} -> {after}" for name, (before, after) in drift.items()]
        event = f"the backend quota of {task.scope}, service {task.service_type}, was changed by somebody else"
        then = "it is corrected" if repairs else "it is left alone"
        self.engine.after_commit(partial(log.warning, "%s: %s; %s", event, ", ".join(texts), then))
        self.engine.after_commit(partial(self.telemetry.drift_found, task.service_type))

    def _record_repair(self, task: ProjectTask, enforced: Mapping[str, int | None], wanted: Mapping[str, int]) -> None:
        """Records which of these backend quotas will change."""
        repairs = {
            (task.service_type, name): (old, wanted.get(name))
            for name, old in enforced.items()
            if old != wanted.get(name)
        }
        self.change_log.record_repairs(scope_of(task), repairs)

    def _row(self, task: ProjectTask, name: str, usage: ResourceUsage, stored: ResourceRow | None) -> ResourceRow:
        """Returns the project's quota after this report, the backend's, and the totals over all AZs."""
        quota, backend_quota = self._quota(task, name, usage, stored)
        items = usage.per_az.values()
        physical = None
        if any(item.physical_usage is not None for item in items):
            physical = sum(item.usage if item.physical_usage is None else item.physical_usage for item in items)
            physical = min(physical, MAX_AMOUNT)
        used = min(sum(item.usage for item in items), MAX_AMOUNT)
        return ResourceRow(quota, backend_quota, used, physical, usage.min_quota, usage.max_quota)

    def _quota(
        self, task: ProjectTask, name: str, usage: ResourceUsage, stored: ResourceRow | None
    ) -> tuple[int | None, int | None]:
        resource = self.catalog.services[task.service_type].resources[name]
        if usage.quota is None:
            return None, None
        backend_quota = to_stored(usage.quota)
        quota = stored.quota if stored and stored.quota is not None else _initial_quota(resource, backend_quota)
        ref = (task.service_type, name)
        if autogrow_rule(self.catalog, ref) is not None:  # constraints are bounds of what is computed
            return (stored.quota or 0) if stored else 0, backend_quota
        constraint = self.constraints.for_project(ref, task.domain_name, task.project_name)
        if constraint is not None and not constraint.allows(quota):
            old, quota = quota, constraint.apply_to(quota)
            where = f"{task.scope}, {task.service_type}/{name}"
            demanded = constraint.render(resource.unit)
            text = f"AUDIT: quota of {where}: {old} -> {quota}, as its constraint demands ({demanded})"
            self.engine.after_commit(partial(log.warning, "%s", text))
        return quota, backend_quota

    def _now(self) -> float:
        return self.clock.now().timestamp()


def _initial_quota(resource: ResourceDef, backend_quota: int) -> int:
    """Returns 0, or the backend's quota if that is what it gives to every new project."""
    approved = resource.auto_approve_initial_quota
    return approved if approved and backend_quota == approved else 0


def _az_row(item: AZUsage) -> AZRow:
    subresources = orjson.dumps(item.subresources).decode() if item.subresources else ""
    return AZRow(item.usage, item.physical_usage, subresources, item.usage)


def _describe(task: ProjectTask) -> str:
    return f"scrape of project {task.project_uuid}, service {task.service_type}"
