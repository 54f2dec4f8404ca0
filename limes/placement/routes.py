"""The whole API on one page: path, method, function. 404, 405 and the `allow` header follow from it."""

from limes.auth.policy import Rule
from limes.placement.handlers import allocation, inventory, resource_provider, root, usage, vocabulary
from limes.placement.operation import Operation, every_version
from limes.placement.policy import rules
from limes.web.operation import document_rules

_PROVIDERS = "placement:resource_providers"
_INVENTORIES = "placement:resource_providers:inventories"
_AGGREGATES = "placement:resource_providers:aggregates"
_TRAITS = "placement:resource_providers:traits"
_CLASSES = "placement:resource_classes"


def _below_7(version: int) -> bool:
    return version < 7


ROUTES = {
    "/": {"GET": Operation(root.show, None, public=True)},
    "/resource_classes": {
        "GET": Operation(vocabulary.list_classes, f"{_CLASSES}:list", since=2, renders=True),
        "POST": Operation(vocabulary.create_class, f"{_CLASSES}:create", since=2, body=every_version),
    },
    "/resource_classes/{name}": {
        "GET": Operation(vocabulary.show_class, f"{_CLASSES}:show", since=2, renders=True),
        "PUT": Operation(vocabulary.put_class, f"{_CLASSES}:update", since=2, body=_below_7),
        "DELETE": Operation(vocabulary.delete_class, f"{_CLASSES}:delete", since=2),
    },
    "/resource_providers": {
        "GET": Operation(resource_provider.list_providers, f"{_PROVIDERS}:list", renders=True),
        "POST": Operation(resource_provider.create, f"{_PROVIDERS}:create", body=every_version),
    },
    "/resource_providers/{uuid}": {
        "GET": Operation(resource_provider.show, f"{_PROVIDERS}:show", renders=True),
        "PUT": Operation(resource_provider.update, f"{_PROVIDERS}:update", body=every_version),
        "DELETE": Operation(resource_provider.delete, f"{_PROVIDERS}:delete"),
    },
    "/resource_providers/{uuid}/inventories": {
        "GET": Operation(inventory.list_all, f"{_INVENTORIES}:list", renders=True),
        "POST": Operation(inventory.create, f"{_INVENTORIES}:create", body=every_version),
        "PUT": Operation(inventory.replace_all, f"{_INVENTORIES}:update", body=every_version),
        "DELETE": Operation(inventory.delete_all, f"{_INVENTORIES}:delete", since=5, before=405),
    },
    "/resource_providers/{uuid}/inventories/{resource_class}": {
        "GET": Operation(inventory.show, f"{_INVENTORIES}:show", renders=True),
        "PUT": Operation(inventory.update, f"{_INVENTORIES}:update", body=every_version),
        "DELETE": Operation(inventory.delete, f"{_INVENTORIES}:delete"),
    },
    "/resource_providers/{uuid}/usages": {
        "GET": Operation(usage.show_of_provider, f"{_PROVIDERS}:usages", renders=True)
    },
    "/resource_providers/{uuid}/aggregates": {
        "GET": Operation(resource_provider.show_aggregates, f"{_AGGREGATES}:list", since=1, renders=True),
        "PUT": Operation(resource_provider.replace_aggregates, f"{_AGGREGATES}:update", since=1, body=every_version),
    },
    "/resource_providers/{uuid}/traits": {
        "GET": Operation(vocabulary.list_of_provider, f"{_TRAITS}:list", since=6, renders=True),
        "PUT": Operation(vocabulary.replace_of_provider, f"{_TRAITS}:update", since=6, body=every_version),
        "DELETE": Operation(vocabulary.delete_of_provider, f"{_TRAITS}:delete", since=6),
    },
    "/resource_providers/{uuid}/allocations": {
        "GET": Operation(allocation.list_of_provider, f"{_PROVIDERS}:allocations:list", renders=True)
    },
    "/allocation_candidates": {
        "GET": Operation(allocation.list_candidates, "placement:allocation_candidates:list", since=10, renders=True)
    },
    "/allocations": {
        "POST": Operation(allocation.replace_several, "placement:allocations:manage", since=13, body=every_version)
    },
    "/allocations/{consumer_uuid}": {
        "GET": Operation(allocation.show, "placement:allocations:list", renders=True),
        "PUT": Operation(allocation.replace, "placement:allocations:update", body=every_version),
        "DELETE": Operation(allocation.delete, "placement:allocations:delete"),
    },
    "/traits": {"GET": Operation(vocabulary.list_traits, "placement:traits:list", since=6, renders=True)},
    "/traits/{name}": {
        "GET": Operation(vocabulary.show_trait, "placement:traits:show", since=6),
        "PUT": Operation(vocabulary.create_trait, "placement:traits:update", since=6),
        "DELETE": Operation(vocabulary.delete_trait, "placement:traits:delete", since=6),
    },
    "/usages": {"GET": Operation(usage.show_of_project, "placement:usages", since=9, authorizes=True, renders=True)},
    "/reshaper": {"POST": Operation(allocation.reshape, "placement:reshaper:reshape", since=30, body=every_version)},
    # our extensions
    "/usage_groups": {"GET": Operation(usage.list_groups, "placement:usage_groups:list", renders=True)},
    "/quotas/{project_id}": {
        "GET": Operation(usage.show_quotas, "placement:quotas:show", renders=True),
        "PUT": Operation(usage.replace_quotas, "placement:quotas:update", body=every_version),
        "DELETE": Operation(usage.delete_quotas, "placement:quotas:delete"),
    },
}


def documented_rules(enforce_new_defaults: bool) -> tuple[Rule, ...]:
    """Returns the policy rules, each with the requests that it guards."""
    return document_rules(rules(enforce_new_defaults), ROUTES)
