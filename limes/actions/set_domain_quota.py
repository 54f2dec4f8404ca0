"""PUT and simulate-put of a domain: one code path, so that the simulation can never disagree with the deed.

Invariants: all of the request's quotas are written, or none. With `strict_domain_quota_limit`, the sum of all domain
quotas never exceeds the capacity because of us; and no domain quota falls below the sum of its projects' because of us.
To decide on them, a transaction locks the resources' rows (cluster-wide sums) and then the domain's (sums over its
projects); whoever sets project quotas locks the latter, too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from limes.actions.precondition import Unchanged
from limes.actions.quota import PermissionSource, QuotaChange, QuotaOutcome, decide, read_changes, write_trail
from limes.actions.quota_state import domain_tag
from limes.actions.reports.domains import find_domain
from limes.actions.scopes import scope_of_domain
from limes.actions.trail import Trail
from limes.audit.initiator import Initiator
from limes.core.capacity import beyond_capacity, effective
from limes.core.catalog import Catalog, Ref
from limes.core.constraints import ConstraintSet
from limes.core.hierarchy import DomainFigures, QuotaRules, Refusal, judge_domain
from limes.core.permissions import LowPrivRules, Permissions
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import domain_quotas as queries
from limes.db.queries.capacity import lock_resources, raw_capacities
from limes.db.queries.domains import DomainRow
from limes.db.queries.project_quotas import project_quota_sums


@dataclass(frozen=True, slots=True)
class SetDomainQuota:
    """The use case with what it works with."""

    engine: Engine
    catalog: Catalog
    constraints: ConstraintSet
    lowpriv: LowPrivRules
    trail: Trail

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
        wanted, refusals = read_changes(self.catalog, changes)
        allowed = {ref: permissions(ref) for ref in wanted}
        trail = self.trail.by(initiator)

        def work() -> QuotaOutcome:
            domain = find_domain(self.engine, domain_uuid)
            ids = catalog_queries.resource_ids(self.engine) if wanted else {}
            self._lock(domain, [ids[ref] for ref in wanted], condition, dry_run)
            outcome = self._decide(domain, ids, wanted, refusals, allowed, dry_run)
            if not dry_run:
                write_trail(trail, self.catalog, scope_of_domain(domain), outcome)
            return outcome

        return self.engine.snapshot(work) if dry_run else self.engine.atomic(work)

    def _lock(self, domain: DomainRow, resources: list[int], condition: Unchanged | None, dry_run: bool) -> None:
        """Takes the locks, and checks the condition under them."""
        if resources and not dry_run:
            lock_resources(self.engine, resources)
        if condition is not None:
            condition.check(domain_tag(self.engine, self.catalog, domain.id, lock=not dry_run))
        if resources and not dry_run:
            queries.lock_domain_quotas(self.engine, domain.id, resources)

    def _decide(
        self,
        domain: DomainRow,
        ids: Mapping[Ref, int],
        wanted: dict[Ref, int],
        refusals: Mapping[Ref, Refusal],
        allowed: Mapping[Ref, Permissions],
        dry_run: bool,
    ) -> QuotaOutcome:
        if not wanted:
            return QuotaOutcome(refusals)
        figures = self.figures(domain, {ref: ids[ref] for ref in wanted})
        outcome = decide(
            wanted,
            refusals,
            lambda ref: figures[ref].quota,
            lambda ref, quota: judge_domain(quota, figures[ref], self.rules(ref, domain, allowed[ref])),
        )
        if outcome.changed and not dry_run:
            queries.write_domain_quotas(
                self.engine, domain.id, {ids[change.ref]: change.new for change in outcome.changed}
            )
        return replace(outcome, warnings=self._warnings(outcome, figures))

    def _warnings(self, outcome: QuotaOutcome, figures: Mapping[Ref, DomainFigures]) -> list[str]:
        """What is given beyond the capacity. Lowering a quota makes nothing worse, so nothing is said then."""
        texts = [
            self.warning(change.ref, figures[change.ref], change.new)
            for change in outcome.changed
            if change.new > change.old
        ]
        return [text for text in texts if text is not None]

    def warning(self, ref: Ref, figures: DomainFigures, quota: int) -> str | None:
        """What to say of a domain's quota that may be more than there is."""
        resource = self.catalog.find(ref)
        assert resource is not None
        return beyond_capacity(ref, resource.unit, figures.other_domains_quota + quota, figures.capacity)

    def figures(self, domain: DomainRow, ids: dict[Ref, int]) -> dict[Ref, DomainFigures]:
        """The numbers that decide, for resources given with their ids. Inside a transaction."""
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
        """What else decides on the quota of a resource that is configured."""
        resource = self.catalog.find(ref)
        assert resource is not None
        return QuotaRules(
            service_type=ref[0],
            unit=resource.unit,
            permissions=permissions,
            lowpriv_limit=self.lowpriv.for_domain(ref),
            constraint=self.constraints.for_domain(ref, domain.name),
        )
