"""Help: examples for `--help`, and what was probably meant by `openstack limes` with anything that is no command.

openstackclient compares only the first word, which is always `limes`, and then names all of our commands. But before
it does, it takes a first word for the beginning of any command of one word: of `limes-help`. A command `limes` would
keep the shell from completing all others.
"""

import argparse
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from cliff._argparse import SmartHelpFormatter
from osc_lib.command import command

EXAMPLES: Mapping[str, Sequence[str]] = {
    "alert list": ("", "--all-domains --limit 20"),
    "change list": ("--from 2027-01-01", "--all-domains --kind commitment --person alice"),
    "cluster show": ("--service compute", "--resource compute/cores --per-az"),
    "commitment can-confirm": ("compute/ram 20GiB --az az-one --duration '1 year'",),
    "commitment conversion list": ("compute/cores",),
    "commitment convert": ("7 --to compute/ram --amount 10",),
    "commitment create": (
        "compute/cores 10 --az az-one --duration '1 year'",
        "compute/ram 200GiB --duration '2 years' --confirm-by 2031-01-01 --auto-renew",
    ),
    "commitment delete": ("7 8 --yes",),
    "commitment event list": ("--changed-since 2027-01-01", "--status confirmed --az az-one"),
    "commitment list": ("", "--project shop --domain acme --history"),
    "commitment merge": ("7 8 9",),
    "commitment offer list": ("",),
    "commitment offer show": ("--token 4c1e...",),
    "commitment plan": ("compute/ram 600GiB --az az-one --duration '1 year'",),
    "commitment renew": ("7",),
    "commitment set": ("7 --duration '3 years'", "7 --no-auto-renew"),
    "commitment show": ("7",),
    "commitment summary list": ("--all-domains --days 90",),
    "commitment transfer accept": ("--token 4c1e...", "7"),
    "commitment transfer cancel": ("7",),
    "commitment transfer start": ("7", "7 --amount 8GiB --public"),
    "commitment utilisation list": ("--days 30 --daily", "--resource compute/ram"),
    "domain discover": ("",),
    "domain explain": ("acme --resource compute/cores",),
    "domain history": ("acme --resource compute/cores --limit 20",),
    "domain list": ("--resource compute/cores --sort-column Usage --sort-descending",),
    "domain set": (
        "acme --set compute/cores=300 --set compute/ram=+10%",
        "acme --set compute/ram=600GiB --until 2027-01-31",
        "acme --max-quota compute/cores=20",
    ),
    "domain show": ("", "acme --service compute"),
    "domain simulate": ("acme --set compute/cores=20",),
    "forecast list": ("--project shop", "--all-domains --resource compute/cores"),
    "identity show": ("",),
    "inbox list": ("", "--limit 5 --mark-seen"),
    "inconsistency list": ("",),
    "mail list": ("",),
    "mail subscribe": ("quota_used", "--all"),
    "mail unsubscribe": ("quota_used", "--all"),
    "project discover": ("--domain acme",),
    "project explain": ("shop --resource compute/cores",),
    "project history": ("shop --resource compute/cores --limit 20",),
    "project label list": ("shop",),
    "project label set": ("shop --label env=prod --label 'owner=web team'", "shop --clear"),
    "project list": ("--domain acme --resource compute/cores", "--all-domains --long", "--label env:prod"),
    "project set": (
        "shop --set compute/cores=50 --set compute/ram=100GiB",
        "shop --set compute/cores=+10% --until 2027-01-31",
        "shop --quota-set small --yes",
        "shop --max-quota compute/cores=50",
    ),
    "project show": ("", "shop --domain acme --resource compute/cores --per-az"),
    "project simulate": ("shop --set compute/cores=60 --set object-store/capacity=1TiB",),
    "project sync": ("shop",),
    "quota-set list": ("",),
    "request approve": ("12 --comment 'until then'", "12 --set compute/cores=58"),
    "request comment": ("12 'How long do you need it?'",),
    "request confirm": ("12 --comment 'for the spring sale'",),
    "request create": (
        "--set compute/cores=60 --reason 'Easter sale' --until 2027-04-30",
        "--of-domain --set compute/ram=+1TiB --reason 'new cluster'",
    ),
    "request list": ("--status open", "--all-domains --level domain --status open"),
    "request pass-on": ("12",),
    "request reject": ("12 --reason 'buy a commitment instead'",),
    "request show": ("12",),
    "request withdraw": ("12",),
    "scrape error list": ("",),
    "subresource lifetime list": ("--project shop --from 2027-01-01 --until 2027-02-01",),
    "threshold set": ("shop --percent 70", "shop --clear"),
    "threshold show": ("shop",),
    "usage history": ("--domain acme --resource cores --days 90",),
    "usage report": ("--project shop --from 2027-01-01 --until 2027-02-01", "--all-domains --from 2027-01-01 -f csv"),
    "webhook delete": ("shop",),
    "webhook set": ("shop --url https://chat.example.com/hooks/1",),
    "webhook show": ("shop",),
}


class HelpFormatter(SmartHelpFormatter):
    """Leaves the lines of the epilog as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else str(super()._fill_text(text, width, indent))


def add_examples(parser: argparse.ArgumentParser) -> None:
    """Adds those of the command, which the name of the program ends with."""
    name = parser.prog.partition("limes ")[2]
    lines = [f"  openstack limes {name} {arguments}".rstrip() for arguments in EXAMPLES.get(name, ())]
    parser.formatter_class = HelpFormatter
    parser.epilog = "\n".join(["examples:", *lines, "", parser.epilog or ""]).rstrip()


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
        """Lists the commands. The exit code is that of wrong command lines."""
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
