"""The outcome of setting a quota."""

from typing import Annotated, Literal

from pydantic import Field

from limes.api.answers import TemporaryQuota, render_temporary, unit_of
from limes.catalog.catalog import Catalog, Ref
from limes.kernel.units import Unit as UnitOfResource
from limes.kernel.validation.shape import Amount, Shape, Unit
from limes.quota import changes, hierarchy
from limes.web.errors import shortened

RefusalStatus = Literal[403, 409, 422]
_STATUS: dict[hierarchy.RefusalKind, RefusalStatus] = {
    hierarchy.RefusalKind.FORBIDDEN: 403,
    hierarchy.RefusalKind.CONFLICT: 409,
    hierarchy.RefusalKind.INVALID: 422,
}


def status_of(outcome: changes.QuotaOutcome, success: int) -> int:
    """Returns the status that all refusals agree on, else 422; `success` if there are none."""
    statuses: set[int] = {_STATUS[refusal.kind] for refusal in outcome.refusals.values()} or {success}
    return statuses.pop() if len(statuses) == 1 else 422


class UnacceptableResource(Shape):
    """A quota that would be refused, why, and what would be accepted."""

    service_type: str
    name: str
    resource_name: str
    status: RefusalStatus
    message: str
    min_acceptable_quota: Amount | None = None
    max_acceptable_quota: Amount | None = None
    unit: Unit | None = None


class EndingQuota(Shape):
    """A quota that will end by itself, and what it would be then if usage and commitments allow that."""

    service_type: str
    name: str
    temporary_quota: TemporaryQuota
    gives_back: Annotated[int, Field(ge=0, description="at its end")]
    unit: Unit | None = None


class SimulationAnswer(Shape):
    """What PUT would answer."""

    success: bool
    temporary_quotas: list[EndingQuota] = []
    warnings: list[str] = []
    unacceptable_resources: list[UnacceptableResource] = []


def render_simulation(catalog: Catalog, outcome: changes.QuotaOutcome) -> SimulationAnswer:
    """The document of simulate-put, sorted by service and resource."""
    if outcome.refusals:
        refused = [_unacceptable(ref, outcome.refusals[ref]) for ref in sorted(outcome.refusals)]
        return SimulationAnswer(success=False, unacceptable_resources=refused)
    ending = [
        EndingQuota(
            service_type=ref[0],
            name=ref[1],
            temporary_quota=render_temporary(each.temporary, each.present),
            gives_back=each.gives_back,
            unit=unit_of(catalog, ref),
        )
        for ref, each in sorted(outcome.ending.items())
    ]
    return SimulationAnswer(success=True, temporary_quotas=ending, warnings=list(outcome.warnings))


def _unacceptable(ref: Ref, refusal: hierarchy.Refusal) -> UnacceptableResource:
    service_type, name = map(shortened, ref)
    has_bounds = refusal.minimum is not None or refusal.maximum is not None
    return UnacceptableResource(
        service_type=service_type,
        name=name,
        resource_name=name,  # the original's name of the same field
        status=_STATUS[refusal.kind],
        message=shortened(refusal.message),
        min_acceptable_quota=refusal.minimum,
        max_acceptable_quota=refusal.maximum,
        unit=(refusal.unit.value or None) if has_bounds and refusal.unit is not None else None,
    )


def render_refusals(outcome: changes.QuotaOutcome, level: str, what: str = "quota") -> str:
    """Returns the text of a refused PUT of quotas, or of something else of theirs: one line for each resource."""
    lines = []
    for ref, refusal in outcome.refusals.items():
        shown = (refusal.unit or UnitOfResource.COUNT).render
        ends = (("minimum", refusal.minimum), ("maximum", refusal.maximum))
        bounds = [f"{word} acceptable {level} quota is {shown(end)}" for word, end in ends if end is not None]
        suffix = f" ({', '.join(bounds)})" if bounds else ""
        lines.append(f"cannot change {'/'.join(ref)} {what}: {refusal.message}{suffix}")
    return "\n".join(sorted(lines))


def render_acceptance(outcome: changes.QuotaOutcome) -> str | None:
    """Returns the text of a 202, if there is something to say: which backends do not have the quota yet, and
    warnings."""
    problem = "some error(s) occurred while trying to write the quotas into the backend services"
    head = f"quotas have been accepted, but {problem}:"
    texts = [head, *outcome.backend_errors] if outcome.backend_errors else []
    if outcome.warnings:
        texts.append(render_warnings(outcome))
    return "\n".join(texts) or None


def render_warnings(outcome: changes.QuotaOutcome, what: str = "quotas have") -> str:
    return "\n".join([f"{what} been accepted, with a warning:", *outcome.warnings])
