"""Units of measured resources. Amounts are integers. A conversion is exact or refused; nothing wraps or is rounded.

Capacity: from the raw capacity of a backend to what may be given out.
"""

import enum
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from limes.kernel.errors import LimesError

MAX_STORED = 2**63 - 1
"""The largest integer of the databases (BIGINT). Backends say "unlimited" with it; it is no valid amount."""

MAX_AMOUNT = MAX_STORED - 1
"""The largest single amount in any unit (in bytes: 8 EiB less 2). See docs/adr/0005-largest-amount.md."""


class UnitError(LimesError):
    """A value cannot be expressed in the wanted unit. The message says why in the words that clients know."""


class Unit(enum.StrEnum):
    """A unit, by the name that the API shows. `COUNT` (the empty string) is that of counted resources."""

    COUNT = ""
    BYTES = "B"
    KIB = "KiB"
    MIB = "MiB"
    GIB = "GiB"
    TIB = "TiB"
    PIB = "PiB"
    EIB = "EiB"

    @property
    def multiplier(self) -> int:
        """How many bytes (or things) this unit is."""
        return _MULTIPLIERS[self]

    @property
    def is_measured(self) -> bool:
        """False for counted resources only."""
        return self is not Unit.COUNT

    def render(self, value: int) -> str:
        """Returns `value` with its unit, as in messages: `5 GiB`, or just `5` for a counted resource."""
        return f"{value} {self.value}" if self.is_measured else str(value)


_MULTIPLIERS = {unit: 1 if index == 0 else 1024 ** (index - 1) for index, unit in enumerate(Unit)}


def find_unit(name: str) -> Unit | None:
    try:
        return Unit(name)
    except ValueError:
        return None


def convert(value: int, source: str, target: Unit) -> int:
    """Converts `value` from the unit named `source` into the unit `target`. Raises `UnitError` for an unknown unit, for
    units of different kinds, where the result would not be a whole number, and where it would be too large to store."""
    unit = find_unit(source)
    if unit is None or unit.is_measured != target.is_measured:
        shown = source or "<count>"
        raise UnitError(
            f"cannot convert value from {shown} to {target.value or '<count>'} because units are incompatible"
        )
    total = value * unit.multiplier
    if total % target.multiplier != 0:
        raise UnitError(f"value of {unit.render(value)} cannot be represented as integer number of {target.value}")
    result = total // target.multiplier
    if result > MAX_AMOUNT:
        raise UnitError(f"value of {unit.render(value)} is too large: the maximum is {target.render(MAX_AMOUNT)}")
    return result


_VALUE = re.compile(r"\s*([0-9]+)\s*([A-Za-z]*)\s*\Z")


def parse_value(text: str, target: Unit) -> int:
    """Reads a value from the configuration (`10`, `10 GiB`), in the unit `target`. Values of measured resources need a
    unit; those of counted ones must have none. Raises `UnitError`."""
    match = _VALUE.match(text)
    if match is None:
        example = "10 GiB" if target.is_measured else "10"
        raise UnitError(f"{text!r} is not a value (expected for example {example!r})")
    return convert(int(match[1]), match[2], target)


def effective_capacity(raw_capacity: int, overcommit_factor: float) -> int:
    """Returns the raw capacity times the overcommit factor (0: no overcommit), rounded down."""
    if not overcommit_factor:
        return raw_capacity
    return int(raw_capacity * Fraction(str(overcommit_factor)))


def effective_total(raw_capacities: Iterable[int], overcommit_factor: float) -> int:
    """Returns the total over AZs. The raw sum is what is rounded, so it can exceed the sum of the AZs' rounded values.
    Source: the original (100 and 101 times 1.5 are shown as 150 and 151, in total 301)."""
    return effective_capacity(sum(raw_capacities), overcommit_factor)


def falls(kept: Mapping[str, int], reported: Mapping[str, int], tolerated: int) -> bool:
    """Returns whether capacity by AZ is missing where there was some, or has become less by more than this many
    percent. Each AZ counts by itself: what is missing in one is not made up for by more in another one."""
    least = 100 - tolerated
    return any(amount and (az not in reported or 100 * reported[az] < least * amount) for az, amount in kept.items())


def beyond_capacity(ref: tuple[str, str], unit: Unit, domains_quota: int, capacity: int) -> str | None:
    """Returns the warning where all domains together have more quota than there is capacity (0: none is known)."""
    if not capacity or domains_quota <= capacity:
        return None
    return (
        f"the quotas of all domains for {ref[0]}/{ref[1]} add up to {unit.render(domains_quota)}, but the capacity is"
        f" {unit.render(capacity)}: not all of it can be used at the same time"
    )
