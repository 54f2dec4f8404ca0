"""Whether two Placements hold the same, and answer the same."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from limes.placement.transfer.contents import Contents

CUSTOM = "CUSTOM_"


def differences(theirs: Contents, ours: Contents) -> Iterator[str]:
    """One line for each difference. Generations may differ, and so may standard names that nobody uses."""
    for kind, left, right in (
        ("resource class", theirs.classes, ours.classes),
        ("trait", theirs.traits, ours.traits),
    ):
        for name in sorted(left ^ right):
            if name.startswith(CUSTOM):
                yield f"{kind} {name}: only {'there' if name in left else 'here'}"
    yield from _between("provider", theirs.providers, ours.providers)
    yield from _between("consumer", theirs.consumers, ours.consumers)
    for project in sorted(set(theirs.project_usages) & set(ours.project_usages)):
        there, here = (_flat(one.project_usages[project]) for one in (theirs, ours))
        if there != here:
            yield f"project {project}: usages: {there} there, {here} here"


def _between(kind: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[str]:
    for uuid in sorted(set(theirs) | set(ours)):
        there, here = theirs.get(uuid), ours.get(uuid)
        if there is None or here is None:
            yield f"{kind} {uuid}: only {'here' if there is None else 'there'}"
            continue
        for one in fields(there):
            left, right = (_plain(getattr(state, one.name)) for state in (there, here))
            if left != right:
                yield f"{kind} {uuid}: {one.name}: {left} there, {right} here"


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset) else value


def _flat(usages: Mapping[str, Any]) -> Mapping[str, int]:
    """Sums by class: an older source does not group them by type of consumer."""
    total: dict[str, int] = {}
    for name, value in usages.items():
        for class_name, amount in (value if isinstance(value, Mapping) else {name: value}).items():
            if class_name != "consumer_count":
                total[class_name] = total.get(class_name, 0) + amount
    return total
