"""Quotas: the outcome of PUT and simulate-put, their history, and explanations."""

from operator import itemgetter
from typing import cast

from limes.actions.explain_quota import Explanation
from limes.actions.quota_changes import EndingQuota, QuotaOutcome
from limes.api.render.autogrow import render_autogrow
from limes.api.render.common import unit_name, unit_of
from limes.api.render.temporary_quota import render_temporary
from limes.api.shapes import quota as shapes
from limes.api.shapes.quota import RefusalStatus
from limes.core.catalog import Catalog, Ref
from limes.core.hierarchy import Bound, DomainFigures, ProjectFigures, Refusal, RefusalKind
from limes.core.history import What
from limes.core.units import Unit
from limes.db.queries.history import NumberedChange
from limes.web.errors import shortened

_STATUS: dict[RefusalKind, RefusalStatus] = {
    RefusalKind.FORBIDDEN: 403,
    RefusalKind.CONFLICT: 409,
    RefusalKind.INVALID: 422,
}

_SWITCHES = {What.BURSTING, What.FORBID_AUTOGROWTH}


def status_of(outcome: QuotaOutcome, success: int) -> int:
    """Returns the status that all refusals agree on, else 422; `success` if there are none."""
    statuses = {_STATUS[refusal.kind] for refusal in outcome.refusals.values()}
    if not statuses:
        return success
    return statuses.pop() if len(statuses) == 1 else 422


def render_simulation(catalog: Catalog, outcome: QuotaOutcome) -> shapes.SimulationAnswer:
    """The document of simulate-put, sorted by service and resource."""
    if outcome.refusals:
        refused = [_unacceptable(ref, refusal) for ref, refusal in sorted(outcome.refusals.items(), key=itemgetter(0))]
        return shapes.SimulationAnswer(success=False, unacceptable_resources=refused)
    ending = [_ending(catalog, ref, each) for ref, each in sorted(outcome.ending.items(), key=itemgetter(0))]
    return shapes.SimulationAnswer(success=True, temporary_quotas=ending, warnings=list(outcome.warnings))


def _unacceptable(ref: Ref, refusal: Refusal) -> shapes.UnacceptableResource:
    service_type, name = map(shortened, ref)
    has_bounds = refusal.minimum is not None or refusal.maximum is not None
    return shapes.UnacceptableResource(
        service_type=service_type,
        name=name,
        resource_name=name,  # the original's name of the same field
        status=_STATUS[refusal.kind],
        message=shortened(refusal.message),
        min_acceptable_quota=refusal.minimum,
        max_acceptable_quota=refusal.maximum,
        unit=unit_name(refusal.unit) if has_bounds and refusal.unit is not None else None,
    )


def _ending(catalog: Catalog, ref: Ref, ending: EndingQuota) -> shapes.EndingQuota:
    return shapes.EndingQuota(
        service_type=ref[0],
        name=ref[1],
        temporary_quota=render_temporary(ending.temporary, ending.present),
        gives_back=ending.gives_back,
        unit=unit_of(catalog, ref),
    )


def render_refusals(outcome: QuotaOutcome, level: str, what: str = "quota") -> str:
    """Returns the text of a refused PUT of quotas, or of something else of theirs: one line for each resource,
    sorted."""
    return "\n".join(sorted(_line(ref, refusal, level, what) for ref, refusal in outcome.refusals.items()))


def _line(ref: Ref, refusal: Refusal, level: str, what: str) -> str:
    unit = refusal.unit or Unit.COUNT
    bounds = [
        f"{word} acceptable {level} quota is {unit.render(value)}"
        for word, value in (("minimum", refusal.minimum), ("maximum", refusal.maximum))
        if value is not None
    ]
    suffix = f" ({', '.join(bounds)})" if bounds else ""
    return f"cannot change {ref[0]}/{ref[1]} {what}: {refusal.message}{suffix}"


def render_backend_errors(outcome: QuotaOutcome) -> str:
    """Returns the text of a 202 when some backends have not been told yet."""
    head = (
        "quotas have been accepted, but some error(s) occurred while trying to write the quotas into the backend"
        " services:"
    )
    return "\n".join([head, *outcome.backend_errors])


def render_acceptance(outcome: QuotaOutcome) -> str | None:
    """Returns the text of a 202, if there is something to say."""
    texts = [render_backend_errors(outcome)] if outcome.backend_errors else []
    if outcome.warnings:
        texts.append(render_warnings(outcome))
    return "\n".join(texts) or None


def render_warnings(outcome: QuotaOutcome, what: str = "quotas have") -> str:
    """Returns the text of a 202 with warnings."""
    return "\n".join([f"{what} been accepted, with a warning:", *outcome.warnings])


def render_change(catalog: Catalog, change: NumberedChange) -> shapes.Change:
    """Renders one change. Amounts are in the resource's unit; bursting is true or false."""
    row = change.row
    is_switch = row.what in _SWITCHES
    return shapes.Change(
        number=change.number,
        at=int(row.at),
        what=cast(shapes.Changed, row.what),
        service=row.service_type or None,
        resource=row.resource_name if row.service_type else None,
        unit=unit_of(catalog, (row.service_type, row.resource_name)),
        old=bool(row.old) if is_switch else row.old,
        new=bool(row.new) if is_switch else row.new,
        reason=cast(shapes.ChangeReason, row.reason),
        detail=row.detail or None,
        initiator=initiator(row.initiator_id, row.initiator_name),
        request_id=row.request_id,
    )


def initiator(id_: str, name: str) -> shapes.Initiator:
    """A user; or a job, which has no id."""
    return shapes.Initiator(type="user", id=id_, name=name) if id_ else shapes.Initiator(type="job", name=name)


def render_explanation(catalog: Catalog, explanation: Explanation, *, with_origin: bool) -> shapes.Explanation:
    """Why a quota is what it is, and what bounds it."""
    rules, figures, temporary = explanation.rules, explanation.figures, explanation.temporary
    project = figures if isinstance(figures, ProjectFigures) else None
    domain = figures if isinstance(figures, DomainFigures) else None
    growth, origin = explanation.growth, explanation.origin
    return shapes.Explanation(
        service=explanation.ref[0],
        resource=explanation.ref[1],
        unit=unit_name(rules.unit),
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
        growth=None if growth is None else render_autogrow(growth),
        origin=render_change(catalog, origin) if with_origin and origin is not None else None,
    )


def _bound(bound: Bound) -> shapes.QuotaBound:
    return shapes.QuotaBound(quota=bound.quota, rule=bound.because.rule.value, message=bound.because.message)
