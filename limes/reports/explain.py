"""Explains why a quota is what it is, and to which values it could be set.

Figures and rules are read as for setting a quota, and the bounds are found with the same decision, so the explanation
cannot disagree with a simulation.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import Struct, structs

from limes.app.context import Limes
from limes.autogrow import advice, distribute
from limes.backends.base import is_forbidden
from limes.catalog.catalog import ANY_AZ, Behavior, Ref
from limes.catalog.queries import resource_ids
from limes.commitments.rules import committable_azs, warn_beyond_quota
from limes.db.transactions import snapshot
from limes.projects.queries import ProjectRow
from limes.projects.scope import Place, find
from limes.quota import changes, hierarchy, history, queries, set_quota
from limes.quota.hierarchy import Bounds, Figures, Judge, ProjectFigures, QuotaRules, bounds
from limes.quota.history import NumberedChange
from limes.quota.rules import Permissions, usable_quota
from limes.quota.temporary import TemporaryQuota
from limes.usage.project_sums import ALL_PROJECTS
from limes.usage.sums import resource_sums


class Explanation(Struct, frozen=True):
    """Everything that decides on one quota."""

    ref: Ref
    figures: Figures
    rules: QuotaRules
    bounds: Bounds
    origin: NumberedChange | None
    """The last change of it; None if it was never changed, or only before there was a history."""
    usable_quota: int | None = None
    """The quota with bursting; None where bursting is off."""
    warning: str | None = None
    """What is wrong with the quota although it is acceptable."""
    growth: tuple[distribute.ExplainedAllocation, list[advice.AutogrowAdvice]] | None = None
    """Why quota of a project that grows by itself is what it is, and what would raise it; only if it is asked for."""
    temporary: TemporaryQuota | None = None
    """If the quota ends by itself, or a raise is planned."""


@snapshot
def explain_quotas(
    limes: Limes, place: Place, permissions: Mapping[Ref, Permissions], *, with_growth: bool = False
) -> Sequence[Explanation]:
    """Returns explanations in the order of `permissions`, which are those to the resources' quotas. Raises `NotFound`.
    Resources without quota, or that were not scraped yet, are left out. With `with_growth` it is explained how quota of
    a project grows, which takes a computation over all projects for each resource."""
    engine, catalog, target = limes.engine, limes.catalog, find(limes.engine, place)
    all_ids = resource_ids(engine)
    ids = {ref: all_ids[ref] for ref in permissions if ref in all_ids and changes.without_quota(catalog, ref) is None}
    if isinstance(target, ProjectRow):
        scraped = queries.project_quotas_by_resource(engine, target.id, ids.values())
        ids = {ref: id_ for ref, id_ in ids.items() if id_ in scraped}
    figures, temporary = set_quota.read_figures(limes, target, ids) if ids else ({}, {})
    origins = history.latest(engine, place.domain_uuid, place.project_uuid)
    growing = [id_ for ref, id_ in ids.items() if catalog.autogrow(ref)]
    of_domain = growing and not isinstance(target, ProjectRow)
    sums = resource_sums(engine, growing, "cluster", ALL_PROJECTS) if of_domain else ()
    everywhere = {row.resource_id: int(row.quota or 0) for row in sums}  # of all projects of all domains together
    explanations = []
    for ref, numbers in figures.items():
        rules, usable, growth = set_quota.rules_of(limes, target, ref, permissions[ref]), None, None
        judge: Judge = partial(hierarchy.judge, figures=numbers, rules=rules)
        if catalog.autogrow(ref):
            numbers, judge = _of_growing(numbers, everywhere.get(ids[ref], 0))
        if isinstance(target, ProjectRow) and isinstance(numbers, ProjectFigures):
            behavior = catalog.behavior(ref, target.scope)
            usable = usable_quota(numbers.quota, behavior.burst_multiplier) if target.has_bursting else None
            growth = _growth(limes, target.id, ref, numbers, behavior) if with_growth else None
            warning = warn_beyond_quota(ref, rules.unit, numbers.committed, numbers.quota)
        else:
            warning = set_quota.warn_beyond_capacity(ref, numbers, rules, numbers.quota)
        acceptable, origin, ends = bounds(numbers.quota, judge), origins.get(ref), temporary.get(ref)
        explanations.append(Explanation(ref, numbers, rules, acceptable, origin, usable, warning, growth, ends))
    return explanations


def _of_growing(figures: Figures, of_all_projects: int) -> tuple[Figures, Judge]:
    """Returns the figures of a quota that users do not set, and the refusal to set it."""
    total = figures.projects_quota
    if isinstance(figures, ProjectFigures):
        return structs.replace(figures, domain_quota=total), lambda _: hierarchy.PROJECT_QUOTA_GROWS
    of_domain = structs.replace(figures, quota=total, other_domains_quota=of_all_projects - total)
    return of_domain, lambda _: hierarchy.DOMAIN_QUOTA_GROWS


def _growth(
    limes: Limes, project_id: int, ref: Ref, figures: ProjectFigures, behavior: Behavior
) -> tuple[distribute.ExplainedAllocation, list[advice.AutogrowAdvice]] | None:
    computed = distribute.explain_allocation(limes, project_id, ref)
    if computed is None:
        return None
    is_possible = bool(behavior.commitment_durations) and not is_forbidden(figures.backend_maximum)
    azs = committable_azs(behavior, limes.catalog) if is_possible else ()
    used = sum(demand.usage for az, demand in computed.demand.azs.items() if az != ANY_AZ)
    uncovered = 0 if behavior.commitment_is_az_aware else max(0, used - figures.committed)
    parts = (computed.demand, computed.allocation, computed.bounds, computed.rule, limes.catalog.unit_of(ref))
    return computed, advice.Adviser(*parts, azs, uncovered).advise()
