"""The configured rules for commitments, and the conversion rates that follow from them.

A conversion group gives each of its resources a weight, the worth of one unit of it. A conversion keeps the total worth
exactly, in whole units.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from limes.core.catalog import Ref
from limes.errors import Unprocessable

ConversionGroup = Mapping[Ref, int]
"""Weights, each above zero."""


@dataclass(frozen=True, slots=True)
class CommitmentRules:
    """The rules for all commitments. Durations are in seconds."""

    self_delete_grace: float = 0.0
    """How long a project may delete a commitment after making it, even a confirmed one."""
    renewal_window: float = 90 * 86400.0
    """How long before its end a commitment may be renewed."""
    auto_renewal_lead: float = 28 * 86400.0
    """How long before its end a commitment is renewed that renews itself."""
    retention: float = 30 * 86400.0
    """How long commitments are kept after their end."""
    use_days: int = 90
    """How many days of utilisation figures are kept."""
    conversions: tuple[ConversionGroup, ...] = ()
    """The groups of resources between which commitments can be converted."""


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
