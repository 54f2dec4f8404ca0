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
            (
                capacitor.name,
                warn(duration(capacitor.age), capacitor.stale),
                _lag(capacitor.lag),
                warn(capacitor.error or None, bool(capacitor.error)),
            )
            for capacitor in report.capacitors
        ],
    )
    _print_jobs(console, report)
    print_table(
        console,
        "Audit events that wait",
        ("sink", "events>", "for>"),
        [(sink.sink, sink.events, _lag(sink.age)) for sink in report.audit],
    )
    print_table(
        console,
        "Being done",
        ("task", "service", "projects>", "first claim ends in>"),
        [(lease.task, lease.service, lease.projects, duration(lease.until - report.at)) for lease in report.leases],
        empty="nothing",
    )
    print_table(
        console,
        "Errors",
        ("task", "service", "projects>", "message"),
        [(error.task, error.service, error.projects, error.message) for error in report.errors],
    )
    if report.errors:
        console.print("More on errors: docs/troubleshooting.md#scrapes-fail")
    _print_circuits(console, status)
    for problem in report.problems:
        console.print(warn(problem, True))
    if not report.problems:
        console.print("No problems.")


def _print_services(console: "Console", report: "StatusReport") -> None:
    rows = [
        (
            service.service,
            service.projects,
            service.unscraped,
            warn(duration(service.oldest_age), bool(service.stale)),
            warn(service.stale, bool(service.stale)),
            service.due_scrapes,
            _lag(service.scrape_lag),
            service.pending_pushes,
            _lag(service.push_age),
            warn(service.drifted, bool(service.drifted)),
            warn(service.scrape_errors + service.push_errors, bool(service.scrape_errors + service.push_errors)),
        )
        for service in report.services
    ]
    names = ("service", "projects>", "unscraped>", "oldest>", "stale>", "due>", "late>", "to push>", "waiting>")
    print_table(console, "Services", (*names, "drift>", "errors>"), rows)


def _print_jobs(console: "Console", report: "StatusReport") -> None:
    print_table(
        console,
        "Jobs",
        ("job", "last run>", "late>", "error"),
        [(job.name, duration(job.age), _lag(job.lag), warn(job.error or None, bool(job.error))) for job in report.jobs],
    )
    if report.distributions:
        print_table(
            console,
            "Quota that follows usage",
            ("resource", "computed>", "late>", "error"),
            [
                (
                    f"{row.service}/{row.resource}",
                    duration(row.age),
                    _lag(row.lag),
                    warn(row.error or None, bool(row.error)),
                )
                for row in report.distributions
            ],
        )


def _print_circuits(console: "Console", status: "Status") -> None:
    if status.circuits is None:
        console.print(f"Circuits: no collector answers at {status.collector}")
        return
    rows = [(circuit.backend, warn(circuit.state, circuit.state != "closed")) for circuit in status.circuits]
    print_table(console, f"Circuits of the collector at {status.collector}", ("service", "state"), rows)


def _lag(seconds: float) -> object:
    return warn(duration(seconds), seconds > _LATE)
