"""The policy rules of the LIQUID API, by the names that liquids use."""

from limes.auth.policy import Rule

_PROJECT = "/v1/projects/{project_id}"

RULES = (
    Rule("quota_manager", "role:service or role:cloud_resource_admin", "The quota manager, such as Limes itself."),
    Rule("liquid:get_info", "rule:quota_manager", "See what there is.", (("GET", "/v1/info"),)),
    Rule("liquid:get_capacity", "rule:quota_manager", "See capacity.", (("POST", "/v1/report-capacity"),)),
    Rule("liquid:get_usage", "rule:quota_manager", "See a project's usage.", (("POST", f"{_PROJECT}/report-usage"),)),
    Rule("liquid:set_quota", "rule:quota_manager", "Set a project's quota.", (("PUT", f"{_PROJECT}/quota"),)),
)
