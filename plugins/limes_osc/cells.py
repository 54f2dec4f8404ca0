"""Cells that people and programs see differently, other than amounts and times."""

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

from cliff.columns import FormattableColumn

from limes_osc.amounts import Amount


class ByDuration(FormattableColumn[dict[str, int | float]]):
    """Amounts of commitments by duration: a line for each, such as `10 (1 year)`; for programs an object."""

    def __init__(self, amounts: Mapping[str, Amount]) -> None:
        super().__init__({duration: amount.machine_readable() for duration, amount in amounts.items()})
        self._amounts = dict(amounts)

    def human_readable(self) -> str:
        """See above."""
        return "\n".join(f"{amount.human_readable()} ({duration})" for duration, amount in self._amounts.items())


class Listed(FormattableColumn[list[Any]]):
    """A list of objects that only backends know: people see how many, programs see all."""

    def human_readable(self) -> str:
        """Returns the number of objects."""
        return str(len(self._value))


class Text(FormattableColumn[Any]):
    """A value with other words for people, or the same words in lines that fit tables."""

    def __init__(self, value: Any, words: str | None = None, width: int = 30) -> None:
        """`words` may have line breaks of their own."""
        super().__init__(value)
        self._words = str(value) if words is None else words
        self._width = width

    def human_readable(self) -> str:
        """See above."""
        lines = self._words.splitlines()
        return "\n".join(part for line in lines for part in wrap(line, self._width, break_on_hyphens=False) or [""])


_STARTS_OF_FORMULAS = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def without_formula(cell: Any) -> Any:
    """Returns a cell for CSV: text that a spreadsheet would run as a formula gets an apostrophe in front, as in the CSV
    of the API. Names come from users."""
    value = cell.machine_readable() if isinstance(cell, FormattableColumn) else cell
    is_formula = isinstance(value, str) and value.lstrip(" ")[:1] in _STARTS_OF_FORMULAS
    return f"'{value}" if is_formula else cell
