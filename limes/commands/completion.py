"""`limes completion`: scripts by which shells complete our command line."""

import argparse
from functools import partial

from limes.commands import terminal

_SHELLS = ("bash", "zsh", "fish")


def add_to(commands: terminal.Commands, parser_of_all: argparse.ArgumentParser) -> None:
    """Adds `completion`; `parser_of_all` is the parser of the whole command line."""
    terminal.add_command(
        commands,
        "completion",
        partial(run, parser_of_all),
        "print a script that completes this command in a shell",
        terminal.argument("shell", choices=_SHELLS, help="the shell"),
        description="Prints a script. In bash: `source <(limes completion bash)`; docs/install.md has the others.",
    )


def run(parser_of_all: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    import shtab

    print(shtab.complete(parser_of_all, options.shell))
    return 0
