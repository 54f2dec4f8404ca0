"""Texts that Nova's tests look for. test_differential.py and test_random_differential.py compare all others."""

from typing import Any

import pytest

from tests.placement.world import World, claim, uuid_of

IN_USE = f"Inventory for 'VCPU' on resource provider '{uuid_of('host')}' in use."


@pytest.fixture
def used(world: World) -> World:
    """A host with inventory of two classes, of which VCPU is in use."""
    world.provider("host", VCPU=4, DISK_GB=10)
    world.allocate("server", None, host={"VCPU": 1})
    return world


def said(error: dict[str, Any]) -> str:
    """What is wrong: the last line of the detail."""
    return str(error["detail"]).rpartition("\n")[2].strip()


def test_a_class_in_use_cannot_go(used: World) -> None:
    host = f"/resource_providers/{uuid_of('host')}/inventories"
    generation = used.generation("host")
    shape = {"inventories": {"DISK_GB": {"total": 10}}, "resource_provider_generation": generation}
    reshape = {"inventories": {uuid_of("host"): shape}, "allocations": {}}
    refused = {
        "PUT all": used.refused(409, "PUT", host, shape),
        "reshaper": used.refused(409, "POST", "/reshaper", reshape, x_roles="admin,service"),
        "DELETE one": used.refused(409, "DELETE", f"{host}/VCPU"),
        "DELETE all": used.refused(409, "DELETE", host),
    }
    assert {what: said(error) for what, error in refused.items()} == {
        "PUT all": f"update conflict: {IN_USE}",
        "reshaper": f"update conflict: {IN_USE}",
        "DELETE one": f"Unable to delete inventory of class VCPU: {IN_USE}",
        "DELETE all": IN_USE,
    }
    assert {error["code"] for error in refused.values()} == {"placement.inventory.inuse"}


def test_what_does_not_fit(used: World) -> None:
    uuid = uuid_of("new")
    path = f"/allocations/{uuid}"
    host = uuid_of("host")
    texts = {
        (409, "VGPU", 1): f"Unable to allocate inventory: Inventory for 'VGPU' on resource provider '{host}' invalid.",
        (409, "VCPU", 4): f"Unable to allocate inventory: Unable to create allocation for 'VCPU' on resource provider"
        f" '{host}'. The requested amount would exceed the capacity.",
        (400, "CUSTOM_NO", 1): f"Unable to allocate inventory for consumer {uuid}: No such resource class CUSTOM_NO.",
    }
    for (status, name, amount), text in texts.items():
        body = claim(None, host={name: amount})
        assert said(used.refused(status, "PUT", path, body)) == text
        # upstream forgot the colon in one of the texts of POST
        several = text.replace(f" for consumer {uuid}:", "")
        assert said(used.refused(status, "POST", "/allocations", {uuid: body})) == several


def test_providers_of_no_use_are_named_first(used: World) -> None:
    used.provider("empty")
    body = claim(None, host={"VGPU": 1, "VCPU": 1}, empty={"DISK_GB": 1})
    text = said(used.refused(409, "PUT", f"/allocations/{uuid_of('new')}", body))
    assert text == (
        "Unable to allocate inventory: Inventory for 'VGPU, VCPU, DISK_GB'"
        f" on resource provider '{uuid_of('empty')}' invalid."
    )
