"""What all commands share: options, the client, what a command is about, and tables without empty columns."""

import abc
import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from osc_lib.command import command
from osc_lib.exceptions import CommandError

from limes.kernel.units import Unit
from limes_osc.client import Json, LimesClient, document_of
from limes_osc.columns import KEYED, Columns, Row, find_titles, key_of, sort_rows, without_formula
from limes_osc.help import add_examples
from limes_osc.names import Scopes, check_filters
from limes_osc.values import Moment, read_time, suggest_unit

Adder = Callable[[Any], Any]
"""Adds options to a parser, or to a group of one."""
Options = Sequence[Adder]


def option(*names: str, **settings: Any) -> Adder:
    """Returns a function that adds an option to a parser, or an argument. Help calls its value by its last name."""
    if "choices" not in settings and settings.get("action", "append") == "append":
        settings.setdefault("metavar", f"<{names[-1].lstrip('-')}>")
    return lambda parser: parser.add_argument(*names, **settings)


def repeated(*names: str, **settings: Any) -> Adder:
    """Returns the same for an option that may be repeated: a list."""
    return option(*names, action="append", default=[], **settings)


def time_option(*names: str, **settings: Any) -> Adder:
    """Returns the same for an option with a time."""
    return option(*names, metavar="<time>", type=read_time, **settings)


def exclusive(*adders: Adder, required: bool = False) -> Adder:
    """Returns a function that adds options: one of them may be given, or has to be."""
    return _grouped(lambda parser: parser.add_mutually_exclusive_group(required=required), adders)


def titled(title: str, description: str, *adders: Adder) -> Adder:
    """Returns a function that adds options, which have a title in `--help`."""
    return _grouped(lambda parser: parser.add_argument_group(title, description), adders)


def _grouped(make_group: Callable[[Any], Any], adders: Options) -> Adder:
    def add(parser: Any) -> None:
        group = make_group(parser)
        for each in adders:
            each(group)

    return add


def read_unit(text: str) -> Unit:
    """Returns the value of `--unit`, whatever its case. Raises `argparse.ArgumentTypeError`."""
    for unit in Unit:
        if unit.is_measured and unit.value.lower() == text.lower():
            return unit
    raise argparse.ArgumentTypeError(f"{text!r} is not a unit ({suggest_unit(text)})")


def read_pair(text: str) -> tuple[str, str]:
    """`<service>/<resource>`. Raises `ArgumentTypeError`."""
    service, slash, resource = text.partition("/")
    if not (slash and service and resource):
        raise argparse.ArgumentTypeError(f"{text!r}: expected <service>/<resource>, such as compute/cores")
    return service, resource


_DEFAULT = "(name or ID; default: that of the token)"
add_domain = option("domain", nargs="?", help=f"Domain {_DEFAULT}")
add_domain_option = option("--domain", help=f"Domain of the project {_DEFAULT}")
add_project = option("project", nargs="?", help=f"Project {_DEFAULT}")
add_project_option = option("--project", help=f"Project {_DEFAULT}")
SCOPE: Options = (
    option("--domain", help="Of this domain, or where to look for the project"),
    option("--project", help="Of this project (default: the token's project, or its domain)"),
    option("--all-domains", action="store_true", help="Of the whole cloud"),
)
"""A project, a domain or the whole cloud."""
add_resource = option(
    "resource", metavar="<service>/<resource>", type=read_pair, help="Resource, such as compute/cores"
)
add_unit = option("--unit", type=read_unit, help="Show amounts of measured resources in this unit, such as GiB")
add_long = option("--long", action="store_true", help="Show all columns, and times in full")
PAGING: Options = (
    option("--limit", metavar="<number>", type=int, help="At most this many domains, projects or changes"),
    option("--marker", metavar="<id>", help="Only what follows this one (with --limit)"),
)
add_filters = titled(
    "filters",
    "Each may be repeated.",
    repeated("--service", help="Only services of this type"),
    repeated("--area", help="Only services in this area"),
    repeated("--resource", help="Only resources of this name, or the resource <service>/<resource>"),
)


def pairs_of(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns the query of these values. None and False are left out, and of a list each is named."""
    return [
        (name, "true" if value is True else str(value))
        for name, given in values.items()
        for value in (given if isinstance(given, list) else [given])
        if value is not None and value is not False
    ]


def filters_of(args: argparse.Namespace) -> list[tuple[str, str]]:
    """Returns the query of the filters. The server knows services and resources by name, but not pairs: `selects`."""
    pairs = [resource.rpartition("/") for resource in args.resource]
    services = args.service
    if not services and all(slash for _, slash, _ in pairs):
        services = [service for service, _, _ in pairs]
    return pairs_of({"service": services, "area": args.area, "resource": [name for _, _, name in pairs]})


def selects(args: argparse.Namespace, service: str | None, resource: str) -> bool:
    """Returns whether `--resource` means this one."""
    return not args.resource or resource in args.resource or f"{service}/{resource}" in args.resource


def selected(args: argparse.Namespace, entries: Iterable[Json]) -> Iterator[Json]:
    """Yields the entries that `--resource` means. What belongs to no resource belongs to all."""
    for entry in entries:
        service = entry.get("service_type", entry.get("service"))
        resource = entry.get("resource_name", entry.get("resource"))
        if resource is None or selects(args, service, resource):
            yield entry


Table = tuple[Sequence[str], Iterable[Sequence[Any]]]
"""What cliff's formatters of lists take."""


class LimesCommand(command.Command):
    options: ClassVar[Options] = ()
    """What a class adds to the parser; those of its base classes come first."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        for kind in reversed(type(self).__mro__):
            for add in vars(kind).get("options", ()):
                add(parser)
        add_examples(parser)
        return parser

    @property
    def limes(self) -> LimesClient:
        client: LimesClient = self.app.client_manager.limes  # type: ignore[attr-defined]  # named by client.API_NAME
        return client

    @property
    def scopes(self) -> Scopes:
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

    def send(self, method: str, path: str, body: Any = None, **settings: Any) -> Json:
        """Returns the answer to a request, after its warnings. Raises `Refused`."""
        return self.warned(document_of(self.limes.request(method, path, (), body, **settings)))


class LimesLister(LimesCommand, command.Lister):
    nothing: ClassVar[str] = "There is nothing to show."
    """The text instead of an empty table."""

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

    def query(self, args: argparse.Namespace, path: str, *, secret: bool = False, **values: Any) -> Json:
        """Returns the document at a path, with the filters of the user and further values."""
        return self.limes.get(path, [*filters_of(args), *pairs_of(values)], secret=secret)

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


class Listing(LimesLister):
    """Lists documents of the API, one row for each."""

    columns: ClassVar[Columns]

    @abc.abstractmethod
    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        """Returns the documents that the rows are made of. Raises `CommandError`."""

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        columns, unit = self.columns_for(parsed_args), getattr(parsed_args, "unit", None)
        return self.table(parsed_args, columns, (columns.row(entry, unit) for entry in self.entries(parsed_args)))

    def found(self, args: argparse.Namespace, path: str, key: str, **values: Any) -> Iterable[Json]:
        return selected(args, self.query(args, path, **values)[key])

    def columns_for(self, args: argparse.Namespace) -> Columns:
        return self.columns


class LimesShowOne(LimesCommand, command.ShowOne):
    @abc.abstractmethod
    def row(self, args: argparse.Namespace) -> Row:
        """Returns the fields. Raises `CommandError`."""

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Returns what cliff's formatters take. People are spared empty fields, and the unit that is behind each
        amount. Raises `CommandError` for fields that do not exist."""
        row, people = self.row(parsed_args), parsed_args.formatter == "table"
        if parsed_args.columns:
            row = {title: row[title] for title in find_titles(parsed_args.columns, row)}
            parsed_args.columns = []
        elif people:
            row = {title: cell for title, cell in row.items() if title != "Unit" and cell is not None and str(cell)}
        if people:
            return list(row), [cell.in_full() if isinstance(cell, Moment) else cell for cell in row.values()]
        return [key_of(title) if parsed_args.formatter in KEYED else title for title in row], list(row.values())


class Targeted(LimesCommand):
    level: ClassVar[str] = "project"
    """`domain` or `project`."""

    @abc.abstractmethod
    def path(self, args: argparse.Namespace) -> str:
        """Of the domain or project, below `/v1`. Raises `CommandError`."""


class OfDomain(Targeted):
    """About the domain that the first argument names."""

    level = "domain"
    options = [add_domain]

    def path(self, args: argparse.Namespace) -> str:
        return self.scopes.domain_path(args.domain, "the argument <domain>")


class OfProject(Targeted):
    """About the project that the first argument names."""

    options = [add_project, add_domain_option]

    def path(self, args: argparse.Namespace) -> str:
        return self.scopes.project_path(args.project, args.domain, "the argument <project>")


class InProject(Targeted):
    """About something in the project that `--project` names."""

    options = [add_project_option, add_domain_option]

    def path(self, args: argparse.Namespace) -> str:
        return self.scopes.project_path(args.project, args.domain)


class InScope(LimesCommand):
    """About things in the project or domain that options name, or in the whole cloud; by default in what the token is
    for."""

    options = SCOPE

    def path(self, args: argparse.Namespace) -> str:
        """Returns the path of the project or domain; "" for the whole cloud. Raises `CommandError`."""
        if args.all_domains:
            if args.domain or args.project:
                raise CommandError("--all-domains goes with neither --domain nor --project")
            return ""
        scopes = self.scopes
        is_of_domain = args.domain or (scopes.has_own_domain and not scopes.has_own_project)
        if is_of_domain and not args.project:
            return scopes.domain_path(args.domain)
        return scopes.project_path(args.project, args.domain)
