"""`limes completion`: scripts by which shells complete our command line."""

import argparse
from functools import partial

from limes.commands.terminal import Commands, add_exit_codes

_SHELLS = ("bash", "zsh", "fish")


def add_to(commands: Commands, parser_of_all: argparse.ArgumentParser) -> None:
    """Adds `completion`; `parser_of_all` is the parser of the whole command line."""
    parser = commands.add_parser(
        "completion",
        help="print a script that completes this command in a shell",
        description="Prints a script. In bash: `source <(limes completion bash)`; docs/install.md has the others.",
    )
    parser.add_argument("shell", choices=_SHELLS, help="the shell")
    add_exit_codes(parser)
    parser.set_defaults(run=partial(run, parser_of_all))


def run(parser_of_all: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Prints the script."""
    import shtab

    print(shtab.complete(parser_of_all, options.shell))
    return 0
