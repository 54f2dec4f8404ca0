"""`limes plugin test`: asks a configured backend about one project, as a scrape does, and shows what it says."""

import argparse
import time
from typing import Any

from limes.backends import ProjectInfo, ResourceUsage, ServiceDef, UsageReport
from limes.commands.options import Commands, add_config_option, add_exit_codes
from limes.commands.output import add_json_option, print_json, print_table, progress_console, result_console
from limes.core.quota import Unlimited


def add_to(actions: Commands, find: Any) -> None:
    """Adds `test`. `find(service, project)` answers the backend, its catalog, the service and the project."""
    action = actions.add_parser(
        "test",
        help="scrape a project once and show the report; nothing is stored",
        description="Asks the backend as the collector would, checks the report, and stores nothing.",
    )
    action.add_argument("service", help="a configured service type")
    action.add_argument("--project", metavar="ID", required=True, help="the project's UUID")
    add_json_option(action)
    add_config_option(action)
    add_exit_codes(action, {1: "the backend does not answer, or answers something that is no valid report"})
    action.set_defaults(run=lambda options: run(options, find))


def run(options: argparse.Namespace, find: Any) -> int:
    """Prints the report."""
    from limes import logs
    from limes.backends import calls

    logs.set_up(level="ERROR")  # libraries warn of each request that they repeat
    with progress_console().status(f"asking {options.service} ..."):
        backend, service, project, catalog = find(options.service, options.project)
        started = time.monotonic()
        report = calls.report_usage(backend, service, project, catalog)
        seconds = time.monotonic() - started
    if options.json:
        print_json({"project": project, "service": service.type, "seconds": round(seconds, 3), **_document(report)})
        return 0
    print_report(service, project, report)
    result_console().print(f"Answered in {seconds:.2f} s. Nothing was stored.")
    return 0


def print_report(service: ServiceDef, project: ProjectInfo, report: UsageReport) -> None:
    """Prints a usage report as a table."""
    title = f"{service.type} in {project.domain.name}/{project.name}"
    names = ("resource", "unit", "AZ", "usage>", "physical>", "items>", "backend quota>")
    print_table(result_console(), title, names, list(_rows(service, report)))


def _document(report: UsageReport) -> dict[str, Any]:
    return {
        "resources": {
            name: {"per_az": dict(usage.per_az), "quota": _quota(usage), **_bounds(usage)}
            for name, usage in report.resources.items()
        }
    }


def _quota(usage: ResourceUsage) -> str | int | None:
    return "unlimited" if isinstance(usage.quota, Unlimited) else usage.quota


def _bounds(usage: ResourceUsage) -> dict[str, int]:
    bounds = {"min_quota": usage.min_quota, "max_quota": usage.max_quota}
    return {name: bound for name, bound in bounds.items() if bound is not None}


def _rows(service: ServiceDef, report: UsageReport) -> Any:
    """One row for each resource and AZ; an AZ in which there is nothing is left out, unless it is the only one."""
    for name, usage in sorted(report.resources.items()):
        bounds = [f"{name.partition('_')[0]} {bound}" for name, bound in _bounds(usage).items()]
        quota = f"{_quota(usage)} ({', '.join(bounds)})" if bounds else _quota(usage)
        shown = {az: item for az, item in usage.per_az.items() if item.usage or item.physical_usage}
        for index, (az, item) in enumerate((shown or dict(list(usage.per_az.items())[:1])).items()):
            head = (name, service.resources[name].unit.value or None) if index == 0 else ("", "")
            items = len(item.subresources) or None
            yield (*head, az, item.usage, item.physical_usage, items, quota if index == 0 else "")
