"""Policy rules of the Limes API, by the original's names, with defaults that need no file: who is who. What each may do
is in the `routes` of each feature.

Targets: `domain_id` and `project_id` from the path; for raise and lower rules also `service_type` and `resource_name`;
for `cluster:show_subcapacity` also `service` and `resource`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import structs

from limes.auth.context import Identity
from limes.auth.policy import Policy, Rule

Level = Literal["project", "domain", "cluster"]
"""Where somebody has a role: `cluster` is anywhere."""


def rules(level: str, **who_may_what: tuple[str, str]) -> Iterator[Rule]:
    """Yields rules of `cluster`, `domain`, `project` or `user`. A verb has one of the rules below (`@`: everybody), and
    what it is for."""
    for verb, (who, description) in who_may_what.items():
        yield Rule(f"{level}:{verb}", who if who == "@" else f"rule:{who}", description)


WHO_IS_WHO = (
    Rule(
        "project_scope",
        "project_domain_id:%(domain_id)s and project_id:%(project_id)s",
        "The token is scoped to the project in the path.",
    ),
    Rule("domain_scope", "domain_id:%(domain_id)s", "The token is scoped to the domain in the path."),
    Rule("cluster_admin", "role:cloud_resource_admin", "Who administrates the quota of the whole cloud."),
    Rule("billing", "role:cloud_billing_viewer", "Who reads all reports and commitments to write bills."),
    Rule(
        "cluster_viewer",
        "rule:cluster_admin or role:cloud_resource_viewer or rule:billing",
        "Who sees the whole cloud, and changes nothing.",
    ),
    Rule(
        "domain_editor",
        "rule:cluster_admin or (role:resource_admin and rule:domain_scope)",
        "Who administrates the quota of this domain.",
    ),
    Rule(
        "domain_viewer",
        "rule:cluster_viewer or rule:domain_editor or (role:resource_viewer and rule:domain_scope)",
        "Who sees this domain and its projects.",
    ),
    Rule(
        "project_editor",
        "rule:domain_editor or ((role:admin or role:resource_admin) and rule:project_scope)",
        "Who administrates this project.",
    ),
    Rule("project_member", "rule:project_editor or (role:member and rule:project_scope)", "Who works in this project."),
    Rule(
        "project_viewer",
        "rule:domain_viewer or rule:project_member or ((role:reader or role:resource_viewer) and rule:project_scope)",
        "Who sees this project.",
    ),
)

_ON: Mapping[Level, Identity] = {
    "project": Identity("", project_id="p", project_domain_id="d"),
    "domain": Identity("", domain_id="d"),
    "cluster": Identity(""),
}
_TARGET = {"domain_id": "d", "project_id": "p"}


def roles_that_pass(policy: Policy, rule: str, target: Mapping[str, str]) -> dict[Level, list[str]]:
    """Returns the roles of which one is enough for a rule, by where a user has to have them, the nearest first. Which
    project or domain the target is does not matter."""
    asked = {**target, **{name: id_ for name, id_ in _TARGET.items() if name in target}}
    found: dict[Level, list[str]] = {}
    anywhere: list[str] = []
    for level in ("cluster", "domain", "project"):
        if level == "project" and "project_id" not in target:
            continue
        passing = [
            role for role in policy.roles() if policy.allows(rule, structs.replace(_ON[level], roles=(role,)), asked)
        ]
        found[level] = [role for role in passing if role not in anywhere]
        anywhere = found["cluster"]
    return {level: found[level] for level in reversed(found) if found[level]}


_PLACES: Mapping[Level, str] = {"project": " on the project", "domain": " on the domain", "cluster": ""}


def needed_roles(policy: Policy, rule: str, target: Mapping[str, str]) -> str:
    """Returns in words which role a user needs: `the role admin on the project, or cloud_resource_admin`; nothing if no
    role is enough by itself."""
    found = roles_that_pass(policy, rule, target)
    parts = [_or(roles) + _PLACES[level] for level, roles in found.items()]
    return f"the role {', or '.join(parts)}" if parts else ""


def _or(names: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
