"""The reshaper: inventory and allocations of many providers and consumers in one step."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from limes.placement.call import Answer, Call
from limes.placement.errors import CapacityExceeded, ClassUnknown, InventoryInUse
from limes.placement.handlers import allocation, inventory
from limes.placement.objects import reshape as reshaping
from limes.placement.objects.inventory import Inventory
from limes.placement.objects.reshape import Shape
from limes.placement.schemas import reshaper as schema
from limes.placement.schemas.common import normalized_uuid


def reshape(call: Call) -> Answer:
    """POST /reshaper, from 1.30."""
    body = call.body(schema.post(call.version))
    shapes = {
        normalized_uuid(uuid) or uuid: Shape(
            one["resource_provider_generation"], partial(_inventories, one["inventories"], call.version, uuid)
        )
        for uuid, one in body["inventories"].items()
    }
    claims = allocation.parse_claims(call, body["allocations"])
    try:
        call.transaction(lambda: reshaping.reshape(call.engine, shapes, claims, call.now))
    except CapacityExceeded as error:
        raise CapacityExceeded(f"Unable to allocate inventory: {error}") from None
    except ClassUnknown as error:
        raise ClassUnknown(f"malformed reshaper data: {error}") from None
    except InventoryInUse as error:
        raise InventoryInUse(f"update conflict: {error}") from None
    return Answer(status=204)


def _inventories(body: Mapping[str, Any], version: int, uuid: str) -> dict[str, Inventory]:
    return {name: inventory.parse(values, version, name, uuid) for name, values in body.items()}
