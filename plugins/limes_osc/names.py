"""Names that do not exist are errors, and not answers without rows: what was probably meant, or else what there is."""

import argparse
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from osc_lib.exceptions import CommandError

from limes_osc.client import Json, LimesClient, Refused

_MANY = 20
"""With more names than this, a list of all of them does not help."""
_CLOSE = 0.65
"""How alike names have to be (1: the same) that one may be meant by the other."""


def suggest(name: str, known: Collection[str]) -> str:
    """Returns the end of an error about an unknown name: `did you mean ...?`, or `there are: ...`."""
    lowered = {each.lower(): each for each in known}
    matches = get_close_matches(name.lower(), lowered, n=2, cutoff=_CLOSE)
    if matches:
        return f"did you mean {' or '.join(lowered[match] for match in matches)}?"
    if not known:
        return "there are none"
    if len(known) > _MANY:
        return f"there are {len(known)} others"
    return f"there are: {', '.join(sorted(known))}"


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
            close = get_close_matches(name.lower(), set(forms.values()), n=1, cutoff=_CLOSE)
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


def check_filters(limes: LimesClient, args: argparse.Namespace, rows: Sequence[Json]) -> None:
    """Raises `CommandError` for each filter that names nothing. Only names that no row has are looked up."""
    pairs = [(row.get("Service"), row.get("Resource")) for row in rows]
    seen = {
        "service": {service for service, _ in pairs},
        "area": {row.get("Area") for row in rows},
        "resource": {resource for _, resource in pairs} | {f"{service}/{resource}" for service, resource in pairs},
    }
    unseen = [(kind, name) for kind in seen for name in _names(args, kind) if name not in seen[kind]]
    inventory = read_inventory(limes) if unseen else None
    if inventory is None:
        return
    problems = [f"--{kind} {name}: {problem}" for kind, name in unseen if (problem := _problem(inventory, kind, name))]
    if problems:
        raise CommandError("\n".join(problems))


def _names(args: argparse.Namespace, kind: str) -> list[str]:
    """Returns the values of a filter. Some commands have an argument of the same name, which is no list."""
    names = getattr(args, kind, None)
    return names if isinstance(names, list) else []


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
