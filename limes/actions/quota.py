"""What setting a domain's and a project's quota have in common: the request, the outcome, reading it into units."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from limes.core.catalog import Catalog, Ref, ResourceDef
from limes.core.hierarchy import NO_QUOTA, NO_SUCH_RESOURCE, NO_SUCH_SERVICE, Refusal, invalid_value
from limes.core.permissions import Permissions
from limes.core.units import MAX_AMOUNT, UnitError, convert


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
    changed = []
    for ref, quota in wanted.items():
        if quota == present(ref):
            continue
        refusal = judge(ref, quota)
        if refusal is not None:
            found[ref] = refusal
        else:
            changed.append(ChangedQuota(ref, present(ref), quota))
    return QuotaOutcome(found) if found else QuotaOutcome(changed=changed)


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
