"""The policy rules of the Limes API, by the original's names, with a default that needs no file.

Targets: `domain_id` and `project_id` from the path; for raise and lower rules also `service_type` and `resource_name`;
for `cluster:show_subcapacity` also `service` and `resource`.
"""

from limes.auth.policy import Rule


def _quota_rules(level: str, above: str) -> tuple[Rule, ...]:
    editor = f"rule:{level}_editor"
    return (
        Rule(f"{level}:raise", f"rule:{above}", f"Raise quotas of a {level}."),
        Rule(f"{level}:raise_lowpriv", editor, f"Raise quotas of a {level} up to the configured low-privilege limit."),
        Rule(f"{level}:lower", editor, f"Lower quotas of a {level}."),
        Rule(
            f"{level}:lower_lowpriv",
            editor,
            f"Lower quotas of a {level} that are within the configured low-privilege limit.",
        ),
    )


RULES = (
    # helpers
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
    Rule(
        "project_viewer",
        "rule:domain_viewer or rule:project_editor or"
        " ((role:member or role:reader or role:resource_viewer) and rule:project_scope)",
        "Who sees this project.",
    ),
    # projects
    Rule("project:list", "rule:domain_viewer", "List the projects of a domain."),
    Rule("project:show", "rule:project_viewer", "Show a project. Also needed to enter PUT and simulate-put."),
    Rule("project:show_history", "rule:project_viewer", "Show who and what changed the quotas of a project, and when."),
    Rule("project:show_alerts", "rule:project_viewer", "List what is near its limit, ends soon or fails in a project."),
    Rule(
        "project:edit",
        "rule:project_editor",
        "Switch bursting of a project; limit or forbid the growth of quota that grows by itself; make and move"
        " commitments. Transfer tokens are only shown to those who pass.",
    ),
    Rule("project:sync", "rule:project_editor", "Ask for a scrape of a project as soon as possible."),
    *_quota_rules("project", "domain_editor"),
    Rule(
        "project:grant_quota",
        "rule:cluster_admin",
        "Grant a project quota that grows by itself, however little it uses.",
    ),
    Rule("project:set_rate_limit", "rule:cluster_admin", "Kept for policy files of the original; guards nothing here."),
    Rule("project:discover", "rule:domain_editor", "Look for new projects of a domain in Keystone."),
    Rule(
        "project:uncommit",
        "rule:cluster_admin",
        "Delete a commitment that is not confirmed. (With `project:edit`: within the configured grace time.)",
    ),
    Rule("project:show_requests", "rule:project_viewer", "Show requests for more quota of a project."),
    Rule(
        "project:request_quota",
        "rule:project_editor",
        "Ask for more quota of a project, comment on such requests, and withdraw them.",
    ),
    Rule(
        "project:decide_requests",
        "rule:domain_editor",
        "Approve and reject requests for more quota of a project, or pass them on. To approve, `project:raise` is"
        " needed, too.",
    ),
    # domains
    Rule("domain:list", "rule:cluster_viewer", "List all domains."),
    Rule("domain:show", "rule:domain_viewer", "Show a domain. Also needed to enter PUT and simulate-put."),
    Rule("domain:show_history", "rule:domain_viewer", "Show who and what changed the quotas of a domain, and when."),
    Rule("domain:show_alerts", "rule:domain_viewer", "List the same in all projects of a domain."),
    Rule(
        "domain:edit",
        "rule:domain_editor",
        "Limit or forbid the growth of quota that grows by itself, for all projects of a domain.",
    ),
    *_quota_rules("domain", "cluster_admin"),
    Rule("domain:discover", "rule:cluster_admin", "Look for new domains in Keystone."),
    Rule("domain:show_requests", "rule:domain_viewer", "Show requests for more quota of a domain and its projects."),
    Rule(
        "domain:request_quota",
        "rule:domain_editor",
        "Ask for more quota of a domain, comment on such requests, and withdraw them.",
    ),
    Rule(
        "domain:decide_requests",
        "rule:cluster_admin",
        "Approve and reject requests for more quota of a domain. To approve, `domain:raise` is needed, too.",
    ),
    # the cluster
    Rule("cluster:list", "rule:cluster_viewer", "Kept for policy files of the original; guards nothing here."),
    Rule("cluster:show", "rule:cluster_viewer", "Show everything about the cluster."),
    Rule("cluster:show_basic", "@", "Show capacity, quota and usage of the cluster, without subcapacities."),
    Rule(
        "cluster:show_subcapacity",
        "rule:cluster_viewer",
        "Show the subcapacities of a resource to who may not `cluster:show`.",
    ),
    Rule("cluster:list_projects", "rule:cluster_viewer", "List the projects of all domains."),
    Rule("cluster:show_alerts", "rule:cluster_viewer", "List what is near its limit, ends soon or fails anywhere."),
    Rule("cluster:show_errors", "rule:cluster_viewer", "Show the errors of scrapes."),
    Rule("cluster:list_commitments", "rule:cluster_viewer", "Follow the changes of all commitments."),
    Rule("cluster:list_requests", "rule:cluster_viewer", "List the requests for more quota of all domains."),
    Rule("cluster:show_public_commitments", "@", "See which commitments are offered to everybody."),
    Rule(
        "user:mail_settings",
        "@",
        "See and choose which mails Limes sends to oneself: always those of the token's own user.",
    ),
    Rule("cluster:edit", "rule:cluster_admin", "Kept for policy files of the original; guards nothing here."),
)
