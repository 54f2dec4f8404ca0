"""What a token may do: to the whole cloud, to a domain, and to a project. Each right is a policy rule, or some of them.

Clients ask for these instead of trying requests that are refused. Without a domain or project, the answer is about
every domain or project: the rules are asked about a target without its id, as those of the whole cloud are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from limes.core.catalog import Ref

CLOUD = {
    "show": "cluster:show",
    "show_inconsistencies": "cluster:show",
    "show_errors": "cluster:show_errors",
    "show_alerts": "cluster:show_alerts",
    "list_domains": "domain:list",
    "list_projects": "cluster:list_projects",
    "list_commitments": "cluster:list_commitments",
    "list_requests": "cluster:list_requests",
    "show_public_commitments": "cluster:show_public_commitments",
    "discover_domains": "domain:discover",
}
DOMAIN = {
    "show": "domain:show",
    "show_history": "domain:show_history",
    "show_alerts": "domain:show_alerts",
    "list_projects": "project:list",
    "discover_projects": "project:discover",
    "show_requests": "domain:show_requests",
    "request_quota": "domain:request_quota",
    "decide_requests": "domain:decide_requests",
}
PROJECT = {
    "show": "project:show",
    "show_history": "project:show_history",
    "show_alerts": "project:show_alerts",
    "sync": "project:sync",
    "show_requests": "project:show_requests",
    "request_quota": "project:request_quota",
    "decide_requests": "project:decide_requests",
    "set_bursting": "project:edit",
    "buy_commitments": "project:edit",
    "plan_commitments": "project:edit",
    "change_commitments": "project:edit",
    "move_commitments": "project:edit",
    "delete_commitments": "project:uncommit",
}
"""Rights by name, each with its rule."""

_VERBS = ("raise", "raise_lowpriv", "lower", "lower_lowpriv")

Asks = Callable[[str, Mapping[str, str]], bool]
"""Returns whether the caller passes a rule on a target."""


@dataclass(frozen=True, slots=True)
class Resources:
    """Those whose quota can be set."""

    refs: Sequence[Ref]
    with_lowpriv_limit: Sequence[Ref]
    """Where the configuration has a limit: without one, the low-privilege rules allow nothing."""
    has_growing: bool = False
    """Whether there are others, whose quota grows by itself."""


def cloud_rights(asks: Asks) -> dict[str, bool]:
    """Returns what can be done with the cloud as a whole."""
    return {name: asks(rule, {}) for name, rule in CLOUD.items()}


def domain_rights(asks: Asks, target: Mapping[str, str], resources: Resources) -> dict[str, bool]:
    """Returns what can be done with a domain."""
    rights = _rights(asks, target, DOMAIN, "domain", resources)
    rights["limit_growth"] = resources.has_growing and asks("domain:edit", target)
    return rights


def project_rights(
    asks: Asks, target: Mapping[str, str], resources: Resources, *, can_take_back: bool
) -> dict[str, bool]:
    """Returns what can be done with a project. `can_take_back`: whether new commitments can be deleted for a while."""
    rights = _rights(asks, target, PROJECT, "project", resources)
    rights["limit_growth"] = resources.has_growing and asks("project:edit", target)
    rights["grant_growing"] = resources.has_growing and asks("project:grant_quota", target)
    rights["take_back_commitments"] = can_take_back and asks("project:edit", target)
    return rights


def _rights(
    asks: Asks, target: Mapping[str, str], rules: Mapping[str, str], level: str, resources: Resources
) -> dict[str, bool]:
    rights = {name: asks(rule, target) for name, rule in rules.items()}
    may_enter = rights["show"]  # what PUT asks for first
    quota = {f"{verb}_quota": may_enter and _may(asks, target, level, verb, resources) for verb in _VERBS}
    return {**rights, **quota, "set_quota": any(quota.values())}


def _may(asks: Asks, target: Mapping[str, str], level: str, verb: str, resources: Resources) -> bool:
    """Returns whether that can be done to the quota of at least one resource."""
    refs = resources.with_lowpriv_limit if verb.endswith("_lowpriv") else resources.refs
    return any(
        asks(f"{level}:{verb}", {**target, "service_type": service_type, "resource_name": resource_name})
        for service_type, resource_name in refs
    )
