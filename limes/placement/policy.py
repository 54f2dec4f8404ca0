"""Who may do what: the rule names of OpenStack Placement, in both of its sets of defaults.

No rule takes a token that is scoped to the system or to a domain: Placement's resources belong to projects.
"""

from pathlib import Path

from limes.auth.context import Identity
from limes.auth.policy import Policy, Rule
from limes.errors import Forbidden

_ADMIN_OR_SERVICE = "rule:admin_or_service_api"

_HELPERS = (
    Rule("admin_api", "role:admin", "The role of operators."),
    Rule("service_api", "role:service", "The role of other OpenStack services, such as nova."),
    Rule("admin_or_service_api", "role:admin or role:service", "Operators and services."),
    Rule("project_reader_api", "role:reader and project_id:%(project_id)s", "Readers of the project asked about."),
    Rule(
        "admin_or_project_reader_or_service_api",
        "role:admin or rule:project_reader_api or role:service",
        "Operators, services, and readers of the project asked about.",
    ),
)

_RULES = {
    "resource_providers:list": "List providers.",
    "resource_providers:create": "Create a provider.",
    "resource_providers:show": "Show a provider.",
    "resource_providers:update": "Rename or move a provider.",
    "resource_providers:delete": "Delete a provider.",
    "resource_classes:list": "List resource classes.",
    "resource_classes:create": "Create a resource class.",
    "resource_classes:show": "Show a resource class.",
    "resource_classes:update": "Create or rename a resource class.",
    "resource_classes:delete": "Delete a resource class.",
    "resource_providers:inventories:list": "List inventory.",
    "resource_providers:inventories:create": "Add inventory.",
    "resource_providers:inventories:show": "Show the inventory of one class.",
    "resource_providers:inventories:update": "Replace inventory.",
    "resource_providers:inventories:delete": "Delete inventory.",
    "resource_providers:aggregates:list": "List aggregates.",
    "resource_providers:aggregates:update": "Replace aggregates.",
    "resource_providers:usages": "Show a provider's usages.",
    "traits:list": "List traits.",
    "traits:show": "Show whether a trait exists.",
    "traits:update": "Create a trait.",
    "traits:delete": "Delete a trait.",
    "resource_providers:traits:list": "List a provider's traits.",
    "resource_providers:traits:update": "Replace a provider's traits.",
    "resource_providers:traits:delete": "Remove all traits.",
    "allocations:manage": "Write the allocations of several consumers.",
    "allocations:list": "Show a consumer's allocations.",
    "allocations:update": "Replace a consumer's allocations.",
    "allocations:delete": "Delete a consumer's allocations.",
    "resource_providers:allocations:list": "Show the allocations against a provider.",
    "allocation_candidates:list": "Find providers for a request.",
    "usage_groups:list": "Show what projects use of groups of providers (extension).",
    "quotas:show": "Show a project's limits (extension).",
    "quotas:update": "Set a project's limits (extension).",
    "quotas:delete": "Remove a project's limits (extension).",
}
"""What operators and services may do, by the name of the rule below `placement:`."""


def rules(enforce_new_defaults: bool) -> tuple[Rule, ...]:
    """Returns all rules with their defaults: the newer ones, or the older ones, where role `admin` may do all."""
    # each older default is the newer one or "role:admin", so that operators can move from one to the other
    older = "" if enforce_new_defaults else " or rule:admin_api"
    return (
        *_HELPERS,
        *(Rule(f"placement:{name}", _ADMIN_OR_SERVICE, text) for name, text in _RULES.items()),
        Rule("placement:usages", "rule:admin_or_project_reader_or_service_api", "Show a project's usages."),
        Rule(
            "placement:reshaper:reshape",
            f"rule:service_api{older}",
            "Move inventory and allocations between providers.",
        ),
    )


class PlacementPolicy:
    """The rules in force."""

    def __init__(self, policy_file: Path | None = None, *, enforce_new_defaults: bool = True) -> None:
        """Raises `limes.errors.ConfigError` if the file cannot be used."""
        self._policy = Policy(rules(enforce_new_defaults), policy_file)

    def check(self, rule: str, identity: Identity, project_id: str | None = None) -> None:
        """Raises `Forbidden` unless `identity` passes the rule.

        `project_id` is the project that is asked about, which is nobody's where it is empty; None for operations that
        are about no project, where it is the identity's own.
        """
        target = {"project_id": identity.project_id if project_id is None else project_id}
        if identity.system_scope or identity.domain_id or not self._policy.allows(rule, identity, target):
            raise Forbidden(f"Policy does not allow {rule} to be performed.")
