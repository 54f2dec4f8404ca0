"""The configured rules for commitments, and the conversion rates that follow from them.

A conversion group gives each of its resources a weight, the worth of one unit of it. A conversion keeps the total worth
exactly, in whole units.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from pydantic import Field, PositiveInt, model_validator

from limes.core.catalog import Ref
from limes.errors import Unprocessable
from limes.validation.durations import Seconds, SecondsOrZero
from limes.validation.sections import ResourcePath, Section

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
    one made from it. Events stay for good."""
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


@dataclass(frozen=True, slots=True)
class Rate:
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
