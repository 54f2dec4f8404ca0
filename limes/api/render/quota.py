"""The outcome of PUT and simulate-put."""

from limes.actions.quota_changes import QuotaOutcome
from limes.api.shapes.others import RefusalStatus, SimulationAnswer, UnacceptableResource
from limes.core.catalog import Ref
from limes.core.hierarchy import Refusal, RefusalKind
from limes.core.units import Unit

_STATUS: dict[RefusalKind, RefusalStatus] = {
    RefusalKind.FORBIDDEN: 403,
    RefusalKind.CONFLICT: 409,
    RefusalKind.INVALID: 422,
}


def status_of(outcome: QuotaOutcome, success: int) -> int:
    """The status that all refusals agree on, else 422; `success` if there are none."""
    statuses = {_STATUS[refusal.kind] for refusal in outcome.refusals.values()}
    if not statuses:
        return success
    return statuses.pop() if len(statuses) == 1 else 422


def render_simulation(outcome: QuotaOutcome) -> SimulationAnswer:
    """The document of simulate-put, sorted by service and resource."""
    if not outcome.refusals:
        return {"success": True, "warnings": list(outcome.warnings)} if outcome.warnings else {"success": True}
    return {
        "success": False,
        "unacceptable_resources": [_unacceptable(ref, outcome.refusals[ref]) for ref in sorted(outcome.refusals)],
    }


def _unacceptable(ref: Ref, refusal: Refusal) -> UnacceptableResource:
    document: UnacceptableResource = {
        "service_type": ref[0],
        "name": ref[1],
        # the original's name of the same field
        "resource_name": ref[1],
        "status": _STATUS[refusal.kind],
        "message": refusal.message,
    }
    if refusal.minimum is not None:
        document["min_acceptable_quota"] = refusal.minimum
    if refusal.maximum is not None:
        document["max_acceptable_quota"] = refusal.maximum
    has_bounds = refusal.minimum is not None or refusal.maximum is not None
    if has_bounds and refusal.unit is not None and refusal.unit.is_measured:
        document["unit"] = refusal.unit.value
    return document


def render_refusals(outcome: QuotaOutcome, level: str) -> str:
    """The text of a refused PUT: one line a resource, sorted."""
    return "\n".join(sorted(_line(ref, refusal, level) for ref, refusal in outcome.refusals.items()))


def _line(ref: Ref, refusal: Refusal, level: str) -> str:
    unit = refusal.unit or Unit.COUNT
    bounds = [
        f"{word} acceptable {level} quota is {unit.render(value)}"
        for word, value in (("minimum", refusal.minimum), ("maximum", refusal.maximum))
        if value is not None
    ]
    suffix = f" ({', '.join(bounds)})" if bounds else ""
    return f"cannot change {ref[0]}/{ref[1]} quota: {refusal.message}{suffix}"


def render_backend_errors(outcome: QuotaOutcome) -> str:
    """The text that goes with a 202 when backends could not be told yet."""
    head = (
        "quotas have been accepted, but some error(s) occurred while trying to write the quotas into the backend"
        " services:"
    )
    return "\n".join([head, *outcome.backend_errors])


def render_warnings(outcome: QuotaOutcome) -> str:
    """The text that goes with a 202 where the caller should know something."""
    return "\n".join(["quotas have been accepted, with a warning:", *outcome.warnings])
