"""Uses openstacksdk's placement proxy against a server: `sdk_calls.py URL`, in the `real` environment.

Prints a JSON object of what each call answered.
"""

import json
import sys

import openstack

UUID = "40000000-0000-4000-8000-00000000000a"


def main(url: str) -> dict[str, object]:
    """Every method of the proxy that there is a use for."""
    cloud = openstack.connection.Connection(
        auth_type="admin_token",
        auth={"endpoint": url, "token": "admin"},
        placement_api_version="1",
        placement_default_microversion="1.39",
    )
    api = cloud.placement
    found: dict[str, object] = {}
    api.create_resource_class(name="CUSTOM_SDK")
    found["class"] = api.get_resource_class("CUSTOM_SDK").name
    names = {one.name for one in api.resource_classes()}
    found["classes"] = sorted(name for name in names if not name.startswith("CUSTOM_") or "SDK" in name)
    api.create_trait("CUSTOM_SDK_TRAIT")
    found["traits"] = sorted(one.name for one in api.traits(name="in:CUSTOM_SDK_TRAIT,HW_CPU_X86_AVX"))
    provider = api.create_resource_provider(name="sdk-a", uuid=UUID)
    found["provider"] = [provider.name, provider.generation, provider.root_provider_id]
    found["renamed"] = api.update_resource_provider(provider, name="sdk-b").name
    found["found"] = api.find_resource_provider("sdk-b").id
    found["providers"] = [one.name for one in api.resource_providers(name="sdk-b")]
    inventory = api.create_resource_provider_inventory(provider, "CUSTOM_SDK", total=5)
    found["inventory"] = [inventory.total, inventory.reserved, inventory.max_unit]
    found["inventories"] = [[one.resource_class, one.total] for one in api.resource_provider_inventories(provider)]
    inventory = api.get_resource_provider_inventory(inventory, provider)
    generation = inventory.resource_provider_generation
    found["updated"] = api.update_resource_provider_inventory(
        inventory, provider, resource_provider_generation=generation, total=7
    ).total
    provider = api.get_resource_provider(UUID)
    provider = api.set_resource_provider_aggregates(provider, "50000000-0000-4000-8000-00000000000a")
    found["aggregates"] = api.get_resource_provider_aggregates(provider).aggregates
    api.delete_resource_provider_inventory(inventory, provider)
    found["empty"] = list(api.resource_provider_inventories(provider))
    api.delete_resource_provider(provider)
    api.delete_trait("CUSTOM_SDK_TRAIT")
    api.delete_resource_class("CUSTOM_SDK")
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
