"""Begins and ends temporary quotas when they are due, and tries again what could not be done.

Invariants: no quota is lowered below usage, below what is committed, or below what projects have got of a domain's; no
raise exceeds what the level above has. Each beginning and each end is one change of quota, however many collectors run
and whenever they are killed: a transaction takes the locks of the quotas first, looks under them whether it is still
due, and writes quota, history and what comes next together. The rows of the project's usage are locked as well, so that
a scrape comes before or after. Backends are told by the push job.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from limes.actions.announce_ends import AnnounceEnds
from limes.actions.change_log import ChangeLog
from limes.actions.lookup import find_domain, find_project
from limes.actions.quota_changes import EVERYTHING, QuotaOutcome, QuotaRequest
from limes.actions.set_domain_quota import SetDomainQuota
from limes.actions.set_project_quota import SetProjectQuota
from limes.core.catalog import Ref
from limes.core.hierarchy import Judge, judge_domain, judge_project
from limes.core.history import Reason
from limes.core.temporary_quota import Step, TemporaryQuota, TemporaryState, take_step
from limes.db.engine import Engine
from limes.db.queries import temporary_quotas as queries
from limes.db.queries.capacity import lock_resources
from limes.db.queries.catalog import resource_ids
from limes.db.queries.domain_quotas import lock_domain_quotas
from limes.db.queries.project_quotas import project_quotas_by_resource
from limes.db.queries.projects import DomainRow, ProjectRow
from limes.db.queries.temporary_quotas import DueRow
from limes.errors import LimesError, NotFound
from limes.system import Clock

log = logging.getLogger(__name__)

_PLANNED = TemporaryState.PLANNED.value


@dataclass(frozen=True, slots=True)
class SettleTemporaryQuotas:
    """The job. What cannot be done is tried again after `retry` seconds."""

    engine: Engine
    clock: Clock
    project: SetProjectQuota
    domain: SetDomainQuota
    change_log: ChangeLog
    """Of the job."""
    retry: float
    announce: AnnounceEnds | None = None
    """Tells people; None: nobody is told."""

    def run(self) -> int:
        """Does what is due: a transaction for each project and domain, with a fixed number of statements. Returns how
        many there were. Raises the last error after it has tried them all."""
        now = self._now()
        due = self.engine.snapshot(lambda: queries.due(self.engine, now, now + 2 * self.retry))
        failed: LimesError | None = None
        groups = [list(rows) for _, rows in groupby(sorted(due, key=_order), key=_order)]
        for rows in groups:
            try:
                self.engine.atomic(partial(self._settle, rows))
            except NotFound:
                log.info("temporary quota of a project or domain that is gone meanwhile")
            except LimesError as error:
                failed = error
                log.warning("temporary quotas of %s: %s", rows[0].project_uuid or rows[0].domain_uuid, error)
        if failed is not None:
            raise failed
        return len(groups)

    def _settle(self, rows: Sequence[DueRow]) -> None:
        """Settles what is due of one project, or of one domain itself."""
        head, now = rows[0], self._now()
        resources = sorted(row.resource_id for row in rows)
        lock_resources(self.engine, resources)
        lock_domain_quotas(self.engine, head.domain_id, resources)
        stored = queries.temporary_quotas(self.engine, head.domain_id, head.project_id)
        horizon = now + 2 * self.retry
        due = {id_: stored[id_] for id_ in resources if id_ in stored and _is_due(stored[id_], now, horizon)}
        refs = {ref: id_ for ref, id_ in resource_ids(self.engine).items() if id_ in due}
        settled = {ref: id_ for ref, id_ in refs.items() if self._has_quota(ref)}
        changed: dict[int, TemporaryQuota | None] = {}
        for ref, id_ in refs.items():
            if ref not in settled:  # nobody sets such quota any more, or the resource may come back
                grows = self.project.catalog.autogrow(ref) is not None
                changed[id_] = None if grows else replace(due[id_], due_at=now + self.retry)
        queries.write_temporary_quotas(self.engine, head.domain_id, head.project_id, changed)
        if settled:
            by_ref = {ref: due[id_] for ref, id_ in settled.items()}
            settle = self._settle_domain if head.project_id is None else self._settle_project
            settle(head, settled, by_ref)

    def _settle_project(self, head: DueRow, ids: Mapping[Ref, int], due: Mapping[Ref, TemporaryQuota]) -> None:
        use_case = replace(self.project, change_log=self._log())
        project = find_project(self.engine, head.domain_uuid, head.project_uuid or "")
        project_quotas_by_resource(self.engine, project.id, sorted(ids.values()), lock=True)
        figures = use_case.figures(project, ids)
        steps = {}
        for ref, temporary in due.items():
            rules = use_case.rules(ref, project, EVERYTHING)
            judge = partial(judge_project, figures=figures[ref], rules=rules)
            steps[ref] = self._step(ref, temporary, figures[ref].quota, judge)
        _, outcome = use_case.apply(project.domain_uuid, project.uuid, _request(steps), self.change_log.initiator)
        self._announce(project, due, steps, outcome)

    def _settle_domain(self, head: DueRow, ids: Mapping[Ref, int], due: Mapping[Ref, TemporaryQuota]) -> None:
        use_case = replace(self.domain, change_log=self._log())
        domain = find_domain(self.engine, head.domain_uuid)
        figures = use_case.figures(domain, ids)
        steps = {}
        for ref, temporary in due.items():
            rules = use_case.rules(ref, domain, EVERYTHING)
            judge = partial(judge_domain, figures=figures[ref], rules=rules)
            steps[ref] = self._step(ref, temporary, figures[ref].quota, judge)
        outcome = use_case.apply(domain.uuid, _request(steps), self.change_log.initiator)
        self._announce(domain, due, steps, outcome)

    def _announce(
        self,
        place: DomainRow | ProjectRow,
        due: Mapping[Ref, TemporaryQuota],
        steps: Mapping[Ref, Step],
        outcome: QuotaOutcome,
    ) -> None:
        if self.announce is not None and not outcome.refusals:
            self.announce.given_back(place, due, steps, self._now())

    def _step(self, ref: Ref, due: TemporaryQuota, present: int, judge: Judge) -> Step:
        return take_step(due, present, judge, self.change_log.unit_of(ref), self._now(), self.retry)

    def _has_quota(self, ref: Ref) -> bool:
        resource = self.project.catalog.find(ref)
        return resource is not None and resource.tracks_quota and not self.project.catalog.autogrow(ref)

    def _log(self) -> ChangeLog:
        return self.change_log.for_reason(Reason.TEMPORARY_QUOTA)

    def _now(self) -> float:
        return self.clock.now().timestamp()


def _order(row: DueRow) -> tuple[int, int, int]:
    """What is given back comes first, from projects and then from domains; what begins gets it, domains first."""
    begins, is_project = row.state == _PLANNED, row.project_id is not None
    return 2 * begins + (begins == is_project), row.domain_id, row.project_id or 0


def _is_due(temporary: TemporaryQuota, now: float, horizon: float) -> bool:
    return temporary.due_at <= now or (temporary.problem != "" and temporary.due_at > horizon)


def _request(steps: Mapping[Ref, Step]) -> QuotaRequest:
    wanted = {ref: step.quota for ref, step in steps.items()}
    return QuotaRequest(wanted, {}, dict.fromkeys(wanted, EVERYTHING), steps=steps)
