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
    theirs_used, ours_used = theirs.project_usages, ours.project_usages
    for project in sorted(set(theirs_used) & set(ours_used)):
        there, here = theirs_used[project], ours_used[project]
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
