"""Quota constraints: what an operator wants a quota to be at least, at most or exactly.

Clauses, joined by commas: `at least V`, `at most V`, `exactly V`; for domains also `at least V more than project
constraints`, which adds the minima of the constraints of the domain's projects.
"""

import re
from dataclasses import dataclass

from limes.core.units import MAX_AMOUNT, Unit, UnitError, parse_value


@dataclass(frozen=True, slots=True)
class Constraint:
    """Bounds of a quota, in its unit. None where there is no bound. The minimum never exceeds the maximum."""

    minimum: int | None = None
    maximum: int | None = None

    def allows(self, value: int) -> bool:
        """Whether a quota of this value is within the bounds."""
        return self.apply_to(value) == value

    def apply_to(self, value: int) -> int:
        """The nearest value within the bounds."""
        if self.minimum is not None and value < self.minimum:
            return self.minimum
        if self.maximum is not None and value > self.maximum:
            return self.maximum
        return value

    def render(self, unit: Unit) -> str:
        """The constraint in the words of its file: `exactly 5 GiB`, `at least 5, at most 10`."""
        if self.minimum is not None and self.minimum == self.maximum:
            return f"exactly {unit.render(self.minimum)}"
        parts = []
        if self.minimum is not None:
            parts.append(f"at least {unit.render(self.minimum)}")
        if self.maximum is not None:
            parts.append(f"at most {unit.render(self.maximum)}")
        return ", ".join(parts)


_CLAUSE = re.compile(r"(at least|at most|exactly)\s+(.+?)(\s+more than project constraints)?\Z")


def parse_constraint(text: str, unit: Unit, projects_minimum: int | None) -> Constraint:
    """A constraint as it is written in the file.

    `projects_minimum` is the sum of the minima of the domain's projects, or None where the constraint is a project's.
    Raises `UnitError` for a clause that cannot be read and for clauses that contradict each other.
    """
    minimum: int | None = None
    maximum: int | None = None
    for clause in text.split(","):
        match = _CLAUSE.match(clause.strip())
        if match is None:
            raise UnitError(
                f'clause {clause.strip()!r} should start with "at least", "at most" or "exactly", and a value'
            )
        value = parse_value(match[2], unit)
        if match[3]:
            if match[1] != "at least" or projects_minimum is None:
                raise UnitError('"more than project constraints" goes with "at least", and with domains only')
            value += projects_minimum
            if value > MAX_AMOUNT:
                raise UnitError(
                    f"with the project constraints this is {unit.render(value)}: the maximum is {MAX_AMOUNT}"
                )
        if match[1] in ("at least", "exactly"):
            minimum = value if minimum is None else max(minimum, value)
        if match[1] in ("at most", "exactly"):
            maximum = value if maximum is None else min(maximum, value)
    if minimum is not None and maximum is not None and minimum > maximum:
        raise UnitError(f"constraint clauses cannot simultaneously be satisfied: {text!r}")
    return Constraint(minimum, maximum)
