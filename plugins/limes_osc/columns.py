"""The columns of tables: which are shown to whom, by which names, in which order, and what is in their cells."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from textwrap import wrap
from typing import Any

from cliff.columns import FormattableColumn
from osc_lib.exceptions import CommandError

from limes.kernel.units import Unit
from limes_osc.client import Json
from limes_osc.names import suggest
from limes_osc.values import Amount, Moment, display_unit, duration, unit_of

Row = dict[str, Any]
"""Cells by column title."""
Cell = str | Callable[[Json, Unit | None], Any]
"""Where the value of a cell is in a document, such as `project.domain.name`; or a function of the document and of the
unit that the user asks for."""

KEYED = ("json", "yaml")
"""The formats that name columns by keys."""


@dataclass(frozen=True, slots=True)
class Columns:
    cells: Mapping[str, Cell]
    """By the titles of a table, in their order."""
    optional: Collection[str] = ()
    """Tables for people leave these out if they are empty."""
    hidden: Collection[str] = ()
    """Tables for people have these only with `--long`, or if `-c` names them."""
    notable: Mapping[str, Callable[[Row], bool]] = field(default_factory=dict)
    """Tables for people have these only if one of the rows is notable."""
    more: Collection[str] = ()
    """The last titles, which are only shown with `--long`, or if `-c` names them."""
    unit: bool = True
    """Whether a last column names the unit of all amounts, which people read behind each amount."""

    def row(self, document: Json, wanted: Unit | None = None) -> Row:
        """Returns the cells of a document; `wanted` is the unit that the user asks for."""
        row = {
            title: value_at(document, cell) if isinstance(cell, str) else cell(document, wanted)
            for title, cell in self.cells.items()
        }
        return {**row, "Unit": display_unit(unit_of(document), wanted).value} if self.unit else row

    @property
    def every(self) -> list[str]:
        """All titles that `-c` may name."""
        return [*self.cells, *(["Unit"] if self.unit else [])]

    def for_programs(self, long: bool) -> list[str]:
        """Returns the titles if nothing was chosen."""
        return [title for title in self.every if long or title not in self.more]

    def for_people(self, rows: Sequence[Row], long: bool) -> list[str]:
        """Returns the same for a table, which shows no more than these rows need."""
        filled = {title for row in rows for title, cell in row.items() if cell is not None}
        return [
            title
            for title in self.for_programs(long)
            if (title in filled or title not in self.optional)
            and (long or title not in self.hidden)
            and (title not in self.notable or any(map(self.notable[title], rows)))
            and not (title == "Unit" and self.unit)
            and not (title == "Service" and "Resource" in self.cells)  # it is in front of the resource then
        ]


WHOSE: Mapping[str, Cell] = {
    "Domain ID": "project.domain.id",
    "Domain Name": "project.domain.name",
    "Project ID": "project.id",
    "Project Name": "project.name",
}
IN_ZONE: Mapping[str, Cell] = {"Service": "service_type", "Resource": "resource_name", "AZ": "availability_zone"}


def value_at(document: Json, path: str) -> Any:
    """Returns the value at a path such as `project.domain.name`; None if there is none."""
    value: Any = document
    for key in path.split("."):
        value = value.get(key)
        if value is None:
            return None
    return value


def shown(kind: Callable[[Any], Any], path: str) -> Cell:
    return lambda document, _: None if (value := value_at(document, path)) is None else kind(value)


def measured(kind: Callable[[Any, Unit], Any], path: str) -> Cell:
    return lambda document, _: None if (value := value_at(document, path)) is None else kind(value, unit_of(document))


def at(path: str) -> Cell:
    return shown(Moment, path)


def amount(path: str, *, exactly: bool = False) -> Cell:
    """An amount in the unit of the document. `exactly` shows every byte to people, too."""

    def cell(document: Json, wanted: Unit | None) -> Amount | None:
        value = value_at(document, path)
        return None if value is None else Amount(value, unit_of(document), wanted, exactly=exactly)

    return cell


exact_amount = partial(amount, exactly=True)


def named(cell: Callable[[str], Cell], *keys: str) -> dict[str, Cell]:
    """Columns that are called as their keys are: `expires_at` is `Expires At`. `cell` is `str`, `amount`, `at`, ..."""
    return {key.replace("_", " ").title(): cell(key) for key in keys}


def is_some(title: str) -> Callable[[Row], bool]:
    return lambda row: bool(row[title].machine_readable() > 0)


class Text(FormattableColumn[Any]):
    """A value with other words for people, or the same words in lines that fit tables."""

    def __init__(self, value: Any, words: str | None = None, width: int = 30) -> None:
        """`words` may have line breaks of their own. With a `width` of 0 they get no others."""
        super().__init__(value)
        self._words = str(value) if words is None else words
        self._width = width

    def human_readable(self) -> str:
        if not self._width:
            return self._words
        lines = self._words.splitlines()
        return "\n".join(part for line in lines for part in wrap(line, self._width, break_on_hyphens=False) or [""])


def age(seconds: float) -> Text:
    """A duration; for people `2h 5m`."""
    return Text(seconds, duration(seconds))


_STARTS_OF_FORMULAS = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def without_formula(cell: Any) -> Any:
    """Returns a cell for CSV: text that a spreadsheet would run as a formula gets an apostrophe in front, as in the CSV
    of the API. Names come from users."""
    value = cell.machine_readable() if isinstance(cell, FormattableColumn) else cell
    is_formula = isinstance(value, str) and value.lstrip(" ")[:1] in _STARTS_OF_FORMULAS
    return f"'{value}" if is_formula else cell


def key_of(title: str) -> str:
    """Returns the key of a column in JSON and YAML: `Project ID` is `project_id`."""
    return title.lower().replace(" ", "_")


def find_titles(names: Iterable[str], known: Collection[str]) -> list[str]:
    """Returns the titles that a user means by titles or keys, whatever their case, in the order of `known`. Raises
    `CommandError`."""
    by_key = {key_of(title): title for title in known}
    wanted = set()
    for name in names:
        title = by_key.get(key_of(name.strip()))
        if title is None:
            raise CommandError(f"there is no column {name!r}: {suggest(name, known)}")
        wanted.add(title)
    return [title for title in known if title in wanted]


def sort_rows(rows: list[Row], titles: Sequence[str], *, descending: bool) -> list[Row]:
    """Returns the rows, sorted by these columns, the first of them first. Empty cells come last."""
    for title in reversed(titles):
        filled = [row for row in rows if row.get(title) is not None]
        try:
            filled.sort(key=lambda row: row[title], reverse=descending)
        except TypeError:
            raise CommandError(f"{title} cannot be sorted: it has values of different kinds") from None
        rows = filled + [row for row in rows if row.get(title) is None]
    return rows
