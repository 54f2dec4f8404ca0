"""The columns of tables: which are shown to whom, by which names, and in which order."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from osc_lib.exceptions import CommandError

from limes_osc.suggestion import suggest

Row = dict[str, Any]
"""Cells by column title."""

KEYED = ("json", "yaml")
"""The formats that name columns by keys."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The titles of a table, in their order."""

    titles: Sequence[str]
    optional: Collection[str] = ()
    """Tables for people leave these out if they are empty."""
    hidden: Collection[str] = ()
    """Tables for people have these only with `--long`, or if `-c` names them."""
    notable: Mapping[str, Callable[[Row], bool]] = field(default_factory=dict)
    """Tables for people have these only if one of the rows is notable."""
    more: Sequence[str] = ()
    """Further titles that nobody gets without `--long`, or unless `-c` names them."""
    unit: bool = True
    """Whether a last column names the unit of all amounts, which people read behind each amount."""

    @property
    def every(self) -> list[str]:
        """All titles that `-c` may name."""
        return [*self.titles, *self.more, *(["Unit"] if self.unit else [])]

    def for_programs(self, long: bool) -> list[str]:
        """Returns the titles if nothing was chosen."""
        return [title for title in self.every if long or title not in self.more]

    def for_people(self, rows: Sequence[Row], long: bool) -> list[str]:
        """Returns the same for a table, which shows no more than these rows need."""
        filled = {title for row in rows for title, cell in row.items() if cell is not None}
        return [
            title
            for title in (self.every if long else self.titles)
            if (title in filled or title not in self.optional)
            and (long or title not in self.hidden)
            and (title not in self.notable or any(map(self.notable[title], rows)))
            and not (title == "Unit" and self.unit)
            and not (title == "Service" and "Resource" in self.titles)  # it is in front of the resource then
        ]


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
