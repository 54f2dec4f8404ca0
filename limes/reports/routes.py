"""Requests for reports, for what needs attention, and for why quotas are what they are."""

from limes.api import parameters as p
from limes.api import policy
from limes.api.call import GET, Operation
from limes.api.levels import DOMAIN, PROJECT, SELECTION, At, on_every_level
from limes.reports import attention_answers as attention
from limes.reports import change_answers, cluster_answers, explanation, resources
from limes.reports import handlers as reports
from limes.reports import project_answers as answers

_REPORT = (*SELECTION, reports.DETAIL, reports.PREVIEW)
_TAGGED_REPORT = (*_REPORT, p.IF_NONE_MATCH)
_PAGED_REPORT = (*_REPORT, reports.FIELDS, p.LIMIT, p.MARKER)

_QUOTA_CHANGES = (*SELECTION, reports.QUOTA_CHANGES, reports.QUOTA_CHANGE_MARKER)
_CHANGES = (
    *(*SELECTION, reports.CHANGES_SINCE, reports.CHANGES_UNTIL, reports.PERSON, reports.KIND, reports.CAUSE),
    *(reports.CHANGES, reports.CHANGE_MARKER),
)

_ATTENTION = {
    **on_every_level(
        "alerts",
        Operation(
            reports.list_alerts, "cluster:show_alerts", {200: attention.AlertsAnswer}, (), (*SELECTION, reports.ALERTS)
        ),
        At("Lists the same in a domain's projects."),
        At("Lists the same in a project."),
    ),
    "/v1/admin/scrape-status": GET(
        reports.show_scrape_status, "cluster:show_errors", {200: attention.ScrapeStatusAnswer}
    ),
    f"{DOMAIN}/scrape-status": GET(
        reports.show_scrape_status,
        "domain:show",
        {200: attention.ScrapeStatusAnswer},
        (404,),
        name="show_scrape_status_of_domain",
        summary="Shows how scrapes of a domain's projects go, without what backends say, and how old figures are.",
    ),
    **on_every_level(
        "projects/fullest",
        Operation(
            reports.list_fullest,
            "cluster:list_projects",
            {200: attention.FullestAnswer},
            parameters=(*SELECTION, reports.ABOVE, reports.FULLEST),
        ),
        At("Lists resources of a domain's projects near or beyond their quota, the fullest first.", "project:list"),
    ),
    **on_every_level(
        "expiring-commitments",
        Operation(
            reports.list_expiring,
            "cluster:list_commitments",
            {200: attention.ExpiringCommitmentsAnswer},
            parameters=(*SELECTION, p.AHEAD, reports.EXPIRING),
        ),
        At("Lists those of a domain.", "domain:show"),
        At("Lists those of a project.", "project:show"),
    ),
}

SECTIONS = {
    "cluster": {
        "/v1/resources": GET(reports.list_resources, None, {200: resources.ResourcesAnswer}, parameters=SELECTION),
        "/v1/clusters/current": GET(
            reports.show,
            "cluster:show",
            {200: cluster_answers.ClusterAnswer},
            parameters=_REPORT,
            also=("cluster:show_basic", "cluster:show_subcapacity"),
            authorizes=True,
        ),
        "/v1/inconsistencies": GET(
            reports.list_inconsistencies, "cluster:show", {200: cluster_answers.InconsistenciesAnswer}, (), SELECTION
        ),
        "/v1/admin/scrape-errors": GET(
            reports.list_scrape_errors, "cluster:show_errors", {200: cluster_answers.ScrapeErrorsAnswer}, (), SELECTION
        ),
    },
    "domains": {
        "/v1/domains": GET(reports.list_domains, "domain:list", {200: answers.DomainsAnswer}, (), _PAGED_REPORT),
        DOMAIN: GET(
            reports.show_domain,
            "domain:show",
            {200: answers.DomainAnswer, 304: None},
            (404,),
            _TAGGED_REPORT,
            tagged=True,
        ),
        f"{DOMAIN}/history": GET(
            reports.list_domain_changes,
            "domain:show_history",
            {200: change_answers.HistoryAnswer},
            (404,),
            _QUOTA_CHANGES,
        ),
        f"{DOMAIN}/explain": GET(
            reports.explain_domain_quotas, "domain:show", {200: explanation.ExplanationsAnswer}, (404,), SELECTION
        ),
    },
    "projects": {
        "/v1/projects": GET(
            reports.list_all, "cluster:list_projects", {200: answers.AllProjectsAnswer}, (), _PAGED_REPORT
        ),
        f"{DOMAIN}/projects": GET(
            reports.list_of_domain,
            "project:list",
            {200: answers.ProjectsAnswer},
            (404,),
            (*_PAGED_REPORT, reports.LABEL),
        ),
        PROJECT: GET(
            reports.show_project,
            "project:show",
            {200: answers.ProjectAnswer, 304: None},
            (404,),
            _TAGGED_REPORT,
            tagged=True,
        ),
        f"{PROJECT}/history": GET(
            reports.list_project_changes,
            "project:show_history",
            {200: change_answers.HistoryAnswer},
            (404,),
            _QUOTA_CHANGES,
        ),
        f"{PROJECT}/explain": GET(
            reports.explain_project_quotas, "project:show", {200: explanation.ExplanationsAnswer}, (404,), SELECTION
        ),
    },
    "attention": _ATTENTION,
    "changes": on_every_level(
        "changes",
        Operation(
            reports.list_changes,
            "cluster:show_history",
            {200: change_answers.ChangesAnswer},
            parameters=(*_CHANGES, reports.CHANGED_DOMAINS, reports.CHANGED_PROJECTS),
            csv=True,
            also=("cluster:list_requests",),
        ),
        At("Lists the same of a domain and of its projects.", parameters=(*_CHANGES, reports.CHANGED_PROJECTS)),
        At("Lists the same of a project.", parameters=_CHANGES),
    ),
}

RULES = (
    *policy.rules(
        "project",
        list=("domain_viewer", "List the projects of a domain."),
        show=("project_viewer", "Show a project. Also needed to enter PUT and simulate-put."),
        show_history=("project_viewer", "Show who and what changed quotas and commitments of a project, and when."),
        show_alerts=("project_viewer", "List what is near its limit, ends soon or fails in a project."),
    ),
    *policy.rules(
        "domain",
        list=("cluster_viewer", "List all domains."),
        show=("domain_viewer", "Show a domain. Also needed to enter PUT and simulate-put."),
        show_history=("domain_viewer", "Show the same of a domain and its projects."),
        show_alerts=("domain_viewer", "List the same in all projects of a domain."),
    ),
    *policy.rules(
        "cluster",
        list=("cluster_viewer", "Kept for policy files of the original; guards nothing here."),
        show=("cluster_viewer", "Show everything about the cluster."),
        show_basic=("@", "Show capacity, quota and usage of the cluster, without subcapacities."),
        show_subcapacity=("cluster_viewer", "Show the subcapacities of a resource to who may not `cluster:show`."),
        list_projects=("cluster_viewer", "List the projects of all domains."),
        show_alerts=("cluster_viewer", "List what is near its limit, ends soon or fails anywhere."),
        show_history=("cluster_viewer", "Show the same of the whole cloud."),
        show_errors=("cluster_viewer", "Show the errors of scrapes."),
        edit=("cluster_admin", "Kept for policy files of the original; guards nothing here."),
    ),
)
