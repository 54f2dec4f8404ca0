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

_OPERATIONS: tuple[tuple[str, str, str, str], ...] = (
    ("resource_providers:list", "GET", "/resource_providers", "List providers."),
    ("resource_providers:create", "POST", "/resource_providers", "Create a provider."),
    ("resource_providers:show", "GET", "/resource_providers/{uuid}", "Show a provider."),
    ("resource_providers:update", "PUT", "/resource_providers/{uuid}", "Rename or move a provider."),
    ("resource_providers:delete", "DELETE", "/resource_providers/{uuid}", "Delete a provider."),
    ("resource_classes:list", "GET", "/resource_classes", "List resource classes."),
    ("resource_classes:create", "POST", "/resource_classes", "Create a resource class."),
    ("resource_classes:show", "GET", "/resource_classes/{name}", "Show a resource class."),
    ("resource_classes:update", "PUT", "/resource_classes/{name}", "Create or rename a resource class."),
    ("resource_classes:delete", "DELETE", "/resource_classes/{name}", "Delete a resource class."),
    ("resource_providers:inventories:list", "GET", "/resource_providers/{uuid}/inventories", "List inventory."),
    ("resource_providers:inventories:create", "POST", "/resource_providers/{uuid}/inventories", "Add inventory."),
    (
        "resource_providers:inventories:show",
        "GET",
        "/resource_providers/{uuid}/inventories/{resource_class}",
        "Show the inventory of one class.",
    ),
    (
        "resource_providers:inventories:update",
        "PUT",
        "/resource_providers/{uuid}/inventories[/{resource_class}]",
        "Replace inventory.",
    ),
    (
        "resource_providers:inventories:delete",
        "DELETE",
        "/resource_providers/{uuid}/inventories[/{resource_class}]",
        "Delete inventory.",
    ),
    ("resource_providers:aggregates:list", "GET", "/resource_providers/{uuid}/aggregates", "List aggregates."),
    ("resource_providers:aggregates:update", "PUT", "/resource_providers/{uuid}/aggregates", "Replace aggregates."),
    ("resource_providers:usages", "GET", "/resource_providers/{uuid}/usages", "Show a provider's usages."),
    ("traits:list", "GET", "/traits", "List traits."),
    ("traits:show", "GET", "/traits/{name}", "Show whether a trait exists."),
    ("traits:update", "PUT", "/traits/{name}", "Create a trait."),
    ("traits:delete", "DELETE", "/traits/{name}", "Delete a trait."),
    ("resource_providers:traits:list", "GET", "/resource_providers/{uuid}/traits", "List a provider's traits."),
    ("resource_providers:traits:update", "PUT", "/resource_providers/{uuid}/traits", "Replace a provider's traits."),
    ("resource_providers:traits:delete", "DELETE", "/resource_providers/{uuid}/traits", "Remove all traits."),
    ("allocations:manage", "POST", "/allocations", "Write the allocations of several consumers."),
    ("allocations:list", "GET", "/allocations/{consumer_uuid}", "Show a consumer's allocations."),
    ("allocations:update", "PUT", "/allocations/{consumer_uuid}", "Replace a consumer's allocations."),
    ("allocations:delete", "DELETE", "/allocations/{consumer_uuid}", "Delete a consumer's allocations."),
    (
        "resource_providers:allocations:list",
        "GET",
        "/resource_providers/{uuid}/allocations",
        "Show the allocations against a provider.",
    ),
    ("allocation_candidates:list", "GET", "/allocation_candidates", "Find providers for a request."),
    ("usage_groups:list", "GET", "/usage_groups", "Show what projects use of groups of providers (extension)."),
    ("quotas:show", "GET", "/quotas/{project_id}", "Show a project's limits (extension)."),
    ("quotas:update", "PUT", "/quotas/{project_id}", "Set a project's limits (extension)."),
    ("quotas:delete", "DELETE", "/quotas/{project_id}", "Remove a project's limits (extension)."),
)


def rules(enforce_new_defaults: bool) -> tuple[Rule, ...]:
    """All rules with their defaults: the newer ones, or the older ones, where the role `admin` may do everything."""
    # each older default is the newer one or "role:admin", as an overlap for those who move from one to the other
    older = "" if enforce_new_defaults else " or rule:admin_api"
    listed = [
        Rule(f"placement:{name}", _ADMIN_OR_SERVICE, text, ((method, path),))
        for name, method, path, text in _OPERATIONS
    ]
    return (
        *_HELPERS,
        *listed,
        Rule(
            "placement:usages",
            "rule:admin_or_project_reader_or_service_api",
            "Show a project's usages.",
            (("GET", "/usages"),),
        ),
        Rule(
            "placement:reshaper:reshape",
            f"rule:service_api{older}",
            "Move inventory and allocations between providers.",
            (("POST", "/reshaper"),),
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
