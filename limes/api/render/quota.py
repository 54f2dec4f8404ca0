"""Quotas: the outcome of PUT and simulate-put, their history, and explanations."""

from limes.actions.explain_quota import Explanation
from limes.actions.quota_changes import EndingQuota, QuotaOutcome
from limes.api.render.autogrow import render_autogrow
from limes.api.render.common import Json
from limes.api.render.temporary_quota import render_temporary
from limes.api.shapes import quota as shapes
from limes.api.shapes.quota import RefusalStatus, SimulationAnswer, UnacceptableResource
from limes.core.bounds import Bound
from limes.core.catalog import Catalog, Ref
from limes.core.hierarchy import DomainFigures, ProjectFigures, Refusal, RefusalKind
from limes.core.history import What
from limes.core.units import Unit
from limes.db.queries.history import HistoryRow, NumberedChange
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


def render_simulation(catalog: Catalog, outcome: QuotaOutcome) -> SimulationAnswer:
    """Returns the document of simulate-put, sorted by service and resource."""
    if not outcome.refusals:
        document: SimulationAnswer = {"success": True}
        if outcome.ending:
            document["temporary_quotas"] = [
                _ending(catalog, ref, outcome.ending[ref]) for ref in sorted(outcome.ending)
            ]
        if outcome.warnings:
            document["warnings"] = list(outcome.warnings)
        return document
    return {
        "success": False,
        "unacceptable_resources": [_unacceptable(ref, outcome.refusals[ref]) for ref in sorted(outcome.refusals)],
    }


def _unacceptable(ref: Ref, refusal: Refusal) -> UnacceptableResource:
    service_type, name = map(shortened, ref)
    document: UnacceptableResource = {
        "service_type": service_type,
        "name": name,
        # the original's name of the same field
        "resource_name": name,
        "status": _STATUS[refusal.kind],
        "message": shortened(refusal.message),
    }
    if refusal.minimum is not None:
        document["min_acceptable_quota"] = refusal.minimum
    if refusal.maximum is not None:
        document["max_acceptable_quota"] = refusal.maximum
    has_bounds = refusal.minimum is not None or refusal.maximum is not None
    if has_bounds and refusal.unit is not None and refusal.unit.is_measured:
        document["unit"] = refusal.unit.value
    return document


def _ending(catalog: Catalog, ref: Ref, ending: EndingQuota) -> shapes.EndingQuota:
    document: shapes.EndingQuota = {
        "service_type": ref[0],
        "name": ref[1],
        "temporary_quota": render_temporary(ending.temporary, ending.present),
        "gives_back": ending.gives_back,
    }
    resource = catalog.find(ref)
    if resource is not None and resource.unit.is_measured:
        document["unit"] = resource.unit.value
    return document


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


def render_change(catalog: Catalog, change: NumberedChange) -> Json:
    """Renders one change. Amounts are in the resource's unit; bursting is true or false."""
    row = change.row
    document: Json = {"number": change.number, "at": int(row.at), "what": row.what}
    if row.service_type:
        document |= {"service": row.service_type, "resource": row.resource_name}
        resource = catalog.find((row.service_type, row.resource_name))
        if resource is not None and resource.unit.is_measured:
            document["unit"] = resource.unit.value
    is_switch = row.what in _SWITCHES
    document |= {name: bool(value) if is_switch else value for name, value in (("old", row.old), ("new", row.new))}
    document["reason"] = row.reason
    if row.detail:
        document["detail"] = row.detail
    return document | {"initiator": _initiator(row), "request_id": row.request_id}


def _initiator(row: HistoryRow) -> Json:
    if not row.initiator_id:
        return {"type": "job", "name": row.initiator_name}
    return {"type": "user", "id": row.initiator_id, "name": row.initiator_name}


def render_explanation(catalog: Catalog, explanation: Explanation, *, with_origin: bool) -> Json:
    """Returns why a quota is what it is, and what bounds it."""
    rules, figures = explanation.rules, explanation.figures
    document: Json = {"service": explanation.ref[0], "resource": explanation.ref[1]}
    if rules.unit.is_measured:
        document["unit"] = rules.unit.value
    document |= {"quota": figures.quota, **_figures(figures)}
    if explanation.usable_quota is not None:
        document["usable_quota"] = explanation.usable_quota
    if explanation.temporary is not None:
        document["temporary_quota"] = render_temporary(explanation.temporary, figures.quota)
    if rules.constraint is not None:
        document["constraint"] = rules.constraint.render(rules.unit)
    if rules.min_nonzero_quota:
        document["min_nonzero_project_quota"] = rules.min_nonzero_quota
    document["min_acceptable_quota"] = _bound(explanation.bounds.minimum)
    document["max_acceptable_quota"] = _bound(explanation.bounds.maximum)
    if explanation.warning is not None:
        document["warnings"] = [explanation.warning]
    if explanation.growth is not None:
        document["growth"] = render_autogrow(explanation.growth)
    if with_origin and explanation.origin is not None:
        document["origin"] = render_change(catalog, explanation.origin)
    return document


def _figures(figures: ProjectFigures | DomainFigures) -> Json:
    if isinstance(figures, ProjectFigures):
        return {
            "usage": figures.usage,
            "committed": figures.committed,
            "projects_quota": figures.projects_quota,
            "domain_quota": figures.domain_quota,
            "capacity": figures.capacity,
        }
    return {
        "projects_quota": figures.projects_quota,
        "other_domains_quota": figures.other_domains_quota,
        "capacity": figures.capacity,
    }


def _bound(bound: Bound) -> Json:
    return {"quota": bound.quota, "rule": bound.because.rule.value, "message": bound.because.message}
