"""`limes plugin`: what is installed, and what a configured backend answers, without a collector or a database."""

import argparse
import time
from typing import TYPE_CHECKING, Any

from limes.app.commands import terminal
from limes.kernel.errors import ConfigError, NotFound

if TYPE_CHECKING:
    from limes.backends import ProjectInfo, ResourceUsage, ServiceDef, UsageReport


_SERVICE = terminal.argument("service", help="a configured service type")
_PROJECT = terminal.argument("project", help="the project's UUID")


def add_to(commands: terminal.Commands) -> None:
    parser = commands.add_parser("plugin", help="list plugins; try out the configured backends")
    actions = terminal.add_actions(parser)
    terminal.add_command(actions, "list", list_plugins, "list installed plugins", terminal.add_json_option)
    terminal.add_command(
        actions,
        "test",
        scrape_once,
        "scrape a project once and show the report; nothing is stored",
        *(_SERVICE, terminal.argument("--project", metavar="ID", required=True, help="the project's UUID")),
        *(terminal.add_json_option, terminal.add_config_option),
        description="Asks the backend as the collector would, checks the report, and stores nothing.",
        codes={1: "the backend does not answer, or answers something that is no valid report"},
    )
    quotas = terminal.argument("quotas", nargs="+", metavar="RESOURCE=AMOUNT", help="every resource of the service")
    capacitor = terminal.argument("capacitor", help="the id of a configured capacitor")
    of_project = (terminal.add_config_option, _SERVICE, _PROJECT)
    codes = {1: "the backend does not answer, or not as it should, or another error"}
    text = "print what a backend reports for a project"
    terminal.add_command(actions, "get-usage", get_usage, text, *of_project, terminal.add_json_option, codes=codes)
    text = "write a project's quota into a backend, past the database"
    terminal.add_command(actions, "set-quota", set_quota, text, *of_project, quotas, codes=codes)
    options, text = (terminal.add_config_option, capacitor, terminal.add_json_option), "print what a capacitor reports"
    terminal.add_command(actions, "scan-capacity", scan_capacity, text, *options, codes=codes)


def list_plugins(options: argparse.Namespace) -> int:
    from limes.backends.loader import Plugins

    plugins = Plugins()
    descriptions: list[dict[str, Any]] = []
    for name in plugins.names:
        try:
            plugin = plugins.get(name)
        except ConfigError as error:
            descriptions.append({"name": name, "offers": [], "description": str(error)})
            continue
        kinds = [kind for kind in ("quota", "capacity", "discovery") if getattr(plugin, kind) is not None]
        descriptions.append({"name": name, "offers": kinds, "description": plugin.description})
    if options.json:
        terminal.print_json({"plugins": descriptions})
    else:
        rows = [(each["name"], ", ".join(each["offers"]), each["description"]) for each in descriptions]
        terminal.print_table(terminal.result_console(), "Plugins", ("name", "offers", "description"), rows)
    return 0


def get_usage(options: argparse.Namespace) -> int:
    service, project, report, _ = _ask(options)
    if options.json:
        terminal.print_json(report)
    else:
        print_report(service, project, report)
    return 0


def set_quota(options: argparse.Namespace) -> int:
    """Writes quotas. Backends expect all quota-tracking resources of a service at once."""
    from limes.backends import calls

    cluster = _cluster()
    service = _service(cluster, options.service)
    wanted = {}
    for item in options.quotas:
        name, equals, amount = item.partition("=")
        if not equals or not amount.isdecimal():
            raise ConfigError([f"{item!r}: expected RESOURCE=AMOUNT with a whole number"])
        wanted[name] = int(amount)
    expected = {name for name, resource in service.resources.items() if resource.tracks_quota}
    if set(wanted) != expected:
        raise ConfigError([f"expected a value for each of: {', '.join(sorted(expected))}"])
    calls.set_quota(cluster.backends.quota[service.type], service, _project(cluster, options.project), wanted)
    return 0


def scan_capacity(options: argparse.Namespace) -> int:
    from limes.backends import calls

    cluster = _cluster()
    if options.capacitor not in cluster.backends.capacity:
        raise NotFound(f"no capacitor {options.capacitor!r}; there are: {', '.join(cluster.backends.capacity)}")
    with terminal.progress_console().status(f"asking {options.capacitor} ..."):
        report = calls.report_capacity(cluster.backends.capacity[options.capacitor], options.capacitor, cluster.catalog)
    if options.json:
        terminal.print_json(report)
        return 0
    rows = [
        (service, resource, az, zone.capacity, zone.usage, len(zone.subcapacities) or None)
        for service, resources in report.services.items()
        for resource, zones in resources.items()
        for az, zone in zones.items()
    ]
    names = ("service", "resource", "AZ", "capacity>", "usage>", "items>")
    terminal.print_table(terminal.result_console(), f"Capacity by {options.capacitor}", names, rows)
    return 0


def _cluster() -> Any:
    from limes.app.composition.cluster import build_cluster
    from limes.app.composition.common import load_settings

    return build_cluster(load_settings())


def _ask(options: argparse.Namespace) -> "tuple[ServiceDef, ProjectInfo, UsageReport, float]":
    """Asks a backend for a project's usage. Returns the report, and how long it has taken."""
    from limes.backends import calls

    with terminal.progress_console().status(f"asking {options.service} ..."):
        cluster = _cluster()
        service = _service(cluster, options.service)
        project = _project(cluster, options.project)
        started = time.monotonic()
        report = calls.report_usage(cluster.backends.quota[service.type], service, project, cluster.catalog)
        return service, project, report, time.monotonic() - started


def _service(cluster: Any, service_type: str) -> Any:
    if service_type not in cluster.catalog.services:
        raise NotFound(f"no service {service_type!r}; there are: {', '.join(cluster.catalog.services)}")
    return cluster.catalog.services[service_type]


def _project(cluster: Any, uuid: str) -> Any:
    from limes.backends import calls

    for domain in calls.list_domains(cluster.backends.discovery, None, None):
        for project in calls.list_projects(cluster.backends.discovery, domain):
            if project.id == uuid:
                return project
    raise NotFound(f"discovery finds no project {uuid}")


def scrape_once(options: argparse.Namespace) -> int:
    from limes.kernel import logs

    logs.set_up(level="ERROR")  # libraries warn of each request that they repeat
    service, project, report, seconds = _ask(options)
    if options.json:
        resources = {
            name: {"per_az": dict(usage.per_az), "quota": _quota(usage), **_bounds(usage)}
            for name, usage in report.resources.items()
        }
        document = {"project": project, "service": service.type, "seconds": round(seconds, 3), "resources": resources}
        terminal.print_json(document)
        return 0
    print_report(service, project, report)
    terminal.result_console().print(f"Answered in {seconds:.2f} s. Nothing was stored.")
    return 0


def print_report(service: "ServiceDef", project: "ProjectInfo", report: "UsageReport") -> None:
    title = f"{service.type} in {project.domain.name}/{project.name}"
    names = ("resource", "unit", "AZ", "usage>", "physical>", "items>", "backend quota>")
    terminal.print_table(terminal.result_console(), title, names, list(_usage_rows(service, report)))


def _quota(usage: "ResourceUsage") -> str | int | None:
    from limes.backends.base import Unlimited

    return "unlimited" if isinstance(usage.quota, Unlimited) else usage.quota


def _bounds(usage: "ResourceUsage") -> dict[str, int]:
    bounds = {"min_quota": usage.min_quota, "max_quota": usage.max_quota}
    return {name: bound for name, bound in bounds.items() if bound is not None}


def _usage_rows(service: "ServiceDef", report: "UsageReport") -> Any:
    """Returns one row for each resource and AZ; an empty AZ is left out, unless it is the only one."""
    for name, usage in sorted(report.resources.items()):
        bounds = [f"{name.partition('_')[0]} {bound}" for name, bound in _bounds(usage).items()]
        quota = f"{_quota(usage)} ({', '.join(bounds)})" if bounds else _quota(usage)
        shown = {az: item for az, item in usage.per_az.items() if item.usage or item.physical_usage}
        for index, (az, item) in enumerate((shown or dict(list(usage.per_az.items())[:1])).items()):
            head = (name, service.resources[name].unit.value or None) if index == 0 else ("", "")
            items = len(item.subresources) or None
            yield (*head, az, item.usage, item.physical_usage, items, quota if index == 0 else "")
