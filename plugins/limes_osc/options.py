"""Options that several commands have, and what they say."""

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from limes.core.units import Unit
from limes_osc.amounts import parse_amount, suggest_unit, unit_of
from limes_osc.client import Json
from limes_osc.times import read_time

Options = Sequence[Callable[[argparse.ArgumentParser], Any]]
"""Functions that add options to a parser."""
Pairs = list[tuple[str, str]]
"""A query."""


def option(*names: str, **settings: Any) -> Callable[[argparse.ArgumentParser], Any]:
    """Returns a function that adds an option to a parser, or an argument. Help calls its value by its last name."""
    if "choices" not in settings and settings.get("action", "append") == "append":
        settings.setdefault("metavar", f"<{names[-1].lstrip('-')}>")
    return lambda parser: parser.add_argument(*names, **settings)


def repeated(*names: str, **settings: Any) -> Callable[[argparse.ArgumentParser], Any]:
    """Returns the same for an option that may be repeated: a list."""
    return option(*names, action="append", default=[], **settings)


def time_option(*names: str, **settings: Any) -> Callable[[argparse.ArgumentParser], Any]:
    """Returns the same for an option with a time."""
    return option(*names, metavar="<time>", type=read_time, **settings)


def read_unit(text: str) -> Unit:
    """Returns the value of `--unit`, whatever its case. Raises `argparse.ArgumentTypeError`."""
    for unit in Unit:
        if unit.is_measured and unit.value.lower() == text.lower():
            return unit
    raise argparse.ArgumentTypeError(f"{text!r} is not a unit ({suggest_unit(text)})")


def read_pair(text: str) -> tuple[str, str]:
    """`<service>/<resource>`. Raises `ArgumentTypeError`."""
    service, slash, resource = text.partition("/")
    if not (slash and service and resource):
        raise argparse.ArgumentTypeError(f"{text!r}: expected <service>/<resource>, such as compute/cores")
    return service, resource


_DEFAULT = "(name or ID; default: that of the token)"
add_domain = option("domain", nargs="?", help=f"Domain {_DEFAULT}")
add_domain_option = option("--domain", help=f"Domain of the project {_DEFAULT}")
add_project = option("project", nargs="?", help=f"Project {_DEFAULT}")
add_project_option = option("--project", help=f"Project {_DEFAULT}")
SCOPE: Options = (
    option("--domain", help="Of this domain, or where to look for the project"),
    option("--project", help="Of this project (default: the token's project, or its domain)"),
    option("--all-domains", action="store_true", help="Of the whole cloud"),
)
"""A project, a domain or the whole cloud."""
add_resource = option(
    "resource", metavar="<service>/<resource>", type=read_pair, help="Resource, such as compute/cores"
)
add_unit = option("--unit", type=read_unit, help="Show amounts of measured resources in this unit, such as GiB")
add_long = option("--long", action="store_true", help="Show all columns, and times in full")
add_amount = option("--amount", help="Only a part, such as 10 or 200GiB (default: all of it)")
PAGING: Options = (
    option("--limit", metavar="<number>", type=int, help="At most this many domains, projects or changes"),
    option("--marker", metavar="<id>", help="Only what follows this one (with --limit)"),
)


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Adds the options that select resources."""
    group = parser.add_argument_group("filters", "Each may be repeated.")
    for name, meaning in (
        ("service", "services of this type"),
        ("area", "services in this area"),
        ("resource", "resources of this name, or the resource <service>/<resource>"),
    ):
        group.add_argument(f"--{name}", metavar=f"<{name}>", action="append", default=[], help=f"Only {meaning}")


def pairs_of(values: Mapping[str, Any]) -> Pairs:
    """Returns the query of these values. None and False are left out, and of a list each is named."""
    return [
        (name, "true" if value is True else str(value))
        for name, given in values.items()
        for value in (given if isinstance(given, list) else [given])
        if value is not None and value is not False
    ]


def filters_of(args: argparse.Namespace) -> Pairs:
    """Returns the query of the filters. The server knows services and resources by name, but not pairs: see
    `selects`."""
    pairs = [resource.rpartition("/") for resource in args.resource]
    services = args.service
    if not services and all(slash for _, slash, _ in pairs):
        services = [service for service, _, _ in pairs]
    return pairs_of({"service": services, "area": args.area, "resource": [name for _, _, name in pairs]})


def selects(args: argparse.Namespace, service: str | None, resource: str) -> bool:
    """Returns whether `--resource` means this one."""
    return not args.resource or resource in args.resource or f"{service}/{resource}" in args.resource


def selected(args: argparse.Namespace, entries: Iterable[Json]) -> Iterator[Json]:
    """Yields the entries that `--resource` means. What belongs to no resource belongs to all."""
    for entry in entries:
        service = entry.get("service_type", entry.get("service"))
        resource = entry.get("resource_name", entry.get("resource"))
        if resource is None or selects(args, service, resource):
            yield entry


def amount_of(args: argparse.Namespace, commitment: Json) -> int:
    """Returns the amount in the unit of the commitment. Raises `CommandError`."""
    if args.amount is None:
        return int(commitment["amount"])
    return parse_amount(args.amount, unit_of(commitment))
