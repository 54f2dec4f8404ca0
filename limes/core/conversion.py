"""Converting commitments between resources: whole numbers only, at rates that follow from configured weights.

A group gives each of its resources a weight: so much is one of it worth. A conversion keeps the worth exactly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from limes.core.catalog import Ref
from limes.errors import Unprocessable

ConversionGroup = Mapping[Ref, int]
"""Weights, each above zero."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`source` of one resource become `target` of another; both as small as possible."""

    source: int
    target: int

    def apply(self, source_amount: int) -> int:
        """What so much becomes. Raises `Unprocessable` where it would not be a whole number."""
        if source_amount % self.source:
            raise Unprocessable(f"the amount to convert must be a multiple of {self.source}")
        return source_amount // self.source * self.target


def rates(groups: Sequence[ConversionGroup], source: Ref) -> dict[Ref, Rate]:
    """What a commitment of this resource can become, and at which rate; the first group that has both counts."""
    found: dict[Ref, Rate] = {}
    for group in groups:
        if source not in group:
            continue
        for target, weight in group.items():
            if target != source and target not in found:
                divisor = gcd(weight, group[source])
                found[target] = Rate(weight // divisor, group[source] // divisor)
    return found
