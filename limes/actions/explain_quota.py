"""Explains why a quota is what it is, and to which values it could be set.

Figures and rules are read as for setting a quota, and the bounds are found with the same decision, so the explanation
cannot disagree with a simulation.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from limes.actions.distribute_quota import ExplainedAllocation
from limes.actions.lookup import find_domain, find_project
from limes.actions.quota_changes import PermissionSource
from limes.actions.set_domain_quota import SetDomainQuota
from limes.actions.set_project_quota import SetProjectQuota
from limes.core.autogrow_advice import Advice, Adviser
from limes.core.catalog import ANY_AZ, Behavior, Catalog, Ref
from limes.core.commitments.request import beyond_quota, committable_azs
from limes.core.hierarchy import (
    DOMAIN_QUOTA_GROWS,
    PROJECT_QUOTA_GROWS,
    Bounds,
    DomainFigures,
    Judge,
    ProjectFigures,
    QuotaRules,
    Refusal,
    bounds,
    judge_domain,
    judge_project,
)
from limes.core.quota import is_forbidden, usable_quota
from limes.core.temporary_quota import TemporaryQuota
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import history
from limes.db.queries.history import NumberedChange
from limes.db.queries.kept_sums import resource_sums
from limes.db.queries.project_quotas import project_quotas_by_resource
from limes.db.queries.project_sums import Among
from limes.db.queries.temporary_quotas import temporary_quotas
from limes.db.transactions import snapshot


def _refuse_all_of_project(_: int) -> Refusal:
    return PROJECT_QUOTA_GROWS


def _refuse_all_of_domain(_: int) -> Refusal:
    return DOMAIN_QUOTA_GROWS


@dataclass(frozen=True, slots=True)
class AutogrowExplanation:
    """Why a quota that grows by itself is what it is, and what would raise it."""

    computed: ExplainedAllocation
    advice: Sequence[Advice]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that decides on one quota."""

    ref: Ref
    figures: ProjectFigures | DomainFigures
    rules: QuotaRules
    bounds: Bounds
    origin: NumberedChange | None
    """The last change of it; None if it was never changed, or only before there was a history."""
    usable_quota: int | None = None
    """The quota with bursting; None where bursting is off."""
    warning: str | None = None
    """What is wrong with the quota although it is acceptable."""
    growth: AutogrowExplanation | None = None
    """Only of quota of a project that grows by itself, and only where it is asked for."""
    temporary: TemporaryQuota | None = None
    """If the quota ends by itself, or a raise is planned."""


@dataclass(frozen=True, slots=True)
class ExplainQuota:
    """The use cases. Resources without quota, or that were not scraped yet, are left out."""

    catalog: Catalog
    project: SetProjectQuota
    domain: SetDomainQuota
    explain_allocation: Callable[[int, Ref], ExplainedAllocation | None]

    @property
    def engine(self) -> Engine:
        """For `limes.db.transactions`."""
        return self.project.engine

    @snapshot
    def of_project(
        self,
        domain_uuid: str,
        project_uuid: str,
        refs: Collection[Ref],
        permissions: PermissionSource,
        *,
        with_growth: bool = False,
    ) -> Sequence[Explanation]:
        """Returns explanations in the order of the refs. Raises `NotFound`.

        With `with_growth` it is explained how quota grows, which takes a computation over all projects for each
        resource.
        """
        allowed = {ref: permissions(ref) for ref in self._with_quota(refs)}
        engine = self.project.engine
        project = find_project(engine, domain_uuid, project_uuid)
        ids = {ref: id_ for ref, id_ in catalog_queries.resource_ids(engine).items() if ref in allowed}
        scraped = project_quotas_by_resource(engine, project.id, ids.values())
        known = {ref: ids[ref] for ref in allowed if ref in ids and ids[ref] in scraped}
        figures = self.project.figures(project, known) if known else {}
        origins = history.latest(engine, domain_uuid, project_uuid)
        temporary = temporary_quotas(engine, project.domain_id, project.id)
        explanations = []
        for ref, numbers in figures.items():
            rules = self.project.rules(ref, project, allowed[ref])
            behavior = self.catalog.behavior(ref, project.scope)
            usable = usable_quota(numbers.quota, behavior.burst_multiplier) if project.has_bursting else None
            judge: Judge = partial(judge_project, figures=numbers, rules=rules)
            if self.catalog.autogrow(ref):
                judge = _refuse_all_of_project
                numbers = replace(numbers, domain_quota=numbers.projects_quota)
            acceptable = bounds(numbers.quota, judge)
            warning = beyond_quota(ref, rules.unit, numbers.committed, numbers.quota)
            growth = self._growth(project.id, ref, numbers, behavior) if with_growth else None
            ends = temporary.get(known[ref])
            explanations.append(
                Explanation(ref, numbers, rules, acceptable, origins.get(ref), usable, warning, growth, ends)
            )
        return explanations

    @snapshot
    def of_domain(
        self, domain_uuid: str, refs: Collection[Ref], permissions: PermissionSource
    ) -> Sequence[Explanation]:
        """Returns explanations in the order of the refs. Raises `NotFound`."""
        allowed = {ref: permissions(ref) for ref in self._with_quota(refs)}
        engine = self.domain.engine
        domain = find_domain(engine, domain_uuid)
        ids = catalog_queries.resource_ids(engine)
        known = {ref: ids[ref] for ref in allowed if ref in ids}
        figures = self.domain.figures(domain, known) if known else {}
        origins = history.latest(engine, domain_uuid, "")
        temporary = temporary_quotas(engine, domain.id, None)
        everywhere = self._projects_quota([id_ for ref, id_ in known.items() if self.catalog.autogrow(ref)])
        explanations = []
        for ref, numbers in figures.items():
            rules = self.domain.rules(ref, domain, allowed[ref])
            judge: Judge = partial(judge_domain, figures=numbers, rules=rules)
            if self.catalog.autogrow(ref):
                judge = _refuse_all_of_domain
                numbers = replace(
                    numbers,
                    quota=numbers.projects_quota,
                    other_domains_quota=everywhere.get(known[ref], 0) - numbers.projects_quota,
                )
            acceptable = bounds(numbers.quota, judge)
            warning = self.domain.warning(ref, numbers, numbers.quota)
            ends = temporary.get(known[ref])
            explanations.append(
                Explanation(ref, numbers, rules, acceptable, origins.get(ref), warning=warning, temporary=ends)
            )
        return explanations

    def _growth(
        self, project_id: int, ref: Ref, figures: ProjectFigures, behavior: Behavior
    ) -> AutogrowExplanation | None:
        computed = self.explain_allocation(project_id, ref)
        resource = self.catalog.find(ref)
        if computed is None or resource is None:
            return None
        forbidden = is_forbidden(figures.backend_maximum) or not behavior.commitment_durations
        used = sum(demand.usage for az, demand in computed.demand.azs.items() if az != ANY_AZ)
        adviser = Adviser(
            computed.demand,
            computed.allocation,
            computed.bounds,
            computed.rule,
            resource.unit,
            committable=() if forbidden else committable_azs(behavior, self.catalog),
            uncovered=0 if behavior.commitment_is_az_aware else max(0, used - figures.committed),
        )
        return AutogrowExplanation(computed, adviser.advise())

    def _projects_quota(self, resources: Sequence[int]) -> dict[int, int]:
        """Returns the quota of all projects of all domains together, by resource id."""
        sums = resource_sums(self.domain.engine, resources, "cluster", Among("domain", None)) if resources else ()
        return {row.resource_id: int(row.quota or 0) for row in sums}

    def _with_quota(self, refs: Collection[Ref]) -> list[Ref]:
        return [ref for ref in refs if (resource := self.catalog.find(ref)) is not None and resource.tracks_quota]
