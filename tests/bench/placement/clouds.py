"""Synthetic clouds for measuring the search without database and HTTP: flat, nested, and wide trees of devices."""

import uuid
from collections.abc import Iterator, Mapping

import os_resource_classes
import os_traits

from limes.placement.search.model import Cloud, Inventory, Provider, TraitList

AGGREGATES = [str(uuid.UUID(int=number)) for number in range(1, 11)]


def cloud_of(providers: Iterator[Provider]) -> Cloud:
    classes = dict.fromkeys(os_resource_classes.STANDARDS)
    return Cloud(dict.fromkeys(os_traits.get_traits()), classes).replace(list(providers))


def _provider(key: int, root: int, parent: int | None, amounts: Mapping[str, int], traits: TraitList) -> Provider:
    inventories = {name: Inventory(amount, 0, 1, amount, 1) for name, amount in amounts.items()}
    identity = str(uuid.UUID(int=key, version=4))
    aggregates = frozenset([AGGREGATES[root % 10]]) if parent is None else frozenset[str]()
    return Provider(key, identity, f"provider-{key}", root, parent, 3, inventories, traits, aggregates, 1.7e9)


def flat(count: int) -> Iterator[Provider]:
    """Compute nodes with everything in one provider; every second one has a trait."""
    some = TraitList.of("HW_CPU_X86_AVX2")
    for key in range(1, count + 1):
        amounts = {"VCPU": 256, "MEMORY_MB": 524288, "DISK_GB": 20000}
        yield _provider(key, key, None, amounts, some if key % 2 else TraitList())


def nested(count: int) -> Iterator[Provider]:
    """Compute nodes with two NUMA cells and one network card below each."""
    for number in range(count):
        root = number * 5 + 1
        yield _provider(root, root, None, {"DISK_GB": 20000}, TraitList.of("HW_CPU_X86_AVX2"))
        for cell in (1, 2):
            yield _provider(root + cell, root, root, {"VCPU": 128, "MEMORY_MB": 262144}, TraitList.of("HW_NUMA_ROOT"))
            card = root + cell + 2
            yield _provider(card, root, root + cell, {"SRIOV_NET_VF": 8}, TraitList.of("HW_NIC_SRIOV"))


def wide(count: int, devices: int = 8) -> Iterator[Provider]:
    """Compute nodes with devices that serve one request each."""
    for number in range(count):
        root = number * (devices + 1) + 1
        yield _provider(root, root, None, {"VCPU": 256, "MEMORY_MB": 524288}, TraitList())
        for device in range(1, devices + 1):
            yield _provider(root + device, root, root, {"VGPU": 1}, TraitList())
