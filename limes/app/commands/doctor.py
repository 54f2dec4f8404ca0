"""`limes doctor`: what is wrong with an installation, and how to fix it."""

import argparse
import math
from typing import TYPE_CHECKING

from limes.app.commands import terminal

if TYPE_CHECKING:
    from rich.text import Text

    from limes.kernel.findings import Finding

_EXIT_CODES = {"ok": 0, "warning": 1, "problem": 2}
_STYLES = {"ok": "green", "skipped": "dim", "warning": "bold yellow", "problem": "bold red"}


SECTIONS = {
    "configuration": "a-process-does-not-start",
    "policy": "keystone-and-tokens",
    "database": "the-database",
    "keystone": "keystone-and-tokens",
    "sign_in": "keystone-and-tokens",
    "backends": "scrapes-fail",
    "audit": "audit-events-notifications-and-mails-do-not-arrive",
    "notifications": "audit-events-notifications-and-mails-do-not-arrive",
    "metrics": "metrics-are-missing",
}
"""The section of docs/troubleshooting.md on what each check finds."""
CHECKS = tuple(SECTIONS)
"""The names of `limes.app.doctor.examination.CHECKS`, which is slow to import."""


def add_to(commands: terminal.Commands) -> None:
    terminal.add_command(
        commands,
        "doctor",
        run,
        "look for what is wrong, and say how to fix it",
        terminal.argument("--project", metavar="ID", help="the project to ask backends about (default: the first)"),
        terminal.argument(
            "--timeout",
            metavar="SECONDS",
            type=_seconds,
            default=15.0,
            help="how long each may take to answer (default: 15)",
        ),
        terminal.argument(
            "--only",
            metavar="CHECK",
            action="append",
            choices=CHECKS,
            help=f"leave out all others; may be repeated: {', '.join(CHECKS)}",
        ),
        *(terminal.add_json_option, terminal.add_config_option),
        description="Looks at configuration, policy, database, Keystone, sign-ins, backends, audit, notifications,"
        " metrics and clocks; changes nothing.",
        codes={0: "all is well", 1: "there are warnings", 2: "there are problems, or the command line is wrong"},
        failure_code=2,
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, not {text!r}")
    return seconds


def run(options: argparse.Namespace) -> int:
    from limes.app.doctor.examination import examine
    from limes.kernel import logs

    logs.set_up(level="CRITICAL")  # what libraries and our own parts would log is in the findings
    with terminal.progress_console().status("looking ...") as status:
        diagnosis = examine(
            project=options.project,
            timeout=options.timeout,
            only=options.only or (),
            on_check=lambda name: status.update(f"looking at {name} ..."),
        )
    if options.json:
        found = {"version": diagnosis.version, "config": diagnosis.config, "findings": diagnosis.findings}
        terminal.print_json({"worst": diagnosis.worst, **found})
        return _EXIT_CODES[diagnosis.worst.value]
    console = terminal.result_console()
    file = f"with {diagnosis.config}" if diagnosis.config else "without a configuration file"
    rows = [(_level(finding), finding.check, finding.message) for finding in diagnosis.findings]
    terminal.print_table(console, f"Limes {diagnosis.version} {file}", ("", "check", "finding"), rows)
    to_mend = [finding for finding in diagnosis.findings if finding.mend]
    rows = [(_level(finding), finding.check, finding.mend) for finding in to_mend]
    terminal.print_table(console, "What to do", ("", "check", "do this"), rows, empty="nothing")
    for check, section in SECTIONS.items():
        if any(finding.check.partition(".")[0] == check for finding in to_mend):
            console.print(f"More on {check}: docs/troubleshooting.md#{section}")
    return _EXIT_CODES[diagnosis.worst.value]


def _level(finding: "Finding") -> "Text":
    from rich.text import Text

    return Text(finding.level.value, _STYLES[finding.level.value])
