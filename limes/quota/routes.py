"""Requests that set and simulate quota, and those for its history."""

from limes.api import parameters as p
from limes.api import policy
from limes.api.call import GET, POST, PUT
from limes.api.levels import DOMAIN, PROJECT, SELECTION
from limes.quota import answers, bodies
from limes.quota import handlers as quota

_CHANGES = (*SELECTION, quota.LIMIT, quota.MARKER)
_SIMULATED = dict.fromkeys((200, 403, 409, 422), answers.SimulationAnswer)
_VERBS = ("raise", "raise_lowpriv", "lower", "lower_lowpriv")

SECTIONS = {
    "domains": {
        DOMAIN: PUT(
            quota.set_domain_quotas,
            "domain:show",
            {202: str},
            (404, 409, 412, 422),
            (p.IF_MATCH,),
            bodies.DomainQuotaBody,
            also=tuple(f"domain:{verb}" for verb in _VERBS),
        ),
        f"{DOMAIN}/simulate-put": POST(
            quota.simulate_domain_quotas, "domain:show", _SIMULATED, (404, 412), (p.IF_MATCH,), bodies.DomainQuotaBody
        ),
        f"{DOMAIN}/history": GET(
            quota.list_domain_changes, "domain:show_history", {200: answers.HistoryAnswer}, (404,), _CHANGES
        ),
    },
    "projects": {
        PROJECT: PUT(
            quota.set_project_quotas,
            "project:show",
            {202: str},
            (404, 409, 412, 422, 423),
            (p.IF_MATCH,),
            bodies.ProjectQuotaBody,
            also=tuple(f"project:{verb}" for verb in _VERBS),
        ),
        f"{PROJECT}/simulate-put": POST(
            quota.simulate_project_quotas,
            "project:show",
            _SIMULATED,
            (404, 409, 412, 423),
            (p.IF_MATCH,),
            bodies.ProjectQuotaBody,
        ),
        f"{PROJECT}/history": GET(
            quota.list_project_changes, "project:show_history", {200: answers.HistoryAnswer}, (404,), _CHANGES
        ),
    },
}


def _rules_of_setting(level: str, above: str) -> dict[str, tuple[str, str]]:
    editor, limit = f"{level}_editor", "the configured low-privilege limit"
    return {
        "raise": (above, f"Raise quotas of a {level}."),
        "raise_lowpriv": (editor, f"Raise quotas of a {level} up to {limit}."),
        "lower": (editor, f"Lower quotas of a {level}."),
        "lower_lowpriv": (editor, f"Lower quotas of a {level} that are within {limit}."),
    }


RULES = (
    *policy.rules(
        "project",
        show_history=("project_viewer", "Show who and what changed the quotas of a project, and when."),
        edit=(
            "project_editor",
            "Switch bursting of a project; limit or forbid the growth of quota that grows by itself; make and move"
            " commitments. Transfer tokens are only shown to those who pass.",
        ),
        **_rules_of_setting("project", "domain_editor"),
        set_rate_limit=("cluster_admin", "Kept for policy files of the original; guards nothing here."),
    ),
    *policy.rules(
        "domain",
        show_history=("domain_viewer", "Show who and what changed the quotas of a domain, and when."),
        **_rules_of_setting("domain", "cluster_admin"),
    ),
)
