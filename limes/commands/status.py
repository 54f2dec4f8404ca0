"""`limes status`: how the collectors' work goes, read from the database."""

import argparse
from typing import TYPE_CHECKING, Any

from limes.commands import terminal
from limes.commands.terminal import duration, print_table, warn

if TYPE_CHECKING:
    from rich.console import Console

    from limes.actions.reports.status import StatusReport
    from limes.composition.operator_commands import Status

_LATE = 600.0
"""Seconds of lag that are shown in red."""


def add_to(commands: terminal.Commands) -> None:
    terminal.add_command(
        commands,
        "status",
        run,
        "how the collectors' work goes: lag, errors, old figures, leases",
        terminal.argument(
            "--collector", metavar="HOST:PORT", help="the collector to ask for its circuits (default: collector.listen)"
        ),
        *(terminal.add_config_option, terminal.add_json_option),
        description="Reads the database, and asks a collector for its circuits.",
        codes={1: "there are problems, or an error"},
    )


def run(options: argparse.Namespace) -> int:
    from limes.composition.operator_commands import read_status

    status = read_status(options.collector)
    if options.json:
        terminal.print_json(status)
    else:
        _print(status)
    return 1 if status.report.problems else 0


def _print(status: "Status") -> None:
    console, report = terminal.result_console(), status.report
    _print_services(console, report)
    capacitors = [(each.name, warn(duration(each.age), each.stale), *_state(each)) for each in report.capacitors]
    print_table(console, "Capacitors", ("capacitor", "age>", "late>", "error"), capacitors)
    jobs = [(job.name, duration(job.age), *_state(job)) for job in report.jobs]
    print_table(console, "Jobs", ("job", "last run>", "late>", "error"), jobs)
    if report.distributions:
        rows = [(f"{row.service}/{row.resource}", duration(row.age), *_state(row)) for row in report.distributions]
        print_table(console, "Quota that follows usage", ("resource", "computed>", "late>", "error"), rows)
    waiting = [(sink.sink, sink.events, _lag(sink.age)) for sink in report.audit]
    print_table(console, "Audit events that wait", ("sink", "events>", "for>"), waiting)
    leases = [(each.task, each.service, each.projects, duration(each.until - report.at)) for each in report.leases]
    names = ("task", "service", "projects>", "first claim ends in>")
    print_table(console, "Being done", names, leases, empty="nothing")
    errors = [(error.task, error.service, error.projects, error.message) for error in report.errors]
    print_table(console, "Errors", ("task", "service", "projects>", "message"), errors)
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
            _some(service.stale),
            service.due_scrapes,
            _lag(service.scrape_lag),
            service.pending_pushes,
            _lag(service.push_age),
            _some(service.drifted),
            _some(service.scrape_errors + service.push_errors),
        )
        for service in report.services
    ]
    names = ("service", "projects>", "unscraped>", "oldest>", "stale>", "due>", "late>", "to push>", "waiting>")
    print_table(console, "Services", (*names, "drift>", "errors>"), rows)


def _print_circuits(console: "Console", status: "Status") -> None:
    if status.circuits is None:
        console.print(f"Circuits: no collector answers at {status.collector}")
        return
    rows = [(circuit.backend, warn(circuit.state, circuit.state != "closed")) for circuit in status.circuits]
    print_table(console, f"Circuits of the collector at {status.collector}", ("service", "state"), rows)


def _state(work: Any) -> tuple[Any, Any]:
    """Returns how late something is, and its error."""
    return _lag(work.lag), warn(work.error or None, bool(work.error))


def _lag(seconds: float) -> Any:
    return warn(duration(seconds), seconds > _LATE)


def _some(number: int) -> Any:
    return warn(number, number > 0)
