"""Names of services, areas and resources that do not exist are errors, and not answers without rows."""

import argparse
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from osc_lib.exceptions import CommandError

from limes_osc.client import LimesClient, Refused
from limes_osc.columns import Row
from limes_osc.suggestion import suggest


@dataclass(frozen=True, slots=True)
class Inventory:
    """What there is in this cloud."""

    services: Collection[str]
    areas: Collection[str]
    resources: Collection[str]
    """As `compute/cores`."""

    def why_unknown(self, service: str, resource: str) -> str:
        """Returns what is wrong with the name of a resource, and what may have been meant; "" if it exists."""
        if f"{service}/{resource}" in self.resources:
            return ""
        pairs = [name.split("/") for name in self.resources]
        elsewhere = [f"{other}/{name}" for other, name in pairs if name == resource]
        if elsewhere:
            return f"there is no such resource; did you mean {' or '.join(elsewhere)}?"
        if service not in self.services:
            return f"there is no such service; {suggest(service, self.services)}"
        return (
            f"{service} has no such resource; {suggest(resource, [name for other, name in pairs if other == service])}"
        )

    def meant_by(self, name: str) -> list[str]:
        """Returns the resources, as `compute/cores`, that are probably meant by a name without a service."""
        dotted = {each: each.replace("/", ".") for each in self.resources}
        short = {each: each.partition("/")[2] for each in self.resources}
        for forms in (dotted, short):
            close = get_close_matches(name.lower(), set(forms.values()), n=1, cutoff=0.65)
            if close:
                return [each for each, form in forms.items() if form == close[0]]
        return []


def read_inventory(limes: LimesClient) -> Inventory | None:
    """Returns the names; None if this user may not see them."""
    try:
        services = limes.get("/clusters/current")["cluster"]["services"]
    except Refused:
        return None
    return Inventory(
        [service["type"] for service in services],
        sorted({service["area"] for service in services}),
        [f"{service['type']}/{resource['name']}" for service in services for resource in service["resources"]],
    )


def check_filters(limes: LimesClient, args: argparse.Namespace, rows: Sequence[Row]) -> None:
    """Raises `CommandError` for each filter that names nothing. Only names that no row has are looked up."""
    unseen = [(kind, name) for kind, matches in _MATCHES.items() for name in _unseen(args, kind, matches, rows)]
    inventory = read_inventory(limes) if unseen else None
    if inventory is None:
        return
    problems = [f"--{kind} {name}: {problem}" for kind, name in unseen if (problem := _problem(inventory, kind, name))]
    if problems:
        raise CommandError("\n".join(problems))


def _unseen(args: argparse.Namespace, kind: str, matches: Callable[[Row, str], bool], rows: Sequence[Row]) -> list[str]:
    names = getattr(args, kind, None)
    return [name for name in names if not any(matches(row, name) for row in rows)] if isinstance(names, list) else []


_MATCHES: dict[str, Callable[[Row, str], bool]] = {
    "service": lambda row, name: row.get("Service") == name,
    "area": lambda row, name: row.get("Area") == name,
    "resource": lambda row, name: name in (row.get("Resource"), f"{row.get('Service')}/{row.get('Resource')}"),
}


def _problem(inventory: Inventory, kind: str, name: str) -> str:
    service, slash, resource = name.partition("/")
    if kind == "resource" and slash:
        return inventory.why_unknown(service, resource)
    known = {
        "service": inventory.services,
        "area": inventory.areas,
        "resource": {each.partition("/")[2] for each in inventory.resources},
    }[kind]
    return "" if name in known else f"there is no such {kind}; {suggest(name, known)}"
