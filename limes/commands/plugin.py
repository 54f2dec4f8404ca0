"""`limes plugin`: what is installed, and what a configured backend answers, without a collector or a database."""

import argparse
import dataclasses
from typing import Any

import orjson

from limes.commands import plugin_test
from limes.commands.options import Commands, add_config_option
from limes.errors import ConfigError, NotFound


def add_to(commands: Commands) -> None:
    """Adds `plugin list`, `test`, `get-usage`, `set-quota` and `scan-capacity`."""
    parser = commands.add_parser("plugin", help="list plugins; try out the configured backends")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    actions.add_parser("list", help="list installed plugins").set_defaults(run=list_plugins)
    plugin_test.add_to(actions, _find)
    action = actions.add_parser("get-usage", help="print what a backend reports for a project")
    action.add_argument("service")
    action.add_argument("project", help="the project's UUID")
    action.set_defaults(run=get_usage)
    add_config_option(action)
    action = actions.add_parser("set-quota", help="write a project's quota into a backend, past the database")
    action.add_argument("service")
    action.add_argument("project", help="the project's UUID")
    action.add_argument("quotas", nargs="+", metavar="RESOURCE=AMOUNT", help="every resource of the service")
    action.set_defaults(run=set_quota)
    add_config_option(action)
    action = actions.add_parser("scan-capacity", help="print what a capacitor reports")
    action.add_argument("capacitor")
    action.set_defaults(run=scan_capacity)
    add_config_option(action)


def list_plugins(options: argparse.Namespace) -> int:
    """Prints each plugin with what it offers."""
    from limes.backends.loader import Plugins

    plugins = Plugins()
    for name in plugins.names:
        try:
            plugin = plugins.get(name)
        except ConfigError as error:
            print(f"{name}: {error}")
            continue
        kinds = [kind for kind in ("quota", "capacity", "discovery") if getattr(plugin, kind) is not None]
        print(f"{name}: {', '.join(kinds)}")
    return 0


def get_usage(options: argparse.Namespace) -> int:
    """Prints a validated usage report as JSON."""
    from limes.backends import ask

    cluster = _cluster()
    service = _service(cluster, options.service)
    project = _project(cluster, options.project)
    _print(ask.report_usage(cluster.backends.quota[service.type], service, project, cluster.catalog))
    return 0


def set_quota(options: argparse.Namespace) -> int:
    """Writes quotas. Backends expect all quota-tracking resources of a service at once."""
    from limes.backends import ask

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
    ask.set_quota(cluster.backends.quota[service.type], service, _project(cluster, options.project), wanted)
    return 0


def scan_capacity(options: argparse.Namespace) -> int:
    """Prints a validated capacity report as JSON."""
    from limes.backends import ask

    cluster = _cluster()
    if options.capacitor not in cluster.backends.capacity:
        raise NotFound(f"no capacitor {options.capacitor!r}; there are: {', '.join(cluster.backends.capacity)}")
    _print(ask.report_capacity(cluster.backends.capacity[options.capacitor], options.capacitor, cluster.catalog))
    return 0


def _cluster() -> Any:
    from limes.composition.cluster import build_cluster
    from limes.composition.common import load_settings
    from limes.composition.identity import open_cloud

    settings = load_settings()
    return build_cluster(settings, open_cloud(settings))


def _find(service_type: str, project: str) -> tuple[Any, Any, Any, Any]:
    cluster = _cluster()
    service = _service(cluster, service_type)
    return cluster.backends.quota[service.type], service, _project(cluster, project), cluster.catalog


def _service(cluster: Any, service_type: str) -> Any:
    if service_type not in cluster.catalog.services:
        raise NotFound(f"no service {service_type!r}; there are: {', '.join(cluster.catalog.services)}")
    return cluster.catalog.services[service_type]


def _project(cluster: Any, uuid: str) -> Any:
    """Looks for the project in all domains that discovery finds."""
    from limes.backends import ask

    for domain in ask.list_domains(cluster.backends.discovery, None, None):
        for project in ask.list_projects(cluster.backends.discovery, domain):
            if project.id == uuid:
                return project
    raise NotFound(f"discovery finds no project {uuid}")


def _print(report: Any) -> None:
    def default(value: Any) -> Any:
        is_report = dataclasses.is_dataclass(value) and not isinstance(value, type)
        return dataclasses.asdict(value) if is_report else str(value)

    print(orjson.dumps(report, default=default, option=orjson.OPT_INDENT_2).decode())
