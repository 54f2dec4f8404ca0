"""The whole API on one page: path, method, function, policy rule. 404, 405 and the `allow` header follow from it.

The rules have the names and both sets of defaults of OpenStack Placement. None takes a token of the system or a domain:
Placement's resources belong to projects.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from limes.auth.policy import Rule
from limes.placement import operation as microversion
from limes.placement.call import Answer, Call, PlacementPolicy
from limes.placement.handlers import allocation, inventory, usage, vocabulary
from limes.placement.handlers import resource_provider as provider
from limes.placement.operation import Operation
from limes.web.operation import document_rules


def _operation(handler: Callable[[Call], Answer], rule: str, description: str = "", **more: Any) -> Operation:
    return Operation(handler, f"placement:{rule}", description, **more)


_read = partial(_operation, renders=True)
_write = partial(_operation, body_below=microversion.MAX + 1)


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
        "GET": _read(provider.list_providers, "resource_providers:list", "List providers."),
        "POST": _write(provider.create, "resource_providers:create", "Create a provider."),
    },
    "/resource_providers/{uuid}": {
        "GET": _read(provider.show, "resource_providers:show", "Show a provider."),
        "PUT": _write(provider.update, "resource_providers:update", "Rename or move a provider."),
        "DELETE": _operation(provider.delete, "resource_providers:delete", "Delete a provider."),
    },
    "/resource_classes": {
        "GET": _read(vocabulary.list_classes, "resource_classes:list", "List resource classes.", since=2),
        "POST": _write(vocabulary.create_class, "resource_classes:create", "Create a resource class.", since=2),
    },
    "/resource_classes/{name}": {
        "GET": _read(vocabulary.show_class, "resource_classes:show", "Show a resource class.", since=2),
        "PUT": _operation(
            vocabulary.put_class, "resource_classes:update", "Create or rename a resource class.", since=2, body_below=7
        ),
        "DELETE": _operation(vocabulary.delete_class, "resource_classes:delete", "Delete a resource class.", since=2),
    },
    "/resource_providers/{uuid}/inventories": {
        "GET": _read(inventory.list_all, "resource_providers:inventories:list", "List inventory."),
        "POST": _write(inventory.create, "resource_providers:inventories:create", "Add inventory."),
        "PUT": _write(inventory.replace_all, "resource_providers:inventories:update"),
        "DELETE": _operation(inventory.delete_all, "resource_providers:inventories:delete", since=5, before=405),
    },
    "/resource_providers/{uuid}/inventories/{resource_class}": {
        "GET": _read(inventory.show, "resource_providers:inventories:show", "Show the inventory of one class."),
        "PUT": _write(inventory.update, "resource_providers:inventories:update", "Replace inventory."),
        "DELETE": _operation(inventory.delete, "resource_providers:inventories:delete", "Delete inventory."),
    },
    "/resource_providers/{uuid}/aggregates": {
        "GET": _read(provider.show_aggregates, "resource_providers:aggregates:list", "List aggregates.", since=1),
        "PUT": _write(
            provider.replace_aggregates, "resource_providers:aggregates:update", "Replace aggregates.", since=1
        ),
    },
    "/resource_providers/{uuid}/usages": {
        "GET": _read(usage.show_of_provider, "resource_providers:usages", "Show a provider's usages.")
    },
    "/traits": {"GET": _read(vocabulary.list_traits, "traits:list", "List traits.", since=6)},
    "/traits/{name}": {
        "GET": _operation(vocabulary.show_trait, "traits:show", "Show whether a trait exists.", since=6),
        "PUT": _operation(vocabulary.create_trait, "traits:update", "Create a trait.", since=6),
        "DELETE": _operation(vocabulary.delete_trait, "traits:delete", "Delete a trait.", since=6),
    },
    "/resource_providers/{uuid}/traits": {
        "GET": _read(
            vocabulary.list_of_provider, "resource_providers:traits:list", "List a provider's traits.", since=6
        ),
        "PUT": _write(
            vocabulary.replace_of_provider, "resource_providers:traits:update", "Replace a provider's traits.", since=6
        ),
        "DELETE": _operation(
            vocabulary.delete_of_provider, "resource_providers:traits:delete", "Remove all traits.", since=6
        ),
    },
    "/allocations": {
        "POST": _write(
            allocation.replace_several, "allocations:manage", "Write the allocations of several consumers.", since=13
        )
    },
    "/allocations/{consumer_uuid}": {
        "GET": _read(allocation.show, "allocations:list", "Show a consumer's allocations."),
        "PUT": _write(allocation.replace, "allocations:update", "Replace a consumer's allocations."),
        "DELETE": _operation(allocation.delete, "allocations:delete", "Delete a consumer's allocations."),
    },
    "/resource_providers/{uuid}/allocations": {
        "GET": _read(
            allocation.list_of_provider,
            "resource_providers:allocations:list",
            "Show the allocations against a provider.",
        )
    },
    "/allocation_candidates": {
        "GET": _read(
            allocation.list_candidates, "allocation_candidates:list", "Find providers for a request.", since=10
        )
    },
    "/usage_groups": {
        "GET": _read(
            usage.list_groups, "usage_groups:list", "Show what projects use of groups of providers (extension)."
        )
    },
    "/quotas/{project_id}": {
        "GET": _read(usage.show_quotas, "quotas:show", "Show a project's limits (extension)."),
        "PUT": _write(usage.replace_quotas, "quotas:update", "Set a project's limits (extension)."),
        "DELETE": _operation(usage.delete_quotas, "quotas:delete", "Remove a project's limits (extension)."),
    },
    "/usages": {"GET": _read(usage.show_of_project, "usages", "Show a project's usages.", since=9, authorizes=True)},
    "/reshaper": {
        "POST": _write(
            allocation.reshape, "reshaper:reshape", "Move inventory and allocations between providers.", since=30
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
    """Raises `limes.kernel.errors.ConfigError` if the file cannot be used."""
    return PlacementPolicy(rules(enforce_new_defaults), policy_file)
