"""The reshaper: inventory and allocations of many providers and consumers in one step."""

from limes.placement.call import Answer, Call
from limes.placement.errors import CapacityExceeded
from limes.placement.handlers import allocation, inventory
from limes.placement.objects import reshape as reshaping
from limes.placement.objects.reshape import Shape
from limes.placement.schemas import reshaper as schema
from limes.placement.schemas.common import normalized_uuid


def reshape(call: Call) -> Answer:
    """POST /reshaper, from 1.30."""
    body = call.body(schema.post(call.version))
    shapes = {
        normalized_uuid(uuid) or uuid: Shape(
            generation=one["resource_provider_generation"],
            inventories={
                name: inventory.parse(values, call.version, name, uuid) for name, values in one["inventories"].items()
            },
        )
        for uuid, one in body["inventories"].items()
    }
    claims = allocation.parse_claims(call, body["allocations"])
    try:
        call.transaction(lambda: reshaping.reshape(call.engine, shapes, claims, call.now))
    except CapacityExceeded as error:
        raise CapacityExceeded(f"Unable to allocate inventory: {error}") from None
    return Answer(status=204)
