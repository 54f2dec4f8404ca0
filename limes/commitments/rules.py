"""The configured rules for commitments, the conversion rates that follow from them, and what can be said of a request
without looking at capacity.

A conversion group gives each of its resources a weight, the worth of one unit of it. A conversion keeps the total worth
exactly, in whole units.

Commitments guarantee that their amount can be used, so quota cannot be lowered below them. A project may commit beyond
its quota, as in the original: the capacity is set aside, and the quota may be raised later. Until then the rest cannot
be used, which the project is warned of.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from math import gcd

from msgspec import Struct
from pydantic import Field, PositiveInt, model_validator

from limes.catalog.catalog import ANY_AZ, Behavior, Catalog, Ref, ResourceDef
from limes.commitments.commitment import canonical_duration, end_of
from limes.kernel.calendar import render_time
from limes.kernel.errors import Unprocessable
from limes.kernel.units import MAX_AMOUNT, Unit
from limes.kernel.validation.durations import Seconds, SecondsOrZero
from limes.kernel.validation.sections import ResourcePath, Section

ConversionGroup = Mapping[Ref, int]
"""Weights, each above zero."""


class CommitmentRules(Section):
    """What projects may do with their commitments."""

    self_delete_grace: SecondsOrZero = 0.0
    """How long after creating a commitment its project may delete it, even if it is confirmed. 0: never; only cloud
    admins delete, and only unconfirmed ones."""
    renewal_window: Seconds = 90 * 86400.0
    """How long before its end a commitment may be renewed."""
    auto_renewal_lead: Seconds = 28 * 86400.0
    """How long before its end a commitment with `auto_renew` is renewed; not before half of its time has passed, nor
    before `renewal_window`."""
    retention: Seconds = 30 * 86400.0
    """How long after their end commitments are kept. One that was split, merged or converted is deleted with the last
    one made from it. Events are kept forever."""
    use_days: int = Field(default=90, ge=1, le=3660)
    """How many days of daily usage by project are kept, for the utilisation report."""
    conversions: tuple[dict[ResourcePath, PositiveInt], ...] = ()
    """Groups of resources between which commitments can be converted: `service/resource`, each with the worth of one
    unit. A conversion keeps the total worth."""

    @model_validator(mode="after")
    def _kept_long_enough(self) -> "CommitmentRules":
        if self.self_delete_grace > self.retention:
            raise ValueError("self_delete_grace must not be longer than retention")
        return self


class Rate(Struct, frozen=True):
    """`source` units of one resource become `target` units of another, in lowest terms."""

    source: int
    target: int

    def apply(self, source_amount: int) -> int:
        """Returns the target amount. Raises `Unprocessable` where it would not be a whole number."""
        if source_amount % self.source:
            raise Unprocessable(f"the amount to convert must be a multiple of {self.source}")
        return source_amount // self.source * self.target


def conversion_rates(groups: Sequence[ConversionGroup], source: Ref) -> dict[Ref, Rate]:
    """Returns the rate for each resource that `source` can be converted to; the first group that has both counts."""
    rates: dict[Ref, Rate] = {}
    for group in groups:
        if source not in group:
            continue
        for target, weight in group.items():
            if target != source and target not in rates:
                divisor = gcd(weight, group[source])
                rates[target] = Rate(weight // divisor, group[source] // divisor)
    return rates


# -- requests ----------------------------------------------------------------------------------------------------------

_FARTHEST = 100 * 366 * 86400.0
"""How far ahead a commitment may begin, in seconds. Anything later is taken for a mistake."""


class CommitmentRequest(Struct, frozen=True):
    """A wanted commitment. `amount` is in the resource's unit, `confirm_by` in seconds since the epoch."""

    ref: Ref
    az: str
    amount: int
    duration: str
    confirm_by: int | None = None
    auto_renews: bool = False

    def canonical(self) -> str:
        """Returns a text that is equal for equal requests. Raises `DurationError`."""
        values = [*self.ref, self.az, self.amount, canonical_duration(self.duration), self.confirm_by]
        return json.dumps([*values, "auto_renew"] if self.auto_renews else values)


def check_request(request: CommitmentRequest, catalog: Catalog) -> Behavior:
    """Checks what does not depend on time: resource, AZ, duration, amount. Raises `Unprocessable`, `DurationError`."""
    resource, behavior = committable_resource(request.ref, catalog)
    check_az(request.az, behavior, catalog)
    check_duration(canonical_duration(request.duration), behavior)
    check_amount(request.amount, resource)
    return behavior


def committable_resource(ref: Ref, catalog: Catalog) -> tuple[ResourceDef, Behavior]:
    """Returns the resource and its behavior. Raises `Unprocessable` if it allows no commitments. Behavior for single
    domains or projects does not count (source: the original)."""
    resource = catalog.find(ref)
    if resource is None:
        raise Unprocessable("no such resource" if ref[0] in catalog.services else "no such service")
    behavior = catalog.behavior(ref)
    if not behavior.commitment_durations:
        raise Unprocessable("commitments are not enabled for this resource")
    return resource, behavior


def check_az(az: str, behavior: Behavior, catalog: Catalog) -> None:
    """Raises `Unprocessable` for an AZ that commitments to this resource cannot be in. An empty one was left out."""
    if not az:
        raise Unprocessable(
            f"availability_zone is needed, acceptable values: {_list(committable_azs(behavior, catalog))}"
        )
    if not behavior.commitment_is_az_aware:
        if az != ANY_AZ:
            raise Unprocessable('resource does not accept AZ-aware commitments, so the AZ must be set to "any"')
    elif az not in catalog.availability_zones:
        raise Unprocessable(f"no such availability zone, acceptable values: {_list(catalog.availability_zones)}")


def committable_azs(behavior: Behavior, catalog: Catalog) -> tuple[str, ...]:
    return catalog.availability_zones if behavior.commitment_is_az_aware else (ANY_AZ,)


def az_aware_refs(catalog: Catalog) -> list[Ref]:
    return [ref for ref, behavior in _committable(catalog) if behavior.commitment_is_az_aware]


def pooled_refs(catalog: Catalog) -> list[Ref]:
    return [ref for ref, behavior in _committable(catalog) if not behavior.commitment_is_az_aware]


def _committable(catalog: Catalog) -> Iterator[tuple[Ref, Behavior]]:
    for ref in catalog.refs():
        behavior = catalog.behavior(ref)
        if behavior.commitment_durations:
            yield ref, behavior


def refs_without_zones(catalog: Catalog) -> list[Ref]:
    """Returns those of `az_aware_refs` whose backend declares that it does not report usage by AZ."""
    return [ref for ref in az_aware_refs(catalog) if (resource := catalog.find(ref)) and not resource.az_aware]


def check_duration(duration: str, behavior: Behavior) -> None:
    if duration not in behavior.commitment_durations:
        raise Unprocessable(
            "unacceptable commitment duration for this resource,"
            f" acceptable values: {_list(behavior.commitment_durations)}"
        )


def check_amount(amount: int, resource: ResourceDef) -> None:
    if amount <= 0:
        raise Unprocessable("amount of committed resource must be greater than zero")
    if amount > MAX_AMOUNT:
        raise Unprocessable(f"amount is too large: the maximum is {resource.unit.render(MAX_AMOUNT)}")


def check_times(request: CommitmentRequest, behavior: Behavior, now: float) -> None:
    """Checks when the commitment is to begin. Raises `Unprocessable`."""
    start = request.confirm_by
    if start is not None and start < int(now):  # clients count whole seconds: the present one is not past
        raise Unprocessable("confirm_by must not be set in the past")
    if start is not None and start > now + _FARTHEST:
        raise Unprocessable(f"confirm_by is too far in the future: at most {render_time(now + _FARTHEST)} is possible")
    check_earliest(now if start is None else start, behavior)


def check_earliest(start: float, behavior: Behavior) -> None:
    earliest = behavior.commitment_min_confirm_date
    if earliest is not None and start < earliest:
        raise Unprocessable(too_early(behavior))


def too_early(behavior: Behavior) -> str:
    date = render_time(behavior.commitment_min_confirm_date or 0.0)
    return f"this commitment needs a `confirm_by` timestamp at or after {date}"


def expiry(request: CommitmentRequest, now: float) -> float:
    start = now if request.confirm_by is None else float(request.confirm_by)
    return end_of(start, canonical_duration(request.duration))


def warn_beyond_quota(ref: Ref, unit: Unit, committed: int, quota: int | None) -> str | None:
    """Returns the warning for a project that has committed to more than its quota (None: no quota is tracked)."""
    if quota is None or committed <= quota:
        return None
    return (
        f"the project's commitments to {ref[0]}/{ref[1]} add up to {unit.render(committed)}, but its quota is"
        f" {unit.render(quota)}: what is beyond it cannot be used before the quota is raised"
    )


def _list(values: tuple[str, ...]) -> str:
    return json.dumps(values, separators=(",", ":"))
