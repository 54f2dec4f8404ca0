"""Parts of the table that domains and projects have alike, some of them the whole cloud, too."""

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import structs

from limes.api.call import Operation
from limes.api.parameters import AREA, RESOURCE, SERVICE, Parameter

DOMAIN = "/v1/domains/{domain_id}"
PROJECT = f"{DOMAIN}/projects/{{project_id}}"

SELECTION: tuple[Parameter, ...] = (SERVICE, AREA, RESOURCE)


class At(NamedTuple):
    """What is different from the whole cloud on a level; without a rule, only its prefix is."""

    summary: str
    rule: str = ""
    parameters: tuple[Parameter, ...] | None = None


def on_both_levels(table: Mapping[str, Mapping[str, Operation]]) -> dict[str, dict[str, Operation]]:
    """Returns the paths of domains, then those of projects.

    Rules and operations are named by their level. In docstrings, `{level}` is `domain` or `project`, and `{scope}` says
    that a domain's projects belong to it.
    """
    return {
        f"{path}/{what}": {
            method: structs.replace(
                operation,
                rule=f"{level}:{operation.rule}",
                also=tuple(f"{level}:{rule}" for rule in operation.also),
                name=f"{operation.handler.__name__}_{level}",
                summary=(operation.handler.__doc__ or "").format(level=level, scope=scope),
            )
            for method, operation in operations.items()
        }
        for level, path, scope in (("domain", DOMAIN, "domain and of its projects"), ("project", PROJECT, "project"))
        for what, operations in table.items()
    }


def on_every_level(
    what: str, operation: Operation, domain: At, project: At | None = None
) -> dict[str, dict[str, Operation]]:
    """Returns GET of the whole cloud, of a domain, and of a project if it is not None. The last two may be unknown."""
    assert operation.rule is not None
    table = {f"/v1/{what}": {"GET": operation}}
    for level, path, at in (("domain", DOMAIN, domain), ("project", PROJECT, project)):
        if at is not None:
            table[f"{path}/{what}"] = {
                "GET": structs.replace(
                    operation,
                    rule=at.rule or f"{level}:{operation.rule.partition(':')[2]}",
                    errors=(404,),
                    parameters=operation.parameters if at.parameters is None else at.parameters,
                    name=f"{operation.handler.__name__}_of_{level}",
                    summary=at.summary,
                )
            }
    return table
