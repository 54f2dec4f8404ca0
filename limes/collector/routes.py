"""Requests that do at once what collectors do from time to time."""

from limes.api import call, levels, policy
from limes.collector import handlers

SECTIONS = {
    "domains": {
        "/v1/domains/discover": call.POST(
            handlers.discover_domains, "domain:discover", {202: handlers.NewDomainsAnswer, 204: None}
        )
    },
    "projects": {
        f"{levels.DOMAIN}/projects/discover": call.POST(
            handlers.discover_projects, "project:discover", {202: handlers.NewProjectsAnswer, 204: None}, (404,)
        ),
        f"{levels.PROJECT}/sync": call.POST(handlers.sync, "project:sync", {202: None}, (404,)),
    },
}

RULES = (
    *policy.rules(
        "project",
        sync=("project_editor", "Ask for a scrape of a project as soon as possible."),
        discover=("domain_editor", "Look for new projects of a domain in Keystone."),
    ),
    *policy.rules("domain", discover=("cluster_admin", "Look for new domains in Keystone.")),
)
