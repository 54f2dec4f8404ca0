"""`limes status`: how the collectors' work goes, read from the database."""

import argparse
from typing import TYPE_CHECKING

from limes.commands.terminal import (
    Commands,
    add_config_option,
    add_exit_codes,
    add_json_option,
    duration,
    print_json,
    print_table,
    result_console,
    warn,
)

if TYPE_CHECKING:
    from rich.console import Console

    from limes.actions.reports.status import StatusReport
    from limes.composition.operator_commands import Status

_LATE = 600.0
"""Seconds of lag that are shown in red."""


def add_to(commands: Commands) -> None:
    """Adds `status`."""
    parser = commands.add_parser(
        "status",
        help="how the collectors' work goes: lag, errors, old figures, leases",
        description="Reads the database, and asks a collector for its circuits.",
    )
    parser.add_argument(
        "--collector", metavar="HOST:PORT", help="the collector to ask for its circuits (default: collector.listen)"
    )
    add_config_option(parser)
    add_json_option(parser)
    add_exit_codes(parser, {1: "there are problems, or an error"})
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints the report."""
    from limes.composition.operator_commands import read_status

    status = read_status(options.collector)
    if options.json:
        print_json(status)
    else:
        _print(status)
    return 1 if status.report.problems else 0


def _print(status: "Status") -> None:
    console, report = result_console(), status.report
    _print_services(console, report)
    print_table(
        console,
        "Capacitors",
        ("capacitor", "age>", "late>", "error"),
        [
            (one.name, warn(duration(one.age), one.stale), _lag(one.lag), warn(one.error or None, bool(one.error)))
            for one in report.capacitors
        ],
    )
    print_table(
        console,
        "Jobs",
        ("job", "last run>", "late>", "error"),
        [(one.name, duration(one.age), _lag(one.lag), warn(one.error or None, bool(one.error))) for one in report.jobs],
    )
    print_table(
        console,
        "Audit events that wait",
        ("sink", "events>", "for>"),
        [(one.sink, one.events, _lag(one.age)) for one in report.audit],
    )
    print_table(
        console,
        "Being done",
        ("task", "service", "projects>", "first claim ends in>"),
        [(one.task, one.service, one.projects, duration(one.until - report.at)) for one in report.leases],
        empty="nothing",
    )
    print_table(
        console,
        "Errors",
        ("task", "service", "projects>", "message"),
        [(one.task, one.service, one.projects, one.message) for one in report.errors],
    )
    _print_circuits(console, status)
    for problem in report.problems:
        console.print(warn(problem, True))
    if not report.problems:
        console.print("No problems.")


def _print_services(console: "Console", report: "StatusReport") -> None:
    rows = [
        (
            one.service,
            one.projects,
            one.unscraped,
            warn(duration(one.oldest_age), bool(one.stale)),
            warn(one.stale, bool(one.stale)),
            one.due_scrapes,
            _lag(one.scrape_lag),
            one.pending_pushes,
            _lag(one.push_age),
            warn(one.drifted, bool(one.drifted)),
            warn(one.scrape_errors + one.push_errors, bool(one.scrape_errors + one.push_errors)),
        )
        for one in report.services
    ]
    names = ("service", "projects>", "unscraped>", "oldest>", "stale>", "due>", "late>", "to push>", "waiting>")
    print_table(console, "Services", (*names, "drift>", "errors>"), rows)


def _print_circuits(console: "Console", status: "Status") -> None:
    if status.circuits is None:
        console.print(f"Circuits: no collector answers at {status.collector}")
        return
    rows = [(one.backend, warn(one.state, one.state != "closed")) for one in status.circuits]
    print_table(console, f"Circuits of the collector at {status.collector}", ("service", "state"), rows)


def _lag(seconds: float) -> object:
    return warn(duration(seconds), seconds > _LATE)
