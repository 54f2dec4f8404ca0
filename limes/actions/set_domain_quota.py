"""Sets the quotas of a domain, or simulates that. As it is one code path, simulation and change cannot disagree.

Invariants: all of the request's quotas are written, or none. With `strict_domain_quota_limit`, the sum of all domain
quotas never exceeds the capacity because of us; and no domain quota falls below the sum of its projects' because of us.
To check them, a transaction locks the resources' rows (for cluster-wide sums) and then the domain's (for sums over its
projects). Setting project quotas locks the latter, too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from limes.actions.change_log import ChangeLog, scope_of
from limes.actions.lookup import find_domain
from limes.actions.quota_changes import (
    PermissionSource,
    QuotaChange,
    QuotaOutcome,
    QuotaRequest,
    Unchanged,
    domain_tag,
    read_request,
)
from limes.actions.quota_decision import Ends, decide
from limes.audit.initiator import Initiator
from limes.core.capacity import beyond_capacity, effective
from limes.core.catalog import Catalog, Ref
from limes.core.constraints import ConstraintSet
from limes.core.hierarchy import DOMAIN_QUOTA_GROWS, DomainFigures, QuotaRules, judge_domain
from limes.core.permissions import LowPrivRules, Permissions
from limes.db.engine import Engine
from limes.db.queries import domain_quotas as queries
from limes.db.queries.capacity import lock_resources, raw_capacities
from limes.db.queries.catalog import resource_ids
from limes.db.queries.project_quotas import project_quota_sums
from limes.db.queries.projects import DomainRow
from limes.db.queries.temporary_quotas import temporary_quotas, write_temporary_quotas


@dataclass(frozen=True, slots=True)
class SetDomainQuota:
    engine: Engine
    catalog: Catalog
    constraints: ConstraintSet
    lowpriv: LowPrivRules
    change_log: ChangeLog

    def run(
        self,
        domain_uuid: str,
        changes: Iterable[QuotaChange],
        permissions: PermissionSource,
        initiator: Initiator,
        *,
        dry_run: bool,
        condition: Unchanged | None = None,
    ) -> QuotaOutcome:
        """Sets the quotas, or says why not. Raises `NotFound` for an unknown domain, and `PreconditionFailed`."""
        request = self.read(changes, permissions)
        work = partial(self.apply, domain_uuid, request, initiator, dry_run=dry_run, condition=condition)
        return self.engine.snapshot(work) if dry_run else self.engine.atomic(work)

    def read(self, changes: Iterable[QuotaChange], permissions: PermissionSource) -> QuotaRequest:
        """Returns the wanted quotas as `apply` takes them."""
        return read_request(self.catalog, changes, permissions, DOMAIN_QUOTA_GROWS, self._now())

    def apply(
        self,
        domain_uuid: str,
        request: QuotaRequest,
        initiator: Initiator,
        *,
        dry_run: bool = False,
        condition: Unchanged | None = None,
    ) -> QuotaOutcome:
        """Does what `run` does inside the caller's transaction."""
        domain = find_domain(self.engine, domain_uuid)
        all_ids = resource_ids(self.engine) if request.wanted else {}
        ids = {ref: all_ids[ref] for ref in request.wanted}
        self._lock(domain, list(ids.values()), condition, dry_run)
        outcome = self._decide(domain, ids, request)
        if not dry_run:
            if outcome.changed:
                quotas = {ids[change.ref]: change.new for change in outcome.changed}
                queries.write_domain_quotas(self.engine, domain.id, quotas)
            replaced = {ids[ref]: temporary for ref, temporary in outcome.replaced.items()}
            write_temporary_quotas(self.engine, domain.id, None, replaced)
            self.change_log.by(initiator).record_outcome(scope_of(domain), outcome)
        return outcome

    def _lock(self, domain: DomainRow, resources: list[int], condition: Unchanged | None, dry_run: bool) -> None:
        """Takes the locks, and checks the condition under them."""
        if resources and not dry_run:
            lock_resources(self.engine, resources)
        if condition is not None:
            condition.check(domain_tag(self.engine, self.catalog, domain.id, lock=not dry_run))
        if resources and not dry_run:
            queries.lock_domain_quotas(self.engine, domain.id, resources)

    def _decide(self, domain: DomainRow, ids: Mapping[Ref, int], request: QuotaRequest) -> QuotaOutcome:
        if not ids:
            return QuotaOutcome(request.refusals)
        figures = self.figures(domain, ids)
        temporary = temporary_quotas(self.engine, domain.id, None)
        ends = Ends({ref: temporary[id_] for ref, id_ in ids.items() if id_ in temporary}, self.catalog, self._now())
        outcome = decide(
            request,
            lambda ref: figures[ref].quota,
            lambda ref, old, new: judge_domain(
                new, replace(figures[ref], quota=old), self.rules(ref, domain, request.permissions[ref])
            ),
            ends,
        )
        return replace(outcome, warnings=[*outcome.warnings, *self._warnings(outcome, figures)])

    def _warnings(self, outcome: QuotaOutcome, figures: Mapping[Ref, DomainFigures]) -> list[str]:
        """Returns warnings about quota beyond the capacity; none for a lowered quota, which makes nothing worse."""
        texts = [
            self.warning(change.ref, figures[change.ref], change.new)
            for change in outcome.changed
            if change.new > change.old
        ]
        return [text for text in texts if text is not None]

    def warning(self, ref: Ref, figures: DomainFigures, quota: int) -> str | None:
        """Returns the warning about a domain's quota, if all domains together would have more than the capacity."""
        resource = self.catalog.find(ref)
        assert resource is not None
        return beyond_capacity(ref, resource.unit, figures.other_domains_quota + quota, figures.capacity)

    def figures(self, domain: DomainRow, ids: Mapping[Ref, int]) -> dict[Ref, DomainFigures]:
        """Returns the deciding numbers for resources, given with their ids. Inside a transaction."""
        resources = list(ids.values())
        quotas = queries.domain_quotas_by_resource(self.engine, resources)
        projects = project_quota_sums(self.engine, domain.id, resources)
        raw = raw_capacities(self.engine, resources)
        return {
            ref: DomainFigures(
                quota=quotas.get((domain.id, id_), 0),
                projects_quota=projects.get(id_, 0),
                other_domains_quota=sum(
                    quota for (other, resource), quota in quotas.items() if resource == id_ and other != domain.id
                ),
                capacity=effective(raw.get(id_, 0), self.catalog.behavior(ref).overcommit_factor),
                strict_limit=self.catalog.distribution(ref).strict_domain_quota_limit,
            )
            for ref, id_ in ids.items()
        }

    def rules(self, ref: Ref, domain: DomainRow, permissions: Permissions) -> QuotaRules:
        """Returns the other rules for the quota of a configured resource."""
        resource = self.catalog.find(ref)
        assert resource is not None
        return QuotaRules(
            service_type=ref[0],
            unit=resource.unit,
            permissions=permissions,
            lowpriv_limit=self.lowpriv.for_domain(ref),
            constraint=self.constraints.for_domain(ref, domain.name),
        )

    def _now(self) -> float:
        return self.change_log.clock.now().timestamp()
