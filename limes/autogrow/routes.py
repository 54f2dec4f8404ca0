"""Requests that limit, stop and grant quota that grows by itself."""

from limes.api import parameters as p
from limes.api import policy
from limes.api.call import PUT
from limes.api.levels import DOMAIN, PROJECT
from limes.autogrow import bodies
from limes.autogrow import handlers as autogrow

_ACCEPTED = {202: str}
_OF_DOMAIN, _OF_PROJECT = (404, 409, 422), (404, 409, 412, 422, 423)
"""What goes wrong."""

SECTIONS = {
    "domains": {
        f"{DOMAIN}/max-quota": PUT(
            autogrow.limit_projects_of_domain, "domain:edit", _ACCEPTED, _OF_DOMAIN, body=bodies.DomainMaxQuotaBody
        ),
        f"{DOMAIN}/forbid-autogrowth": PUT(
            autogrow.stop_projects_of_domain,
            "domain:edit",
            _ACCEPTED,
            _OF_DOMAIN,
            body=bodies.DomainForbidAutogrowthBody,
        ),
    },
    "projects": {
        f"{PROJECT}/max-quota": PUT(
            autogrow.limit_project, "project:edit", _ACCEPTED, _OF_PROJECT, (p.IF_MATCH,), bodies.ProjectMaxQuotaBody
        ),
        f"{PROJECT}/min-quota": PUT(
            autogrow.grant_to_project,
            "project:grant_quota",
            _ACCEPTED,
            _OF_PROJECT,
            (p.IF_MATCH,),
            bodies.ProjectMinQuotaBody,
        ),
        f"{PROJECT}/forbid-autogrowth": PUT(
            autogrow.stop_project,
            "project:edit",
            _ACCEPTED,
            _OF_PROJECT,
            (p.IF_MATCH,),
            bodies.ProjectForbidAutogrowthBody,
        ),
    },
}

RULES = (
    *policy.rules(
        "project", grant_quota=("cluster_admin", "Grant a project quota that grows by itself, however little it uses.")
    ),
    *policy.rules(
        "domain",
        edit=(
            "domain_editor",
            "Limit or forbid the growth of quota that grows by itself, for all projects of a domain.",
        ),
    ),
)
