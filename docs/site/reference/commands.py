"""The command lines of `limes` and of `openstack limes`, from their parsers.

argparse tells what a parser has by attributes with an underscore only; programs that document parsers have to use them.
"""

import argparse
from collections.abc import Iterator
from importlib.metadata import entry_points

from limes.app.cli import build_parser
from reference.markdown import code, table

_LIMES = """# Commands: `limes`

Made from the program's own parsers.
"""
_OPENSTACK = """# Commands: `openstack limes`

Made from the commands' own parsers; [`openstack limes`](../openstack-client.md) shows them in use. Options of the
formats (`-f`, `-c`, `--sort-column` and so on), which all commands have, are left out.
"""


def render_limes() -> str:
    """All sub-commands, whatever their depth."""
    lines = [_LIMES]
    for parser, about in _leaves(build_parser(), ""):
        lines += _command(parser, parser.prog, parser.description or about)
    return "\n".join(lines)


def _leaves(parser: argparse.ArgumentParser, about: str) -> Iterator[tuple[argparse.ArgumentParser, str]]:
    """Commands that can be called, each with its line of help."""
    nested = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not nested or not nested[0].required:
        yield parser, about
    for action in nested:
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, inner in action.choices.items():
            yield from _leaves(inner, helps.get(name, ""))


def render_openstack() -> str:
    """All commands of our entry points."""
    lines = [_OPENSTACK]
    for point in sorted(entry_points(group="openstack.limes.v1"), key=lambda one: one.name):
        command = point.load()(None, None)
        name = f"openstack {point.name.replace('_', ' ')}"
        parser = _without_formats(command.get_parser(name))
        lines += _command(parser, name, command.get_description())
    return "\n".join(lines)


def _command(parser: argparse.ArgumentParser, name: str, about: str) -> list[str]:
    about = about[:1].upper() + about[1:]
    usage = parser.format_usage().rstrip().replace("\n       ", "\n").removeprefix("usage: ")
    rows = map(_option, filter(_is_shown, parser._actions))
    return [
        f"## {name}",
        "",
        about if about.endswith(".") else f"{about}.",
        "",
        "```text",
        usage,
        "```",
        "",
        *table(("argument", "meaning"), rows),
        *([parser.epilog, ""] if parser.epilog else []),
    ]


def _without_formats(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The parser, without the options of cliff's formats."""
    titles = ("output formatters", "CSV Formatter", "json formatter", "shell formatter", "table formatter")
    formats = [one for group in parser._action_groups if group.title in titles for one in group._group_actions]
    parser._actions = [one for one in parser._actions if one not in formats]
    return parser


def _is_shown(action: argparse.Action) -> bool:
    hidden = isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
    return not hidden and action.help != argparse.SUPPRESS


def _option(action: argparse.Action) -> tuple[str, str]:
    value = action.metavar or (action.dest.upper() if action.option_strings else action.dest)
    value = " ".join(value) if isinstance(value, tuple) else value
    if action.choices:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    takes_value = action.nargs != 0
    names = [f"{name} {value}" if takes_value else name for name in action.option_strings] or [value]
    text = (action.help or "") % {"default": action.default, "prog": "", "dest": action.dest}
    return ", ".join(map(code, names)), text
