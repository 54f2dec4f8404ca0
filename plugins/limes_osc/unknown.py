"""`openstack limes` with anything that is no command: what was probably meant.

openstackclient compares only the first word, which is always `limes`, and then names all of our commands. But before
it does, it takes a first word for the beginning of any command of one word: of `limes-help`. A command `limes` would
keep the shell from completing all others.
"""

import argparse
from collections.abc import Sequence
from difflib import SequenceMatcher

from osc_lib.command import command

_CLOSE = 0.75
"""How alike texts have to be (1: the same) that one may be meant by the other."""
_MOST = 3


class UnknownCommand(command.Command):
    """Show which limes commands there are, or which one was meant"""

    auth_required = False

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("command", metavar="<command>", nargs=argparse.REMAINDER, help="See limes --help")
        if self.app is not None:
            parser.epilog = "commands: " + ", ".join(self._names())
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Says what there is. The exit code is that of wrong command lines."""
        words = [word for word in parsed_args.command if not word.startswith("-")]
        text = f"'limes {' '.join(words)}' is not a command" if words else "which command?"
        print(f"openstack: {text}; {suggest_command(words, self._names())}", file=self.app.stderr)
        return 2

    def _names(self) -> list[str]:
        names = (name.partition(" ") for name, _ in self.app.command_manager)
        return sorted(rest for first, _, rest in names if first == "limes" and rest)


def suggest_command(words: Sequence[str], names: Sequence[str]) -> str:
    """Returns the end of an error about a command that does not exist. What follows its name is left out."""
    likeness = {name: _likeness(words, name) for name in names}
    best = sorted((name for name in names if likeness[name] >= _CLOSE), key=lambda name: (-likeness[name], name))
    if best:
        alike = [name for name in best if likeness[name] >= likeness[best[0]] - 0.03]
        return f"did you mean {' or '.join(f'limes {name}' for name in alike[:_MOST])}?"
    inside = [name for name in names if words and name.split()[0] == words[0]]
    if inside:
        return f"there are: {', '.join(f'limes {name}' for name in inside)}"
    return f"there are: {', '.join(f'limes {name} ...' for name in sorted({name.split()[0] for name in names}))}"


def _likeness(words: Sequence[str], name: str) -> float:
    size = name.count(" ") + 1
    return SequenceMatcher(None, " ".join(words[:size]), name).ratio() if len(words) >= size else 0.0
