"""The whole API on one page: path, method, function, policy rule. 404, 405 and the `allow` header follow from it.

The rules have the names and both sets of defaults of OpenStack Placement. None takes a token of the system or a domain:
Placement's resources belong to projects.
"""

from functools import partial
from pathlib import Path

from limes.auth.policy import Rule
from limes.placement import microversion
from limes.placement.call import Answer, Call, PlacementPolicy
from limes.placement.handlers import allocation, inventory, resource_provider, usage, vocabulary
from limes.placement.operation import Operation
from limes.web.operation import document_rules

_PROVIDERS = "placement:resource_providers"
_INVENTORIES = "placement:resource_providers:inventories"
_AGGREGATES = "placement:resource_providers:aggregates"
_TRAITS = "placement:resource_providers:traits"
_CLASSES = "placement:resource_classes"

_read = partial(Operation, renders=True)
_write = partial(Operation, body_below=microversion.MAX + 1)


def _show_versions(call: Call) -> Answer:
    """GET /: what clients negotiate microversions with. `extensions` names what we have beyond OpenStack Placement."""
    version = {
        "id": "v1.0",
        "max_version": microversion.text(microversion.MAX),
        "min_version": microversion.text(microversion.MIN),
        "status": "CURRENT",
        "links": [{"rel": "self", "href": ""}],
        "extensions": ["quotas", "usage_groups"],
    }
    return Answer(document={"versions": [version]}, last_modified=call.now)


# each rule is described where it comes first
ROUTES = {
    "/": {"GET": Operation(_show_versions, None, public=True)},
    "/resource_providers": {
        "GET": _read(resource_provider.list_providers, f"{_PROVIDERS}:list", "List providers."),
        "POST": _write(resource_provider.create, f"{_PROVIDERS}:create", "Create a provider."),
    },
    "/resource_providers/{uuid}": {
        "GET": _read(resource_provider.show, f"{_PROVIDERS}:show", "Show a provider."),
        "PUT": _write(resource_provider.update, f"{_PROVIDERS}:update", "Rename or move a provider."),
        "DELETE": Operation(resource_provider.delete, f"{_PROVIDERS}:delete", "Delete a provider."),
    },
    "/resource_classes": {
        "GET": _read(vocabulary.list_classes, f"{_CLASSES}:list", "List resource classes.", since=2),
        "POST": _write(vocabulary.create_class, f"{_CLASSES}:create", "Create a resource class.", since=2),
    },
    "/resource_classes/{name}": {
        "GET": _read(vocabulary.show_class, f"{_CLASSES}:show", "Show a resource class.", since=2),
        "PUT": Operation(
            vocabulary.put_class, f"{_CLASSES}:update", "Create or rename a resource class.", since=2, body_below=7
        ),
        "DELETE": Operation(vocabulary.delete_class, f"{_CLASSES}:delete", "Delete a resource class.", since=2),
    },
    "/resource_providers/{uuid}/inventories": {
        "GET": _read(inventory.list_all, f"{_INVENTORIES}:list", "List inventory."),
        "POST": _write(inventory.create, f"{_INVENTORIES}:create", "Add inventory."),
        "PUT": _write(inventory.replace_all, f"{_INVENTORIES}:update"),
        "DELETE": Operation(inventory.delete_all, f"{_INVENTORIES}:delete", since=5, before=405),
    },
    "/resource_providers/{uuid}/inventories/{resource_class}": {
        "GET": _read(inventory.show, f"{_INVENTORIES}:show", "Show the inventory of one class."),
        "PUT": _write(inventory.update, f"{_INVENTORIES}:update", "Replace inventory."),
        "DELETE": Operation(inventory.delete, f"{_INVENTORIES}:delete", "Delete inventory."),
    },
    "/resource_providers/{uuid}/aggregates": {
        "GET": _read(resource_provider.show_aggregates, f"{_AGGREGATES}:list", "List aggregates.", since=1),
        "PUT": _write(resource_provider.replace_aggregates, f"{_AGGREGATES}:update", "Replace aggregates.", since=1),
    },
    "/resource_providers/{uuid}/usages": {
        "GET": _read(usage.show_of_provider, f"{_PROVIDERS}:usages", "Show a provider's usages.")
    },
    "/traits": {"GET": _read(vocabulary.list_traits, "placement:traits:list", "List traits.", since=6)},
    "/traits/{name}": {
        "GET": Operation(vocabulary.show_trait, "placement:traits:show", "Show whether a trait exists.", since=6),
        "PUT": Operation(vocabulary.create_trait, "placement:traits:update", "Create a trait.", since=6),
        "DELETE": Operation(vocabulary.delete_trait, "placement:traits:delete", "Delete a trait.", since=6),
    },
    "/resource_providers/{uuid}/traits": {
        "GET": _read(vocabulary.list_of_provider, f"{_TRAITS}:list", "List a provider's traits.", since=6),
        "PUT": _write(vocabulary.replace_of_provider, f"{_TRAITS}:update", "Replace a provider's traits.", since=6),
        "DELETE": Operation(vocabulary.delete_of_provider, f"{_TRAITS}:delete", "Remove all traits.", since=6),
    },
    "/allocations": {
        "POST": _write(
            allocation.replace_several,
            "placement:allocations:manage",
            "Write the allocations of several consumers.",
            since=13,
        )
    },
    "/allocations/{consumer_uuid}": {
        "GET": _read(allocation.show, "placement:allocations:list", "Show a consumer's allocations."),
        "PUT": _write(allocation.replace, "placement:allocations:update", "Replace a consumer's allocations."),
        "DELETE": Operation(allocation.delete, "placement:allocations:delete", "Delete a consumer's allocations."),
    },
    "/resource_providers/{uuid}/allocations": {
        "GET": _read(
            allocation.list_of_provider, f"{_PROVIDERS}:allocations:list", "Show the allocations against a provider."
        )
    },
    "/allocation_candidates": {
        "GET": _read(
            allocation.list_candidates,
            "placement:allocation_candidates:list",
            "Find providers for a request.",
            since=10,
        )
    },
    "/usage_groups": {
        "GET": _read(
            usage.list_groups,
            "placement:usage_groups:list",
            "Show what projects use of groups of providers (extension).",
        )
    },
    "/quotas/{project_id}": {
        "GET": _read(usage.show_quotas, "placement:quotas:show", "Show a project's limits (extension)."),
        "PUT": _write(usage.replace_quotas, "placement:quotas:update", "Set a project's limits (extension)."),
        "DELETE": Operation(usage.delete_quotas, "placement:quotas:delete", "Remove a project's limits (extension)."),
    },
    "/usages": {
        "GET": _read(usage.show_of_project, "placement:usages", "Show a project's usages.", since=9, authorizes=True)
    },
    "/reshaper": {
        "POST": _write(
            allocation.reshape,
            "placement:reshaper:reshape",
            "Move inventory and allocations between providers.",
            since=30,
        )
    },
}

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


def rules(enforce_new_defaults: bool) -> tuple[Rule, ...]:
    """Returns all rules with their defaults: the newer ones, or the older ones, where role `admin` may do all."""
    # each older default is the newer one or "role:admin", so that operators can move from one to the other
    older = "" if enforce_new_defaults else " or rule:admin_api"
    special = {
        "placement:usages": "rule:admin_or_project_reader_or_service_api",
        "placement:reshaper:reshape": f"rule:service_api{older}",
    }
    of_routes = (
        Rule(operation.rule, special.get(operation.rule, "rule:admin_or_service_api"), operation.description)
        for operations in ROUTES.values()
        for operation in operations.values()
        if operation.rule and operation.description
    )
    return (*_HELPERS, *of_routes)


def documented_rules(enforce_new_defaults: bool) -> tuple[Rule, ...]:
    return document_rules(rules(enforce_new_defaults), ROUTES)


def open_policy(policy_file: Path | None = None, *, enforce_new_defaults: bool = True) -> PlacementPolicy:
    """Raises `limes.errors.ConfigError` if the file cannot be used."""
    return PlacementPolicy(rules(enforce_new_defaults), policy_file)
