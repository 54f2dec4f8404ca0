"""Values of tables that people and programs read differently: amounts, amounts by duration, and times."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from cliff.columns import FormattableColumn

from limes.core.units import Unit, find_unit
from limes_osc.amounts import exact, in_unit, rounded


def unit_of(document: Mapping[str, Any]) -> Unit:
    """The unit that a resource's document names; that of counted resources if it names none."""
    return find_unit(document.get("unit", "")) or Unit.COUNT


def shown(unit: Unit, wanted: Unit | None) -> Unit:
    """The unit for a resource if the user asks for `wanted`: its own where that is None, or the resource counted."""
    return wanted if wanted is not None and unit.is_measured else unit


def shown_unit(document: Mapping[str, Any], wanted: Unit | None) -> str:
    """The same, for the column `Unit`."""
    return shown(unit_of(document), wanted).value


class Amount(FormattableColumn[int | float]):
    """An amount: for people with a unit that suits its size, for programs a number of the unit in the column `Unit`."""

    def __init__(self, amount: int, unit: Unit, wanted: Unit | None = None, *, exactly: bool = False) -> None:
        """`wanted` is a unit that the user asks for. `exactly` shows every byte to people, too."""
        super().__init__(in_unit(amount, unit, shown(unit, wanted)))
        self._amount, self._unit = amount, unit
        if wanted is not None:
            self._text = _fixed(self._value, shown(unit, wanted))
        else:
            self._text = exact(amount, unit) if exactly else rounded(amount, unit)

    def human_readable(self) -> str:
        """Such as `200 GiB`."""
        return self._text

    def __lt__(self, other: object) -> bool:
        """In bytes, so that columns of different units are sorted by size."""
        if not isinstance(other, Amount):
            return NotImplemented
        return self._amount * self._unit.multiplier < other._amount * other._unit.multiplier


def _fixed(number: int | float, unit: Unit) -> str:
    """`number` of a unit that was asked for."""
    if number < 0:
        return "unlimited"
    return unit.render(number) if isinstance(number, int) else f"{number:.2f} {unit.value}".lstrip()


class ByDuration(FormattableColumn[dict[str, int | float]]):
    """Amounts of commitments by duration: `10 (1 year), 5 (2 years)`; for programs an object."""

    def __init__(self, amounts: Mapping[str, Amount]) -> None:
        super().__init__({duration: amount.machine_readable() for duration, amount in amounts.items()})
        self._amounts = dict(amounts)

    def human_readable(self) -> str:
        """See above."""
        return ", ".join(f"{amount.human_readable()} ({duration})" for duration, amount in self._amounts.items())


class Listed(FormattableColumn[list[Any]]):
    """A list of objects that only backends know: people see how many, programs see all."""

    def human_readable(self) -> str:
        """The number of objects."""
        return str(len(self._value))


def time(seconds: float | None) -> str | None:
    """A UNIX time as ISO 8601 in UTC: `2026-01-01T00:00:00Z`."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
