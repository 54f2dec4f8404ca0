"""Requests that set and simulate quota."""

from limes.api import call, levels, policy
from limes.api import parameters as p
from limes.quota import answers, bodies
from limes.quota import handlers as quota

_SIMULATED = dict.fromkeys((200, 403, 409, 422), answers.SimulationAnswer)
_VERBS = ("raise", "raise_lowpriv", "lower", "lower_lowpriv")

SECTIONS = {
    "domains": {
        levels.DOMAIN: call.PUT(
            quota.set_domain_quotas,
            "domain:show",
            {202: str},
            (404, 409, 412, 422),
            (p.IF_MATCH,),
            bodies.DomainQuotaBody,
            also=tuple(f"domain:{verb}" for verb in _VERBS),
        ),
        f"{levels.DOMAIN}/simulate-put": call.POST(
            quota.simulate_domain_quotas, "domain:show", _SIMULATED, (404, 412), (p.IF_MATCH,), bodies.DomainQuotaBody
        ),
    },
    "projects": {
        levels.PROJECT: call.PUT(
            quota.set_project_quotas,
            "project:show",
            {202: str},
            (404, 409, 412, 422, 423),
            (p.IF_MATCH,),
            bodies.ProjectQuotaBody,
            also=tuple(f"project:{verb}" for verb in _VERBS),
        ),
        f"{levels.PROJECT}/simulate-put": call.POST(
            quota.simulate_project_quotas,
            "project:show",
            _SIMULATED,
            (404, 409, 412, 423),
            (p.IF_MATCH,),
            bodies.ProjectQuotaBody,
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
        edit=(
            "project_editor",
            "Switch bursting of a project; limit or forbid the growth of quota that grows by itself; make and move"
            " commitments. Transfer tokens are only shown to those who pass.",
        ),
        **_rules_of_setting("project", "domain_editor"),
        set_rate_limit=("cluster_admin", "Kept for policy files of the original; guards nothing here."),
    ),
    *policy.rules("domain", **_rules_of_setting("domain", "cluster_admin")),
)
