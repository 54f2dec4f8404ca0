"""What is asked for with a new commitment, and whether that makes sense at all. Capacity is another question."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from limes.core.catalog import ANY_AZ, Behavior, Catalog, Ref, ResourceDef
from limes.core.commitments import end_of
from limes.core.durations import DurationError, parse_duration
from limes.core.units import MAX_AMOUNT
from limes.errors import BadRequest, Unprocessable

_FARTHEST = 100 * 366 * 86400.0
"""How far ahead a commitment may begin, in seconds: what is farther is a mistake."""


@dataclass(frozen=True, slots=True)
class CommitmentRequest:
    """A wanted commitment. `amount` is in the resource's unit, `confirm_by` in seconds since the epoch."""

    ref: Ref
    az: str
    amount: int
    duration: str
    confirm_by: int | None = None

    def canonical(self) -> str:
        """The same text for all requests that ask for the same."""
        return json.dumps([*self.ref, self.az, self.amount, canonical_duration(self.duration), self.confirm_by])


def canonical_duration(text: str) -> str:
    """The duration in the form in which durations are compared. Raises `BadRequest`."""
    try:
        return str(parse_duration(text))
    except DurationError as error:
        raise BadRequest(f"request body is not valid JSON: {error}") from None


def check_request(request: CommitmentRequest, catalog: Catalog) -> Behavior:
    """All that does not depend on time: resource, AZ, duration, amount. Raises `Unprocessable` and `BadRequest`."""
    resource, behavior = committable_resource(request.ref, catalog)
    check_az(request.az, behavior, catalog)
    check_duration(canonical_duration(request.duration), behavior)
    check_amount(request.amount, resource)
    return behavior


def committable_resource(ref: Ref, catalog: Catalog) -> tuple[ResourceDef, Behavior]:
    """The resource, which must allow commitments, and how it behaves. Scopes do not count (source: the original)."""
    resource = catalog.find(ref)
    if resource is None:
        raise Unprocessable("no such resource" if ref[0] in catalog.services else "no such service")
    behavior = catalog.behavior(ref)
    if not behavior.commitment_durations:
        raise Unprocessable("commitments are not enabled for this resource")
    return resource, behavior


def check_az(az: str, behavior: Behavior, catalog: Catalog) -> None:
    """Raises `Unprocessable` for an AZ that commitments of this resource cannot be in; an empty one is missing."""
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
    """The AZs that commitments of a resource can be in."""
    return catalog.availability_zones if behavior.commitment_is_az_aware else (ANY_AZ,)


def check_duration(duration: str, behavior: Behavior) -> None:
    """Raises `Unprocessable` for a canonical duration that is not on offer."""
    if duration not in behavior.commitment_durations:
        raise Unprocessable(
            "unacceptable commitment duration for this resource,"
            f" acceptable values: {_list(behavior.commitment_durations)}"
        )


def check_amount(amount: int, resource: ResourceDef) -> None:
    """Raises `Unprocessable` for an amount that cannot be."""
    if amount <= 0:
        raise Unprocessable("amount of committed resource must be greater than zero")
    if amount > MAX_AMOUNT:
        raise Unprocessable(f"amount is too large: the maximum is {resource.unit.render(MAX_AMOUNT)}")


def check_times(request: CommitmentRequest, behavior: Behavior, now: float) -> None:
    """Whether the commitment may begin when it is wanted to. Raises `Unprocessable`."""
    start = request.confirm_by
    if start is not None and start < int(now):  # clients count whole seconds: the present one is not past
        raise Unprocessable("confirm_by must not be set in the past")
    if start is not None and start > now + _FARTHEST:
        raise Unprocessable(f"confirm_by is too far in the future: at most {int(now + _FARTHEST)} is possible")
    check_earliest(now if start is None else start, behavior)


def check_earliest(start: float, behavior: Behavior) -> None:
    """Raises `Unprocessable` for a commitment that would begin before the first are to be confirmed."""
    earliest = behavior.commitment_min_confirm_date
    if earliest is not None and start < earliest:
        date = datetime.fromtimestamp(earliest, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        raise Unprocessable(f"this commitment needs a `confirm_by` timestamp at or after {date}")


def expiry(request: CommitmentRequest, now: float) -> float:
    """When it ends: counted from `confirm_by`, or from now."""
    start = now if request.confirm_by is None else float(request.confirm_by)
    return end_of(start, canonical_duration(request.duration))


def _list(values: tuple[str, ...]) -> str:
    return json.dumps(values, separators=(",", ":"))
