"""What setting a domain's and a project's quota have in common: the request, the outcome, reading it into units."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from limes.actions.trail import RefusedQuota, Trail
from limes.audit.cadf import Scope
from limes.core.catalog import Catalog, Ref, ResourceDef
from limes.core.hierarchy import NO_QUOTA, NO_SUCH_RESOURCE, NO_SUCH_SERVICE, Refusal, invalid_value
from limes.core.history import QuotaStep
from limes.core.permissions import Permissions
from limes.core.units import MAX_AMOUNT, Unit, UnitError, convert


@dataclass(frozen=True, slots=True)
class QuotaChange:
    """A wanted quota. `unit` is the name of the unit of the amount; None means the resource's own."""

    ref: Ref
    amount: int
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class ChangedQuota:
    """A quota that was changed, in the resource's unit."""

    ref: Ref
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class QuotaOutcome:
    """Nothing is refused and `changed` says what was (or, in a dry run, would be) changed; or nothing changed."""

    refusals: Mapping[Ref, Refusal] = field(default_factory=dict)
    changed: Sequence[ChangedQuota] = ()
    backend_errors: Sequence[str] = ()
    """Why backends could not be told yet. The quotas are accepted all the same."""
    attempted: Sequence[ChangedQuota] = ()
    """What would have changed, where something is refused."""
    repaired: Sequence[str] = ()
    """Services whose quota stays what it is, and whose backends are told it again, as they enforce another one."""
    warnings: Sequence[str] = ()
    """What the caller should know of quotas that are acceptable."""


PermissionSource = Callable[[Ref], Permissions]
"""What the caller may do to the quota of a resource. Asked before the transaction: policy rules cost time."""


def decide(
    wanted: Mapping[Ref, int],
    refusals: Mapping[Ref, Refusal],
    present: Callable[[Ref], int],
    judge: Callable[[Ref, int], Refusal | None],
) -> QuotaOutcome:
    """Judges every value that differs from the present one. One refusal, or one from before, refuses all."""
    found = dict(refusals)
    attempted: list[ChangedQuota] = []
    for ref, quota in wanted.items():
        if quota == present(ref):
            continue
        attempted.append(ChangedQuota(ref, present(ref), quota))
        refusal = judge(ref, quota)
        if refusal is not None:
            found[ref] = refusal
    return QuotaOutcome(found, attempted=attempted) if found else QuotaOutcome(changed=attempted)


def read_changes(catalog: Catalog, changes: Iterable[QuotaChange]) -> tuple[dict[Ref, int], dict[Ref, Refusal]]:
    """The wanted values in each resource's unit, and what is wrong with the others."""
    wanted: dict[Ref, int] = {}
    refusals: dict[Ref, Refusal] = {}
    for change in changes:
        resource = catalog.find(change.ref)
        if resource is None:
            known = change.ref[0] in catalog.services
            refusals[change.ref] = NO_SUCH_RESOURCE if known else NO_SUCH_SERVICE
        elif not resource.tracks_quota:
            refusals[change.ref] = NO_QUOTA
        else:
            try:
                wanted[change.ref] = _amount(change, resource)
            except UnitError as error:
                refusals[change.ref] = invalid_value(str(error))
    return wanted, refusals


def _amount(change: QuotaChange, resource: ResourceDef) -> int:
    if change.unit is not None:
        return convert(change.amount, change.unit, resource.unit)
    if change.amount > MAX_AMOUNT:
        raise UnitError(
            f"value of {resource.unit.render(change.amount)} is too large:"
            f" the maximum is {resource.unit.render(MAX_AMOUNT)}"
        )
    return change.amount


SPOILT = "cannot commit this because other values in this request are unacceptable"


def write_trail(trail: Trail, catalog: Catalog, scope: Scope, outcome: QuotaOutcome) -> None:
    """Writes down what a request has changed, or that it was refused. Belongs into the transaction of the request."""
    if not outcome.refusals:
        steps = [QuotaStep(one.ref, _unit(catalog, one.ref), one.old, one.new) for one in outcome.changed]
        trail.quotas(scope, steps)
    elif trail.has_sinks:
        trail.refused(scope, _refused(catalog, outcome))


def _refused(catalog: Catalog, outcome: QuotaOutcome) -> list[RefusedQuota]:
    """All of the request's quotas that would have changed, and those that could not even be read."""
    attempted = {one.ref: one for one in outcome.attempted}
    refs = [ref for ref in {**attempted, **outcome.refusals} if catalog.find(ref) is not None]
    found = []
    for ref in refs:
        refusal, wanted = outcome.refusals.get(ref), attempted.get(ref)
        message = refusal.message if refusal else SPOILT
        old, new = (wanted.old, wanted.new) if wanted else (None, None)
        found.append(RefusedQuota(ref, _unit(catalog, ref), old, new, message))
    return found


def _unit(catalog: Catalog, ref: Ref) -> Unit:
    resource = catalog.find(ref)
    assert resource is not None
    return resource.unit
