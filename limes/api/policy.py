"""The policy rules of the Limes API, by the original's names, with a default that needs no file.

Targets: `domain_id` and `project_id` from the path; for raise and lower rules also `service_type` and `resource_name`;
for `cluster:show_subcapacity` also `service` and `resource`.
"""

from collections.abc import Iterator

from limes.auth.policy import Rule


def _rules(level: str, **who_may_what: tuple[str, str]) -> Iterator[Rule]:
    for verb, (who, description) in who_may_what.items():
        yield Rule(f"{level}:{verb}", who if who == "@" else f"rule:{who}", description)


def _quota_rules(level: str, above: str) -> dict[str, tuple[str, str]]:
    editor, limit = f"{level}_editor", "the configured low-privilege limit"
    return {
        "raise": (above, f"Raise quotas of a {level}."),
        "raise_lowpriv": (editor, f"Raise quotas of a {level} up to {limit}."),
        "lower": (editor, f"Lower quotas of a {level}."),
        "lower_lowpriv": (editor, f"Lower quotas of a {level} that are within {limit}."),
    }


RULES = (
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
    *_rules(
        "project",
        list=("domain_viewer", "List the projects of a domain."),
        show=("project_viewer", "Show a project. Also needed to enter PUT and simulate-put."),
        show_history=("project_viewer", "Show who and what changed the quotas of a project, and when."),
        show_alerts=("project_viewer", "List what is near its limit, ends soon or fails in a project."),
        edit=(
            "project_editor",
            "Switch bursting of a project; limit or forbid the growth of quota that grows by itself; make and move"
            " commitments. Transfer tokens are only shown to those who pass.",
        ),
        sync=("project_editor", "Ask for a scrape of a project as soon as possible."),
        **_quota_rules("project", "domain_editor"),
        grant_quota=("cluster_admin", "Grant a project quota that grows by itself, however little it uses."),
        set_rate_limit=("cluster_admin", "Kept for policy files of the original; guards nothing here."),
        discover=("domain_editor", "Look for new projects of a domain in Keystone."),
        uncommit=(
            "cluster_admin",
            "Delete a commitment that is not confirmed. (With `project:edit`: within the configured grace time.)",
        ),
        show_requests=("project_viewer", "Show requests for more quota of a project."),
        request_quota=(
            "project_editor",
            "Ask for more quota of a project, comment on such requests, and withdraw them.",
        ),
        decide_requests=(
            "domain_editor",
            "Approve and reject requests for more quota of a project, or pass them on. To approve, `project:raise` is"
            " needed, too.",
        ),
    ),
    *_rules(
        "domain",
        list=("cluster_viewer", "List all domains."),
        show=("domain_viewer", "Show a domain. Also needed to enter PUT and simulate-put."),
        show_history=("domain_viewer", "Show who and what changed the quotas of a domain, and when."),
        show_alerts=("domain_viewer", "List the same in all projects of a domain."),
        edit=(
            "domain_editor",
            "Limit or forbid the growth of quota that grows by itself, for all projects of a domain.",
        ),
        **_quota_rules("domain", "cluster_admin"),
        discover=("cluster_admin", "Look for new domains in Keystone."),
        show_requests=("domain_viewer", "Show requests for more quota of a domain and its projects."),
        request_quota=("domain_editor", "Ask for more quota of a domain, comment on such requests, and withdraw them."),
        decide_requests=(
            "cluster_admin",
            "Approve and reject requests for more quota of a domain. To approve, `domain:raise` is needed, too.",
        ),
    ),
    *_rules(
        "cluster",
        list=("cluster_viewer", "Kept for policy files of the original; guards nothing here."),
        show=("cluster_viewer", "Show everything about the cluster."),
        show_basic=("@", "Show capacity, quota and usage of the cluster, without subcapacities."),
        show_subcapacity=("cluster_viewer", "Show the subcapacities of a resource to who may not `cluster:show`."),
        list_projects=("cluster_viewer", "List the projects of all domains."),
        show_alerts=("cluster_viewer", "List what is near its limit, ends soon or fails anywhere."),
        show_errors=("cluster_viewer", "Show the errors of scrapes."),
        list_commitments=("cluster_viewer", "Follow the changes of all commitments."),
        list_requests=("cluster_viewer", "List the requests for more quota of all domains."),
        show_public_commitments=("@", "See which commitments are offered to everybody."),
    ),
    *_rules(
        "user",
        mail_settings=("@", "See and choose which mails Limes sends to oneself: always those of the token's own user."),
    ),
    *_rules("cluster", edit=("cluster_admin", "Kept for policy files of the original; guards nothing here.")),
)
