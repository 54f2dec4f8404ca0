"""Options that several commands have."""

import argparse

from osc_lib.exceptions import CommandError

from limes.core.units import Unit
from limes_osc.amounts import AmountError, parse_amount, suggest_unit, unit_of
from limes_osc.client import Json, Query


def add_domain(parser: argparse.ArgumentParser) -> None:
    """Adds the argument that names a domain."""
    parser.add_argument("domain", metavar="<domain>", nargs="?", help="Domain (name or ID; default: that of the token)")


def add_domain_option(parser: argparse.ArgumentParser) -> None:
    """Adds `--domain`."""
    parser.add_argument(
        "--domain", metavar="<domain>", help="Domain of the project (name or ID; default: that of the token)"
    )


def add_project(parser: argparse.ArgumentParser) -> None:
    """Adds the argument that names a project."""
    parser.add_argument(
        "project", metavar="<project>", nargs="?", help="Project (name or ID; default: that of the token)"
    )


def add_project_option(parser: argparse.ArgumentParser) -> None:
    """Adds `--project`."""
    parser.add_argument("--project", metavar="<project>", help="Project (name or ID; default: that of the token)")


def add_scope(parser: argparse.ArgumentParser) -> None:
    """Adds the options that name a project, a domain or the whole cloud."""
    parser.add_argument("--domain", metavar="<domain>", help="Of this domain, or where to look for the project")
    parser.add_argument(
        "--project", metavar="<project>", help="Of this project (default: the token's project, or its domain)"
    )
    parser.add_argument("--all-domains", action="store_true", help="Of the whole cloud")


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Adds the options that select resources."""
    group = parser.add_argument_group("filters", "Each may be repeated.")
    for name, meaning in (
        ("service", "services of this type"),
        ("area", "services in this area"),
        ("resource", "resources of this name, or the resource <service>/<resource>"),
    ):
        group.add_argument(f"--{name}", metavar=f"<{name}>", action="append", default=[], help=f"Only {meaning}")


def filters_of(args: argparse.Namespace) -> list[tuple[str, str]]:
    """Returns the query of these options. The server knows services and resources by name, but not pairs: see
    `selects`."""
    pairs = [resource.rpartition("/") for resource in args.resource]
    services = args.service
    if not services and all(slash for _, slash, _ in pairs):
        services = [service for service, _, _ in pairs]
    return [
        *(("service", service) for service in services),
        *(("area", area) for area in args.area),
        *(("resource", name) for _, _, name in pairs),
    ]


def selects(args: argparse.Namespace, service: str, resource: str) -> bool:
    """Returns whether `--resource` means this one."""
    return not args.resource or resource in args.resource or f"{service}/{resource}" in args.resource


def add_unit(parser: argparse.ArgumentParser) -> None:
    """Adds `--unit`."""
    parser.add_argument(
        "--unit", metavar="<unit>", type=read_unit, help="Show amounts of measured resources in this unit, such as GiB"
    )


def read_unit(text: str) -> Unit:
    """Returns the value of `--unit`, whatever its case. Raises `argparse.ArgumentTypeError`."""
    for unit in Unit:
        if unit.is_measured and unit.value.lower() == text.lower():
            return unit
    raise argparse.ArgumentTypeError(f"{text!r} is not a unit ({suggest_unit(text)})")


def add_long(parser: argparse.ArgumentParser) -> None:
    """Adds `--long`."""
    parser.add_argument("--long", action="store_true", help="Show all columns, and times in full")


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of reports."""
    add_filters(parser)
    add_unit(parser)
    add_long(parser)
    parser.add_argument("--per-az", action="store_true", help="One row for each availability zone")
    parser.add_argument("--detail", action="store_true", help="Show what backends report on single objects")


def report_query(args: argparse.Namespace) -> list[tuple[str, str]]:
    """Returns the query of these options."""
    return [*filters_of(args), *([("detail", "")] if args.detail else [])]


def add_paging(parser: argparse.ArgumentParser) -> None:
    """Adds the options that select a part of a list."""
    parser.add_argument("--limit", metavar="<number>", type=int, help="At most this many domains, projects or changes")
    parser.add_argument("--marker", metavar="<id>", help="Only what follows this one (with --limit)")


def paging_of(args: argparse.Namespace) -> Query:
    """Returns the query of these options."""
    options = (("limit", args.limit), ("marker", args.marker))
    return [(name, str(value)) for name, value in options if value is not None]


def read_pair(text: str) -> tuple[str, str]:
    """`<service>/<resource>`. Raises `ArgumentTypeError`."""
    service, slash, resource = text.partition("/")
    if not (slash and service and resource):
        raise argparse.ArgumentTypeError(f"{text!r}: expected <service>/<resource>, such as compute/cores")
    return service, resource


def add_amount(parser: argparse.ArgumentParser) -> None:
    """Adds `--amount`."""
    parser.add_argument("--amount", metavar="<amount>", help="Only a part, such as 10 or 200GiB (default: all of it)")


def amount_of(args: argparse.Namespace, commitment: Json) -> int:
    """Returns the amount in the unit of the commitment. Raises `CommandError`."""
    if args.amount is None:
        return int(commitment["amount"])
    try:
        return parse_amount(args.amount, unit_of(commitment))
    except AmountError as error:
        raise CommandError(str(error)) from None
