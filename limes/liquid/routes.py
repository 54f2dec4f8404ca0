"""The LIQUID API on one page, and its policy rules, by the names that liquids use."""

from limes.auth.policy import Rule
from limes.liquid import handlers
from limes.web.operation import Operation, document_rules

ROUTES = {
    "/v1/info": {"GET": Operation(handlers.show_info, "liquid:get_info")},
    "/v1/report-capacity": {"POST": Operation(handlers.report_capacity, "liquid:get_capacity")},
    "/v1/projects/{project_id}/report-usage": {"POST": Operation(handlers.report_usage, "liquid:get_usage")},
    "/v1/projects/{project_id}/quota": {"PUT": Operation(handlers.set_quota, "liquid:set_quota")},
}

_RULES = (
    Rule("quota_manager", "role:service or role:cloud_resource_admin", "The quota manager, such as Limes itself."),
    Rule("liquid:get_info", "rule:quota_manager", "See what there is."),
    Rule("liquid:get_capacity", "rule:quota_manager", "See capacity."),
    Rule("liquid:get_usage", "rule:quota_manager", "See a project's usage."),
    Rule("liquid:set_quota", "rule:quota_manager", "Set a project's quota."),
)
RULES = document_rules(_RULES, ROUTES)
