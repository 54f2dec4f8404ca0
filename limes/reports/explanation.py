"""Why a quota is what it is, and what bounds it."""

from typing import Annotated, Literal

from pydantic import Field

from limes.api.answers import OfResource, TemporaryQuota, render_temporary
from limes.autogrow import distribute
from limes.autogrow import rules as autogrow
from limes.autogrow.advice import AutogrowAdvice, BoundSource
from limes.catalog.catalog import Catalog
from limes.kernel.validation.shape import Amount, Shape, one_of
from limes.quota import hierarchy
from limes.reports import change_answers, explain


class QuotaBound(Shape):
    """An outermost acceptable quota, and what would be said of one beyond it."""

    quota: Amount
    rule: Annotated[str, one_of(sorted(hierarchy.Bounding))]
    message: str


ByAZ = Annotated[dict[str, Amount], Field(description="amounts by availability zone")]


class AutogrowStep(Shape):
    """What a quota that grows by itself has of one step of the computation."""

    step: Annotated[str, one_of(autogrow.Step)]
    quota: Amount
    per_az: ByAZ
    lacking: Annotated[ByAZ, Field(description="what there was no capacity for")] = {}
    capped: Annotated[Amount, Field(description="what a bound has taken from the wishes")] = 0


class AutogrowDemand(Shape, kw_only=False):
    """What such a quota follows in one availability zone."""

    usage: Amount
    smallest_usage: Annotated[Amount, Field(description="within the retention period")]
    largest_usage: Annotated[Amount, Field(description="within the retention period")]
    committed: Amount


class AutogrowBound(Shape, kw_only=False):
    """A bound of such a quota, and whose it is."""

    quota: Amount
    source: Annotated[str, one_of(BoundSource)]


class Autogrow(Shape):
    """Why a quota that grows by itself is what it is."""

    computed_quota: Annotated[Amount, Field(description="what a computation would give now; small changes wait")]
    message: Annotated[str, Field(description="all of it in a line, for people")]
    demand: dict[str, AutogrowDemand]
    steps: list[AutogrowStep]
    raised_by: list[AutogrowAdvice]
    minimum: AutogrowBound | None = None
    maximum: AutogrowBound | None = None
    forbid_autogrowth: Literal[True] | None = None


def render_autogrow(computed: distribute.ExplainedAllocation, advice: list[AutogrowAdvice]) -> Autogrow:
    bounds, sources = computed.demand.bounds, computed.bounds
    demand = {
        az: AutogrowDemand(each.usage, each.smallest, each.largest, each.committed)
        for az, each in sorted(computed.demand.azs.items())
    }
    return Autogrow(
        computed_quota=computed.allocation.quota,
        message=computed.text,
        demand=demand,
        steps=[step for name in autogrow.Step if (step := _step(computed.allocation, name))],
        raised_by=advice,
        minimum=_autogrow_bound(bounds.minimum or None, sources.minimum_from),
        maximum=_autogrow_bound(bounds.maximum, sources.maximum_from),
        forbid_autogrowth=True if bounds.forbids_growth else None,
    )


def _autogrow_bound(quota: int | None, source: BoundSource | None) -> AutogrowBound | None:
    return None if quota is None or source is None else AutogrowBound(quota, source)


def _step(allocation: autogrow.Allocation, step: autogrow.Step) -> AutogrowStep | None:
    """None if nothing was wanted in it."""
    granted, lacking = allocation.granted.get(step, {}), allocation.lacking.get(step, {})
    capped = allocation.capped.get(step, 0)
    if not (granted or lacking or capped):
        return None
    return AutogrowStep(
        step=step,
        quota=sum(granted.values()),
        per_az=dict(sorted(granted.items())),
        lacking=dict(sorted(lacking.items())),
        capped=capped,
    )


class Explanation(OfResource):
    """What decides on one quota."""

    quota: Amount
    usage: Amount | None = None
    committed: Amount | None = None
    projects_quota: Amount
    domain_quota: Amount | None = None
    other_domains_quota: Amount | None = None
    capacity: Amount
    usable_quota: Amount | None = None
    temporary_quota: TemporaryQuota | None = None
    constraint: str | None = None
    min_nonzero_project_quota: Amount = 0
    min_acceptable_quota: QuotaBound
    max_acceptable_quota: QuotaBound
    warnings: list[str] = []
    growth: (
        Annotated[Autogrow, Field(description="of a project's quota that grows by itself, if `resource` is given")]
        | None
    ) = None
    origin: change_answers.QuotaChange | None = None


class ExplanationsAnswer(Shape):
    """One for each selected resource that has a quota."""

    explanations: list[Explanation]


def render_explanation(catalog: Catalog, explanation: explain.Explanation, *, with_origin: bool) -> Explanation:
    """`with_origin` says whether the caller may see who has set the quota."""
    rules, figures, temporary = explanation.rules, explanation.figures, explanation.temporary
    project = figures if isinstance(figures, hierarchy.ProjectFigures) else None
    domain = figures if isinstance(figures, hierarchy.DomainFigures) else None
    growth, origin = explanation.growth, explanation.origin
    return Explanation(
        service=explanation.ref[0],
        resource=explanation.ref[1],
        unit=rules.unit.value or None,
        quota=figures.quota,
        usage=project.usage if project else None,
        committed=project.committed if project else None,
        projects_quota=figures.projects_quota,
        domain_quota=project.domain_quota if project else None,
        other_domains_quota=domain.other_domains_quota if domain else None,
        capacity=figures.capacity,
        usable_quota=explanation.usable_quota,
        temporary_quota=None if temporary is None else render_temporary(temporary, figures.quota),
        constraint=rules.constraint.render(rules.unit) if rules.constraint else None,
        min_nonzero_project_quota=rules.min_nonzero_quota or 0,
        min_acceptable_quota=_bound(explanation.bounds.minimum),
        max_acceptable_quota=_bound(explanation.bounds.maximum),
        warnings=[] if explanation.warning is None else [explanation.warning],
        growth=None if growth is None else render_autogrow(*growth),
        origin=change_answers.render_quota_change(catalog, origin) if with_origin and origin is not None else None,
    )


def _bound(bound: hierarchy.Bound) -> QuotaBound:
    return QuotaBound(quota=bound.quota, rule=bound.because.rule, message=bound.because.message)
