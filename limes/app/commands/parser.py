"""The parser of all commands, which names what was probably meant and shows examples; and `limes completion`."""

import argparse
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NoReturn

from limes.app.commands import terminal

EXAMPLES: Mapping[str, Sequence[str]] = {
    "limes serve": ("limes serve --fresh", "limes serve --config limes.yaml"),
    "limes api": ("limes api --config /etc/limes/limes.yaml",),
    "limes placement": ("limes placement --config /etc/limes/limes.yaml",),
    "limes placement audit": ("limes placement audit", "limes placement audit --repair --json"),
    "limes placement import": (
        "limes placement import --from https://old.example.com/placement",
        "limes placement import --from https://old.example.com/placement --verify-only",
    ),
    "limes liquid": ("limes liquid compute --listen 127.0.0.1:8082",),
    "limes collect": ("limes collect --config /etc/limes/limes.yaml", "limes collect --once --json"),
    "limes metrics": ("limes metrics --config /etc/limes/limes.yaml",),
    "limes status": ("limes status", "limes status --collector http://127.0.0.1:8081 --json"),
    "limes doctor": ("limes doctor --config limes.yaml", "limes doctor --only database --only keystone"),
    "limes db upgrade": ("limes db upgrade --config /etc/limes/limes.yaml",),
    "limes db status": ("limes db status --json",),
    "limes db rebuild-sums": ("limes db rebuild-sums",),
    "limes config init": ("limes config init limes.yaml", "limes config init --sample"),
    "limes config check": (
        "limes config check --config new.yaml",
        "limes config check --against-database --config new.yaml",
    ),
    "limes config options": ("limes config options",),
    "limes config policy": ("limes config policy placement --config limes.yaml",),
    "limes notify preview": (
        "limes notify preview quota_used --language de --html",
        "limes notify preview request_opened --count 3 --send-to me@example.com",
    ),
    "limes notify unsubscribed": ("limes notify unsubscribed",),
    "limes notify unsubscribe": ("limes notify unsubscribe me@example.com quota_used",),
    "limes notify subscribe": ("limes notify subscribe me@example.com",),
    "limes plugin list": ("limes plugin list",),
    "limes plugin test": ("limes plugin test compute --project 1a000000000000000000000000000001",),
    "limes plugin get-usage": ("limes plugin get-usage compute 1a000000000000000000000000000001",),
    "limes plugin set-quota": ("limes plugin set-quota compute 1a000000000000000000000000000001 cores=50 ram=100",),
    "limes plugin scan-capacity": ("limes plugin scan-capacity nova",),
    "limes import-limes": ("limes import-limes --config-from limes-go.yaml --output limes.yaml",),
    "limes completion": ("limes completion bash",),
}
_CHOICE = re.compile(r"invalid choice: '(?P<given>[^']*)' \(choose from (?P<known>.*)\)\Z")


class Parser(argparse.ArgumentParser):
    """`argparse`'s, for commands and those below them."""

    def format_help(self) -> str:
        """With the command's examples at the end."""
        text, examples = super().format_help(), EXAMPLES.get(self.prog, ())
        return "\n".join([text, "examples:", *(f"  {example}" for example in examples), ""]) if examples else text

    def error(self, message: str) -> NoReturn:
        """Says what was probably meant, where the error is about a word that is none of several."""
        found = _CHOICE.search(message)
        if found:
            from difflib import get_close_matches  # rarely needed

            known = [word.strip(" '") for word in found["known"].split(",")]
            meant = get_close_matches(found["given"], known, n=2)
            message += f"; did you mean {' or '.join(meant)}?" if meant else ""
        super().error(message)


_SHELLS = ("bash", "zsh", "fish")


def add_completion(commands: terminal.Commands, parser_of_all: argparse.ArgumentParser) -> None:
    terminal.add_command(
        commands,
        "completion",
        partial(_complete, parser_of_all),
        "print a script that completes this command in a shell",
        terminal.argument("shell", choices=_SHELLS, help="the shell"),
        description="Prints a script. In bash: `source <(limes completion bash)`; docs/install.md has the others.",
    )


def _complete(parser_of_all: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    import shtab

    print(shtab.complete(parser_of_all, options.shell))
    return 0
