"""What sub-commands share: options, exit codes, and how they show results. Results are tables for people, or JSON for
programs. `NO_COLOR` is honoured."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

if TYPE_CHECKING:
    from rich.console import Console

Commands = Any
"""What `argparse.ArgumentParser.add_subparsers` returns: its type is private."""
Add = Callable[[Any], Any]
"""Adds options to a parser, or to a group of them."""

_EXIT_CODES = {0: "done", 1: "an error, explained on standard error", 2: "a wrong command line", 130: "interrupted"}

T = TypeVar("T")
_WIDTH_OF_PIPES = 200
_FEWEST_PER_LINE = 100
COMPLETE_FILES = {"bash": "_shtab_compgen_files", "zsh": "_files", "fish": "(__fish_complete_path (commandline -ct))"}
"""From `shtab.FILE`: all commands would import shtab for it, which took a quarter of `limes --help`."""


def argument(*names: str, **settings: Any) -> Add:
    """Returns a function that adds an option or argument to a parser."""
    return lambda parser: parser.add_argument(*names, **settings)


def flag(name: str, text: str) -> Add:
    return argument(name, action="store_true", help=text)


def file_argument(name: str, **settings: Any) -> Add:
    """Returns the same for an option that names a file, which shells can complete."""

    def add(parser: Any) -> None:
        parser.add_argument(name, metavar="FILE", **settings).complete = COMPLETE_FILES

    return add


CONFIG = "the configuration file (default: $LIMES_CONFIG, /etc/limes/limes.yaml, or limes.yaml in this folder)"
add_json_option = flag("--json", "print JSON instead of tables")
add_config_option = file_argument("--config", help=CONFIG)
add_config_option_below = file_argument("--config", default=argparse.SUPPRESS, help=CONFIG)
"""For a command below another that has the same option: this one replaces the other's."""


def add_actions(parser: argparse.ArgumentParser) -> Commands:
    """Makes a command a group of actions. Without one of them it prints its help."""
    parser.set_defaults(group=parser)
    return parser.add_subparsers(metavar="ACTION", required=False)


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], int],
    text: str,
    *options: Add,
    description: str | None = None,
    codes: Mapping[int, str] | None = None,
    **defaults: Any,
) -> argparse.ArgumentParser:
    """Adds a command, and returns its parser. `codes` are the exit codes that do not mean what they mean everywhere."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=description)
    for add in options:
        add(parser)
    meanings = {**_EXIT_CODES, **(codes or {})}
    parser.epilog = f"Exit codes: {'; '.join(f'{code}: {meanings[code]}' for code in sorted(meanings))}."
    parser.set_defaults(run=run, **defaults)
    return parser


def print_json(document: Any) -> None:
    """Prints a document; structs and named tuples become objects."""
    from msgspec import Struct, structs

    def default(value: Any) -> Any:
        if isinstance(value, Struct):
            return structs.asdict(value)
        return value._asdict() if hasattr(value, "_asdict") else str(value)

    print(orjson.dumps(document, default=default, option=orjson.OPT_INDENT_2).decode())


def progress_console() -> "Console":
    return result_console(stderr=True)


def result_console(*, stderr: bool = False) -> "Console":
    """Returns where results go: standard output, or, beside a document there, standard error. Colours only on a
    terminal, and without `NO_COLOR`."""
    from rich.console import Console

    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(
        stderr=stderr,
        width=None if terminal else _WIDTH_OF_PIPES,
        soft_wrap=not terminal,  # readers of a pipe want whole lines, however long they are
        markup=False,  # what we print comes from elsewhere, and may have brackets and colons of its own
        emoji=False,
        highlight=False,
    )


def progress(label: str, items: Iterable[T], total: int) -> Iterator[T]:
    """Yields the items, with a bar on standard error if that is a terminal, and else with a line for each tenth."""
    from rich.progress import track

    console = progress_console()
    if console.is_terminal:
        yield from track(items, label, total=total, console=console)
        return
    tenth = max(total // 10, _FEWEST_PER_LINE)
    for done, item in enumerate(items, 1):
        yield item
        if done % tenth == 0 and done < total:
            print(f"{label}: {done} of {total}", file=sys.stderr, flush=True)
    print(f"{label}: {total}", file=sys.stderr, flush=True)


def print_table(
    console: "Console", title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, empty: str = "none"
) -> None:
    """Prints a table with a title. A column whose name ends in `>` is aligned to the right; None is shown as `-`."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    if not rows:
        console.print(Text.assemble((title, "bold"), f": {empty}"))
        return
    table = Table(title=Text(title, "bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        right = name.endswith(">")
        table.add_column(name.rstrip(">"), justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text("-" if cell is None else str(cell)) for cell in row))
    console.print(table)


def warn(value: Any, when: bool) -> Any:
    """Returns the value as a cell, in red where something is wrong."""
    from rich.text import Text

    return Text("-" if value is None else str(value), "bold red" if when else "")


def duration(seconds: float | None) -> str | None:
    """Returns a duration as people say it, in its two largest units: `2h 5m`."""
    if seconds is None:
        return None
    left = max(0, round(seconds))
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        amount, left = divmod(left, size)
        if amount:
            parts.append(f"{amount}{unit}")
    return " ".join(parts[:2]) or "0s"
