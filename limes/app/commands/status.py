"""`limes status`: how the collectors' work goes, read from the database."""

import argparse
from contextlib import closing
from typing import TYPE_CHECKING, Any

from limes.app.commands import terminal
from limes.app.commands.terminal import duration, print_table, warn

if TYPE_CHECKING:
    from rich.console import Console

    from limes.reports.status import StatusReport

_LATE = 600.0
"""Seconds of lag that are shown in red."""
_PATIENCE = 3.0


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
    from limes.app.composition.common import load_settings, open_checked_engine
    from limes.kernel.system import SystemClock
    from limes.kernel.validation.sections import reachable
    from limes.reports.status import report_status

    settings = load_settings()
    stale_after = settings.collector.stale_after
    with closing(open_checked_engine(settings, "limes-status")) as engine:
        report = report_status(engine, stale_after, SystemClock().now().timestamp())
    collector = options.collector or reachable(settings.collector.listen)
    circuits = _circuits(collector)
    if options.json:
        about = {"stale_after": stale_after, "collector": collector, "circuits": circuits}
        terminal.print_json({"report": report, **about})
    else:
        _print(report, collector, circuits)
    return 1 if report.problems else 0


def _circuits(collector: str) -> list[dict[str, str]] | None:
    """Returns the state of the circuit to each backend (`closed`, `half-open`, `open`); None without an answer."""
    import requests
    from prometheus_client.parser import text_string_to_metric_families

    from limes.collector.metrics import CIRCUIT_NAME, CIRCUIT_STATES
    from limes.kernel.errors import BackendError
    from limes.kernel.outgoing import GuardedSession

    try:
        answer = GuardedSession().get(f"http://{collector}/metrics", timeout=_PATIENCE)
        answer.raise_for_status()
        families = list(text_string_to_metric_families(answer.text))
    except (requests.RequestException, BackendError, ValueError):
        return None
    names = {value: name for name, value in CIRCUIT_STATES.items()}
    samples = [sample for family in families if family.name == CIRCUIT_NAME for sample in family.samples]
    return [{"backend": sample.labels["backend"], "state": names[int(sample.value)]} for sample in samples]


def _print(report: "StatusReport", collector: str, circuits: list[dict[str, str]] | None) -> None:
    console = terminal.result_console()
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
    if circuits is None:
        console.print(f"Circuits: no collector answers at {collector}")
    else:
        states = [(each["backend"], warn(each["state"], each["state"] != "closed")) for each in circuits]
        print_table(console, f"Circuits of the collector at {collector}", ("service", "state"), states)
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


def _state(work: Any) -> tuple[Any, Any]:
    """Returns how late something is, and its error."""
    return _lag(work.lag), warn(work.error or None, bool(work.error))


def _lag(seconds: float) -> Any:
    return warn(duration(seconds), seconds > _LATE)


def _some(number: int) -> Any:
    return warn(number, number > 0)
