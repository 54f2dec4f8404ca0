"""What a provider has of each resource class."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import falcon
from msgspec import structs

from limes.kernel.errors import LimesError
from limes.placement import schemas
from limes.placement.call import Answer, Call
from limes.placement.errors import ClassUnknown, ConcurrentUpdate, InvalidValue, InventoryInUse, Missing, prefixed
from limes.placement.objects import inventory as inventories
from limes.placement.objects import resource_provider, vocabulary
from limes.placement.objects.inventory import Inventory
from limes.placement.objects.resource_provider import LockedProvider

T = TypeVar("T")
_FIELDS = ("total", "reserved", "min_unit", "max_unit", "step_size")


def parse(body: Mapping[str, Any], version: int, class_name: str, uuid: str) -> Inventory:
    """An inventory from a valid body. Raises `InvalidValue` if too much is reserved: below 1.26 some has to remain."""
    numbers = {field: int(body[field]) for field in _FIELDS if field in body}
    inventory = Inventory(**numbers, allocation_ratio=float(body.get("allocation_ratio", 1.0)))
    problem = None
    if inventory.reserved > inventory.total:
        problem = "greater than total"
    if version < 26 and (inventory.reserved >= inventory.total or not inventory.capacity):
        problem = "greater than or equal to total"
    if problem:
        raise InvalidValue(
            f"Invalid inventory for '{class_name}' on resource provider '{uuid}'. The reserved value is {problem}."
        )
    return inventory


def parse_all(body: Mapping[str, Any], version: int, uuid: str) -> dict[str, Inventory]:
    """As `parse`, by class name."""
    return {name: parse(values, version, name, uuid) for name, values in body.items()}


def _document_of(inventory: Inventory) -> dict[str, Any]:
    document = inventory._asdict()
    del document["updated"]
    return document


def list_all(call: Call) -> Answer:
    """GET /resource_providers/{uuid}/inventories."""
    generation, by_class = inventories.of_provider(call.engine, call.params["uuid"])
    return Answer(document=_document_of_all(by_class, generation), last_modified=call.latest(by_class.values()))


def show(call: Call) -> Answer:
    """GET /resource_providers/{uuid}/inventories/{resource_class}."""
    uuid, class_name = call.params["uuid"], call.params["resource_class"]
    generation, by_class = inventories.of_provider(call.engine, uuid)
    inventory = by_class.get(class_name)
    if inventory is None:
        raise Missing(f"No inventory of class {class_name} for {uuid}")
    return _answer(inventory, generation, inventory.updated)


def create(call: Call) -> Answer:
    """POST /resource_providers/{uuid}/inventories. The generation in the body, if any, does not matter."""
    uuid = call.params["uuid"]
    resource_provider.identify(call.engine, uuid)
    body = call.body(schemas.POST_INVENTORY)
    class_name = body["resource_class"]

    def write(provider: LockedProvider) -> Inventory:
        with prefixed(InvalidValue, f"Unable to create inventory for resource provider {uuid}:"):
            inventory = parse(body, call.version, class_name, uuid)
            class_id = vocabulary.check_classes(call.engine, [class_name])[class_name]
        if class_id in inventories.class_ids_of(call.engine, provider.id):
            raise ConcurrentUpdate(f"Update conflict: there is inventory of class {class_name} already.")
        inventories.put(call.engine, provider.id, {class_id: inventory}, call.now)
        return inventory

    generation, inventory = _change(call, None, write)
    location = f"/resource_providers/{uuid}/inventories/{class_name}"
    return structs.replace(_answer(inventory, generation, call.now), status=201, location=location)


def update(call: Call) -> Answer:
    """PUT /resource_providers/{uuid}/inventories/{resource_class}."""
    uuid, class_name = call.params["uuid"], call.params["resource_class"]
    resource_provider.identify(call.engine, uuid)
    body = call.body(schemas.PUT_INVENTORY)

    def write(provider: LockedProvider) -> Inventory:
        with prefixed(InvalidValue, f"Unable to update inventory for resource provider {uuid}:"):
            inventory = parse(body, call.version, class_name, uuid)
        class_id = vocabulary.get(call.engine, "resource_classes", class_name).id
        if class_id not in inventories.class_ids_of(call.engine, provider.id):
            raise InvalidValue(
                f"No inventory record with resource class for resource provider {uuid}:"
                f" No inventory of class {class_name} found."
            )
        inventories.put(call.engine, provider.id, {class_id: inventory}, call.now)
        return inventory

    generation, inventory = _change(call, body["resource_provider_generation"], write)
    return _answer(inventory, generation, call.now)


def replace_all(call: Call) -> Answer:
    """PUT /resource_providers/{uuid}/inventories."""
    uuid = call.params["uuid"]
    try:
        body = call.body(schemas.PUT_INVENTORIES)
    except (LimesError, falcon.HTTPContentTooLarge):
        resource_provider.identify(call.engine, uuid)  # that the provider does not exist is reported first
        raise

    def write(provider: LockedProvider) -> dict[str, Inventory]:
        with prefixed(InvalidValue, f"Unable to update inventory for resource provider {uuid}:"):
            by_class = parse_all(body["inventories"], call.version, uuid)
        with prefixed(ClassUnknown, f"Unknown resource class in inventory for resource provider {uuid}:"):
            ids = vocabulary.check_classes(call.engine, by_class)
        gone = inventories.class_ids_of(call.engine, provider.id) - set(ids.values())
        with prefixed(InventoryInUse, "update conflict:"):
            inventories.remove(call.engine, provider.id, uuid, gone)
        inventories.put(
            call.engine, provider.id, {ids[name]: inventory for name, inventory in by_class.items()}, call.now
        )
        return {name: by_class[name]._replace(updated=call.now) for name in sorted(by_class, key=ids.__getitem__)}

    generation, written = _change(call, body["resource_provider_generation"], write)
    return Answer(document=_document_of_all(written, generation), last_modified=call.now)


def delete(call: Call) -> Answer:
    """DELETE /resource_providers/{uuid}/inventories/{resource_class}."""
    uuid, class_name = call.params["uuid"], call.params["resource_class"]

    def write(provider: LockedProvider) -> None:
        missing = f"No inventory of class {class_name} found for delete"
        class_id = vocabulary.class_ids(call.engine, [class_name]).get(class_name)
        if class_id is None:
            raise Missing(f"{missing}: No such resource class {class_name}.")
        with prefixed(InventoryInUse, f"Unable to delete inventory of class {class_name}:"):
            removed = inventories.remove(call.engine, provider.id, uuid, [class_id])
        if not removed:
            raise Missing(f"{missing}: {missing}")

    _change(call, None, write)
    return Answer(status=204)


def delete_all(call: Call) -> Answer:
    """DELETE /resource_providers/{uuid}/inventories, from 1.5."""

    def write(provider: LockedProvider) -> None:
        class_ids = inventories.class_ids_of(call.engine, provider.id)
        inventories.remove(call.engine, provider.id, provider.uuid, class_ids)

    _change(call, None, write)
    return Answer(status=204)


def _change(call: Call, generation: int | None, write: Callable[[LockedProvider], T]) -> tuple[int, T]:
    """Locks the provider, checks the client's generation, writes, and returns the new generation."""

    def work() -> tuple[int, T]:
        uuid = call.params["uuid"]
        if generation is not None:
            provider = resource_provider.lock_for_change(call.engine, uuid, generation, call.now)
            return provider.generation, write(provider)
        provider = resource_provider.lock(call.engine, uuid)
        result = write(provider)
        return resource_provider.next_generation(call.engine, provider.id, call.now), result

    return call.transaction(work)


def _answer(inventory: Inventory, generation: int, updated: float) -> Answer:
    document = _document_of(inventory) | {"resource_provider_generation": generation}
    return Answer(document=document, last_modified=updated)


def _document_of_all(by_class: Mapping[str, Inventory], generation: int) -> dict[str, Any]:
    return {
        "resource_provider_generation": generation,
        "inventories": {name: _document_of(inventory) for name, inventory in by_class.items()},
    }
