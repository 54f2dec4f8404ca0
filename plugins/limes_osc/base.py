"""What all commands share: options, the client, and tables without empty columns."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from osc_lib.command import command

from limes_osc.cells import without_formula
from limes_osc.client import Json, LimesClient
from limes_osc.columns import KEYED, Columns, Row, find_titles, key_of, sort_rows
from limes_osc.examples import add_examples
from limes_osc.filters import check_filters
from limes_osc.scope import Scopes
from limes_osc.times import Moment

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
        add_examples(parser)
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


class LimesLister(LimesCommand, command.Lister):
    """A command that lists rows."""

    nothing: ClassVar[str] = "There is nothing to show."
    """What people are told instead of an empty table."""

    @property
    def need_sort_by_cliff(self) -> bool:
        """No: cliff could not sort by columns that are not shown."""
        return False

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Iterable[Sequence[Any]]
    ) -> int:
        """Prints nothing where cliff would print an empty line instead of a table."""
        rows = list(data)
        if not rows and parsed_args.formatter == "table" and not parsed_args.print_empty:
            return 0
        return int(super().produce_output(parsed_args, column_names, rows))

    def table(self, args: argparse.Namespace, columns: Columns, rows: Iterable[Row]) -> Table:
        """Returns what cliff's formatters take. Raises `CommandError` for filters and columns that do not exist."""
        listed = list(rows)
        check_filters(self.limes, args, listed)
        people = args.formatter == "table"
        sort = [title for name in args.sort_columns for title in find_titles([name], columns.every)]
        listed = sort_rows(listed, sort, descending=args.sort_direction == "desc")
        long = getattr(args, "long", False)
        if args.columns:
            titles = find_titles(args.columns, columns.every)
            args.columns = []
        else:
            titles = columns.for_people(listed, long) if people else columns.for_programs(long)
        if not people:
            cells = [[row.get(title) for title in titles] for row in listed]
            if args.formatter == "csv":
                cells = [[without_formula(cell) for cell in row] for row in cells]
            return ([key_of(title) for title in titles] if args.formatter in KEYED else titles), cells
        if not listed:
            self.warn(self.nothing)
        return titles, [[_readable(row, title, titles, long) for title in titles] for row in listed]


def _readable(row: Row, title: str, titles: Sequence[str], long: bool) -> Any:
    """Returns a cell for people. Where the service has no column of its own, it is in front of the resource."""
    cell = row.get(title)
    if cell is None:
        return ""
    if title == "Resource" and "Service" not in titles and row.get("Service"):
        return f"{row['Service']}/{cell}"
    return cell.to_the_second() if long and isinstance(cell, Moment) else cell


class LimesShowOne(LimesCommand, command.ShowOne):
    """A command that shows one thing."""

    def fields(self, args: argparse.Namespace, row: Row) -> Fields:
        """Returns what cliff's formatters take. People are spared empty fields, and the unit that is behind each
        amount. Raises `CommandError` for fields that do not exist."""
        people = args.formatter == "table"
        if args.columns:
            row = {title: row[title] for title in find_titles(args.columns, row)}
            args.columns = []
        elif people:
            row = {title: cell for title, cell in row.items() if title != "Unit" and cell is not None and str(cell)}
        if people:
            return list(row), [cell.in_full() if isinstance(cell, Moment) else cell for cell in row.values()]
        return [key_of(title) if args.formatter in KEYED else title for title in row], list(row.values())
