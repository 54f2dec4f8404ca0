"""What all commands share: options, the client, and tables without empty columns."""

import argparse
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from osc_lib.command import command

from limes_osc.client import Json, LimesClient
from limes_osc.scope import Scopes

Row = dict[str, Any]
"""Cells by column title."""
Table = tuple[Sequence[str], Iterable[Sequence[Any]]]
"""What cliff's formatters of lists take."""
Options = Sequence[Callable[[argparse.ArgumentParser], None]]
"""Functions that add options to a parser."""
Fields = tuple[Sequence[str], Sequence[Any]]
"""What cliff's formatters of one thing take."""


class LimesCommand(command.Command):
    """A command that talks to Limes."""

    options: ClassVar[Options] = ()
    """What a class adds to the parser; those of its base classes come first."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """cliff's parser with our options."""
        parser = super().get_parser(prog_name)
        for kind in reversed(type(self).__mro__):
            for add in vars(kind).get("options", ()):
                add(parser)
        return parser

    @property
    def limes(self) -> LimesClient:
        """The client."""
        client: LimesClient = self.app.client_manager.limes  # type: ignore[attr-defined]  # named by plugin.API_NAME
        return client

    @property
    def scopes(self) -> Scopes:
        """Finds domains and projects by name or id."""
        return Scopes(self.app.client_manager, self.limes)

    def say(self, text: str) -> None:
        """Prints the result of a command without a table."""
        print(text, file=self.app.stdout, flush=True)

    def warn(self, text: str) -> None:
        """Prints a warning, which programs do not read."""
        print(text, file=self.app.stderr)

    def warned(self, document: Json) -> Json:
        """Returns the same document, after what the server says that the user should know."""
        for text in document.get("warnings", ()):
            self.warn(f"warning: {text}")
        return document


@dataclass(frozen=True, slots=True)
class Columns:
    """The titles of a table, in their order. Tables for people leave out `optional` ones that are empty."""

    titles: Sequence[str]
    optional: Collection[str] = ()
    unit: bool = True
    """Whether a last column names the unit of all amounts, which people read behind each amount."""


class LimesLister(LimesCommand, command.Lister):
    """A command that lists rows."""

    def table(self, args: argparse.Namespace, columns: Columns, rows: Iterable[Row]) -> Table:
        """Returns what cliff's formatters take."""
        listed = list(rows)
        titles = [*columns.titles, *(["Unit"] if columns.unit else [])]
        empty = None
        if args.formatter == "table":
            empty = ""
            if not args.columns:
                filled = {title for row in listed for title, cell in row.items() if cell is not None}
                titles = [title for title in columns.titles if title in filled or title not in columns.optional]
        cells = ([empty if row.get(title) is None else row[title] for title in titles] for row in listed)
        return titles, cells


class LimesShowOne(LimesCommand, command.ShowOne):
    """A command that shows one thing."""

    def fields(self, args: argparse.Namespace, row: Row) -> Fields:
        """Returns what cliff's formatters take. People are spared empty fields, and the unit that is behind each
        amount."""
        if args.formatter == "table" and not args.columns:
            row = {title: cell for title, cell in row.items() if title != "Unit" and cell is not None and str(cell)}
        return list(row), list(row.values())
