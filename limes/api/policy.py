"""The policy rules of the Limes API, by the original's names, with a default that needs no file.

Targets: `domain_id` and `project_id` from the path; for raise and lower rules also `service_type` and `resource_name`;
for `cluster:show_subcapacity` also `service` and `resource`.
"""

from collections.abc import Mapping
from typing import Any

import falcon

from limes.auth.policy import Policy, Rule
from limes.core.catalog import Ref
from limes.core.permissions import Permissions
from limes.errors import Forbidden

_PROJECT = "/v1/domains/{domain_id}/projects/{project_id}"
_DOMAIN = "/v1/domains/{domain_id}"

RULES = (
    # helpers
    Rule(
        "project_scope",
        "project_domain_id:%(domain_id)s and project_id:%(project_id)s",
        "The token is scoped to the project in the path.",
    ),
    Rule("domain_scope", "domain_id:%(domain_id)s", "The token is scoped to the domain in the path."),
    Rule("cluster_admin", "role:cloud_resource_admin", "Who administrates the quota of the whole cloud."),
    Rule("cluster_viewer", "rule:cluster_admin or role:cloud_resource_viewer", "Who sees the whole cloud."),
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
    Rule(
        "project_viewer",
        "rule:domain_viewer or rule:project_editor or"
        " ((role:member or role:reader or role:resource_viewer) and rule:project_scope)",
        "Who sees this project.",
    ),
    # projects
    Rule("project:list", "rule:domain_viewer", "List the projects of a domain.", (("GET", f"{_DOMAIN}/projects"),)),
    Rule(
        "project:show",
        "rule:project_viewer",
        "Show a project. Also needed to enter PUT and simulate-put.",
        (
            ("GET", _PROJECT),
            ("PUT", _PROJECT),
            ("POST", f"{_PROJECT}/simulate-put"),
            ("GET", f"{_PROJECT}/explain"),
            ("GET", f"{_PROJECT}/commitments"),
            ("GET", f"{_PROJECT}/commitments/utilisation"),
        ),
    ),
    Rule(
        "project:show_history",
        "rule:project_viewer",
        "Show who and what changed the quotas of a project, and when.",
        (("GET", f"{_PROJECT}/history"),),
    ),
    Rule(
        "project:edit",
        "rule:project_editor",
        "Switch bursting of a project; make and move commitments. Transfer tokens are only shown to those who pass.",
        (
            ("POST", f"{_PROJECT}/commitments/new"),
            ("POST", f"{_PROJECT}/commitments/can-confirm"),
            ("POST", f"{_PROJECT}/commitments/plan"),
            ("POST", f"{_PROJECT}/commitments/merge"),
            ("POST", f"{_PROJECT}/commitments/{{id}}/renew"),
            ("POST", f"{_PROJECT}/commitments/{{id}}/update-duration"),
            ("POST", f"{_PROJECT}/commitments/{{id}}/convert"),
            ("POST", f"{_PROJECT}/commitments/{{id}}/start-transfer"),
            ("POST", f"{_PROJECT}/transfer-commitment/{{id}}"),
        ),
    ),
    Rule(
        "project:sync",
        "rule:project_editor",
        "Ask for a scrape of a project as soon as possible.",
        (("POST", f"{_PROJECT}/sync"),),
    ),
    Rule("project:raise", "rule:domain_editor", "Raise quotas of a project.", (("PUT", _PROJECT),)),
    Rule(
        "project:raise_lowpriv",
        "rule:project_editor",
        "Raise quotas of a project up to the configured low-privilege limit.",
        (("PUT", _PROJECT),),
    ),
    Rule("project:lower", "rule:project_editor", "Lower quotas of a project.", (("PUT", _PROJECT),)),
    Rule(
        "project:lower_lowpriv",
        "rule:project_editor",
        "Lower quotas of a project that are within the configured low-privilege limit.",
        (("PUT", _PROJECT),),
    ),
    Rule("project:set_rate_limit", "rule:cluster_admin", "Kept for policy files of the original; guards nothing here."),
    Rule(
        "project:discover",
        "rule:domain_editor",
        "Look for new projects of a domain in Keystone.",
        (("POST", f"{_DOMAIN}/projects/discover"),),
    ),
    Rule(
        "project:uncommit",
        "rule:cluster_admin",
        "Delete a commitment that is not confirmed. (With `project:edit`: within the configured grace time.)",
        (("DELETE", f"{_PROJECT}/commitments/{{id}}"),),
    ),
    # domains
    Rule("domain:list", "rule:cluster_viewer", "List all domains.", (("GET", "/v1/domains"),)),
    Rule(
        "domain:show",
        "rule:domain_viewer",
        "Show a domain. Also needed to enter PUT and simulate-put.",
        (("GET", _DOMAIN), ("PUT", _DOMAIN), ("POST", f"{_DOMAIN}/simulate-put"), ("GET", f"{_DOMAIN}/explain")),
    ),
    Rule(
        "domain:show_history",
        "rule:domain_viewer",
        "Show who and what changed the quotas of a domain, and when.",
        (("GET", f"{_DOMAIN}/history"),),
    ),
    Rule("domain:raise", "rule:cluster_admin", "Raise quotas of a domain.", (("PUT", _DOMAIN),)),
    Rule(
        "domain:raise_lowpriv",
        "rule:domain_editor",
        "Raise quotas of a domain up to the configured low-privilege limit.",
        (("PUT", _DOMAIN),),
    ),
    Rule("domain:lower", "rule:domain_editor", "Lower quotas of a domain.", (("PUT", _DOMAIN),)),
    Rule(
        "domain:lower_lowpriv",
        "rule:domain_editor",
        "Lower quotas of a domain that are within the configured low-privilege limit.",
        (("PUT", _DOMAIN),),
    ),
    Rule(
        "domain:discover",
        "rule:cluster_admin",
        "Look for new domains in Keystone.",
        (("POST", "/v1/domains/discover"),),
    ),
    # the cluster
    Rule("cluster:list", "rule:cluster_viewer", "Kept for policy files of the original; guards nothing here."),
    Rule(
        "cluster:show",
        "rule:cluster_viewer",
        "Show everything about the cluster.",
        (("GET", "/v1/clusters/current"), ("GET", "/v1/inconsistencies")),
    ),
    Rule(
        "cluster:show_basic",
        "@",
        "Show capacity, quota and usage of the cluster, without subcapacities.",
        (("GET", "/v1/clusters/current"),),
    ),
    Rule(
        "cluster:show_subcapacity",
        "rule:cluster_viewer",
        "Show the subcapacities of a resource to who may not `cluster:show`.",
        (("GET", "/v1/clusters/current"),),
    ),
    Rule(
        "cluster:list_projects",
        "rule:cluster_viewer",
        "List the projects of all domains.",
        (("GET", "/v1/projects"),),
    ),
    Rule(
        "cluster:show_errors",
        "rule:cluster_viewer",
        "Show the errors of scrapes.",
        (("GET", "/v1/admin/scrape-errors"),),
    ),
    Rule(
        "cluster:list_commitments",
        "rule:cluster_viewer",
        "Follow the changes of all commitments.",
        (("GET", "/v1/commitments"),),
    ),
    Rule(
        "cluster:show_public_commitments",
        "@",
        "See which commitments are offered to everybody.",
        (("GET", "/v1/public-commitments"), ("GET", "/v1/commitments/by-token")),
    ),
    Rule("cluster:edit", "rule:cluster_admin", "Kept for policy files of the original; guards nothing here."),
)


class Access:
    """What the caller of one request may do."""

    def __init__(self, policy: Policy, req: falcon.Request, path: Mapping[str, str]) -> None:
        """`path` holds the variables of the path: the target of the rules."""
        self._policy = policy
        self._identity = req.context.identity
        self._target: dict[str, Any] = dict(path)

    def allows(self, rule: str, **more_target: str) -> bool:
        """Whether the caller passes a rule on the path's target."""
        return self._policy.allows(rule, self._identity, {**self._target, **more_target})

    def require(self, rule: str) -> None:
        """Raises `Forbidden` unless the caller passes the rule. Comes before anything is looked up."""
        if not self.allows(rule):
            raise Forbidden("Forbidden")

    def quota_permissions(self, level: str, ref: Ref) -> Permissions:
        """What the caller may do to a quota; `level` is `domain` or `project`."""
        service_type, resource_name = ref

        def may(verb: str) -> bool:
            return self.allows(f"{level}:{verb}", service_type=service_type, resource_name=resource_name)

        return Permissions(
            can_raise=may("raise"),
            can_raise_lowpriv=may("raise_lowpriv"),
            can_lower=may("lower"),
            can_lower_lowpriv=may("lower_lowpriv"),
        )
