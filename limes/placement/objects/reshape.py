"""The reshaper: inventory and allocations move between providers in one step, and nobody sees a state in between."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from peewee import Case

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Node, mapping
from limes.placement.errors import ConcurrentUpdate, ProviderUnknown
from limes.placement.models import Provider
from limes.placement.objects import change, inventory, resource_class
from limes.placement.objects.allocation import Claim
from limes.placement.objects.allocation_write import AllocationWrite
from limes.placement.objects.inventory import Inventory


@dataclass(frozen=True, slots=True)
class Shape:
    """All the inventory that a provider is to have, and the generation that the client saw."""

    generation: int
    read: Callable[[], Mapping[str, Inventory]]
    """Returns the inventories by class name. Raises `InvalidValue`. Called only if the generation is not stale."""


def reshape(engine: Engine, shapes: Mapping[str, Shape], claims: Sequence[Claim], now: float) -> None:
    """Gives the providers (by UUID) their shapes and the consumers their claims, all or nothing. Inside a transaction.

    Raises `ProviderUnknown`, `ConcurrentUpdate`, `InventoryInUse`, and what `allocation_write.replace` raises.
    """
    write = AllocationWrite(engine, claims, now)
    providers = write.lock(also=list(shapes))
    _check_generations(engine, shapes, providers)
    write.check()
    reshaped = {uuid: shape.read() for uuid, shape in shapes.items()}
    classes = resource_class.check_exist(engine, {name for inventories in reshaped.values() for name in inventories})
    for uuid, inventories in reshaped.items():
        inventory.put(engine, providers[uuid], {classes[name]: inventories[name] for name in inventories}, now)
    write.apply()
    for uuid, inventories in reshaped.items():
        kept = {classes[name] for name in inventories}
        inventory.remove(engine, providers[uuid], uuid, inventory.class_ids_of(engine, providers[uuid]) - kept)
    if reshaped:
        with_interim = [providers[uuid] for uuid, inventories in reshaped.items() if inventories]
        _count_up(engine, [providers[uuid] for uuid in reshaped], with_interim, now)


@mapping(str, int, skip_empty="uuids")
def _generations(uuids: Collection[str]) -> Node:
    return Provider.select(Provider.uuid, Provider.generation).where(any_of(Provider.uuid, uuids))


def _check_generations(engine: Engine, shapes: Mapping[str, Shape], providers: Mapping[str, int]) -> None:
    actual = _generations(engine, shapes)
    for uuid, shape in shapes.items():
        if uuid not in providers:
            raise ProviderUnknown(
                f"Resource provider {uuid} in inventories not found: No resource provider with uuid {uuid} found"
            )
        if actual[uuid] != shape.generation:
            raise ConcurrentUpdate(
                f"resource provider generation conflict for provider {uuid}:"
                f" actual: {actual[uuid]}, given: {shape.generation}"
            )


@change.stamped
def _count_up(provider_ids: Collection[int], with_interim: Collection[int], now: float) -> Node:
    """Counts as clients expect: one step for the final inventory, and one for the interim one, if there is any."""
    steps = Case(None, [(any_of(Provider.id, with_interim), 2)], 1)
    query = Provider.update(generation=Provider.generation + steps, updated=now, changed=change.STAMP)
    return query.where(any_of(Provider.id, provider_ids))
