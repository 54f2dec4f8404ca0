"""Whether allocations fit inventory: numbers in, a refusal or nothing out."""

from limes.placement.errors import CapacityExceeded
from limes.placement.objects.inventory import Inventory


def check_shape(amount: int, one: Inventory, class_name: str, provider_uuid: str) -> None:
    """Raises `CapacityExceeded` unless a consumer may have this amount by the inventory's units."""
    if amount < one.min_unit or amount > one.max_unit or amount % one.step_size:
        raise CapacityExceeded(
            f"Unable to create allocation for '{class_name}' on resource provider '{provider_uuid}'."
            " The requested amount would violate inventory constraints."
        )


def check_sum(used: int, freed: int, wanted: int, one: Inventory, class_name: str, provider_uuid: str) -> None:
    """Raises `CapacityExceeded` if what all consumers have afterwards is more than the capacity.

    `used` is what all have now, `freed` what the consumers of this write give back of it, `wanted` what they want. A
    write that does not raise the use is never refused: where inventory was lowered below use, it can only get better.
    """
    if wanted > freed and used - freed + wanted > one.capacity:
        raise CapacityExceeded(
            f"Unable to create allocation for '{class_name}' on resource provider '{provider_uuid}'."
            " The requested amount would exceed the capacity."
        )
