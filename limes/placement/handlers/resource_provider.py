"""Resource providers: one at a time. The list is in `limes.placement.handlers.resource_provider_list`."""

from typing import Any

from limes.errors import Conflict
from limes.placement.call import Answer, Call
from limes.placement.errors import (
    CannotDeleteParent,
    DuplicateName,
    InvalidValue,
    Missing,
    ProviderInUse,
)
from limes.placement.objects import resource_provider as providers
from limes.placement.objects.resource_provider import LockedProvider, Provider
from limes.placement.schemas import resource_provider as schema
from limes.placement.schemas.common import normalized_uuid
from limes.placement.search.model import Provider as IndexedProvider

_LINKS = (("self", 0), ("inventories", 0), ("usages", 0), ("aggregates", 1), ("traits", 6), ("allocations", 11))


def document_of(one: Provider | IndexedProvider, version: int, prefix: str) -> dict[str, Any]:
    """A provider as clients see it: the links grew with the microversions, and from 1.14 the tree shows."""
    url = f"{prefix}/resource_providers/{one.uuid}"
    document: dict[str, Any] = {
        "uuid": one.uuid,
        "name": one.name,
        "generation": one.generation,
        "links": [
            {"rel": rel, "href": url if rel == "self" else f"{url}/{rel}"} for rel, since in _LINKS if version >= since
        ],
    }
    if version >= 14:
        document["parent_provider_uuid"] = one.parent_uuid
        document["root_provider_uuid"] = one.root_uuid
    return document


def show(call: Call) -> Answer:
    """GET /resource_providers/{uuid}."""
    return _answer(call, providers.get(call.engine, call.params["uuid"]))


def create(call: Call) -> Answer:
    """POST /resource_providers."""
    body = call.body(schema.post(call.version))
    name = body["name"]
    uuid = normalized_uuid(body["uuid"]) if "uuid" in body else call.deps.ids.uuid()
    assert uuid is not None
    if not name:
        raise _cannot_create(name, uuid, "name is required")
    parent_uuid = _uuid_or_none(body.get("parent_provider_uuid"))
    if parent_uuid == uuid:
        raise _cannot_create(
            name,
            uuid,
            "parent provider UUID cannot be same as UUID."
            " Please set parent provider UUID to None if there is no parent.",
        )

    def work() -> Provider:
        if parent_uuid is None:
            made = providers.insert(call.engine, uuid, name, None, call.now)
            if made is None:
                raise _taken(call, name, uuid)
            return Provider(made, uuid, name, 0, call.now, made, uuid, None, None)
        tree = providers.lock_trees(call.engine, parent_uuid)
        parent = tree.get(parent_uuid)
        if parent is None:
            raise _cannot_create(name, uuid, "parent provider UUID does not exist.")
        made = providers.insert(call.engine, uuid, name, parent, call.now)
        if made is None:
            raise _taken(call, name, uuid)
        root = next(one for one in tree.values() if one.id == parent.root_id)
        return Provider(made, uuid, name, 0, call.now, root.id, root.uuid, parent.id, parent.uuid)

    one = call.transaction(work)
    location = f"/resource_providers/{one.uuid}"
    if call.version < 20:
        return Answer(status=201, location=location)
    document = document_of(one, call.version, call.prefix)
    return Answer(document=document, location=location, last_modified=one.updated)


def update(call: Call) -> Answer:
    """PUT /resource_providers/{uuid}: another name, and from 1.14 a parent; from 1.37 another parent, or none."""
    uuid = call.params["uuid"]
    providers.identify(call.engine, uuid)
    body = call.body(schema.put(call.version))
    name = body["name"]

    def work() -> Provider:
        moving = "parent_provider_uuid" in body
        wanted = _uuid_or_none(body.get("parent_provider_uuid"))
        tree = providers.lock_trees(call.engine, uuid, *([wanted] if wanted else [])) if moving else {}
        one = tree.get(uuid) if moving else providers.find_and_lock(call.engine, uuid)
        if one is None:
            raise Missing(f"No resource provider with uuid {uuid} found")
        if moving:
            _move(call, one, wanted, tree)
        holder = providers.find_holder(call.engine, name, None)
        if holder is not None and holder.uuid != uuid:
            raise DuplicateName(f"Conflicting resource provider {name} already exists.")
        providers.rename(call.engine, one.id, name, call.now)
        return providers.get(call.engine, uuid)

    return _answer(call, call.transaction(work))


def delete(call: Call) -> Answer:
    """DELETE /resource_providers/{uuid}."""
    uuid = call.params["uuid"]

    def work() -> None:
        tree = providers.lock_trees(call.engine, uuid)
        one = tree.get(uuid)
        if one is None:
            raise Missing(f"No resource provider with uuid {uuid} found for delete")
        if any(other.parent_id == one.id for other in tree.values()):
            raise CannotDeleteParent(
                f"Unable to delete parent resource provider {uuid}: It has child resource providers."
            )
        if providers.has_allocations(call.engine, one.id):
            raise ProviderInUse(f"Unable to delete resource provider {uuid}: Resource provider has allocations.")
        providers.delete(call.engine, one.id, call.now)

    call.transaction(work)
    return Answer(status=204)


def _move(call: Call, one: LockedProvider, wanted: str | None, tree: dict[str, LockedProvider]) -> None:
    parent = tree.get(wanted) if wanted else None
    if wanted is not None and parent is None:
        raise _cannot_update(one, "parent provider UUID does not exist.", action="create")
    new_id = parent.id if parent else None
    if new_id == one.parent_id:
        return
    if call.version < 37 and one.parent_id is not None:
        verb = "un-parenting" if parent is None else "re-parenting"
        raise _cannot_update(one, f"{verb} a provider is not currently allowed.")
    if parent is not None and parent.id in providers.subtree_ids(one.id, tree.values()):
        raise _cannot_update(one, "creating loop in the provider tree is not allowed.")
    providers.move(call.engine, one, parent, tree.values(), call.now)


def _answer(call: Call, one: Provider) -> Answer:
    return Answer(document=document_of(one, call.version, call.prefix), last_modified=one.updated)


def _uuid_or_none(value: str | None) -> str | None:
    return None if value is None else normalized_uuid(value)


def _taken(call: Call, name: str, uuid: str) -> Conflict:
    holder = providers.find_holder(call.engine, name, uuid)
    if holder is not None and holder.uuid == uuid:
        return DuplicateName(f"Conflicting resource provider uuid: {uuid} already exists.")
    return DuplicateName(f"Conflicting resource provider name: {name} already exists.")


def _cannot_create(name: str, uuid: str, why: str) -> InvalidValue:
    return InvalidValue(
        f'Unable to create resource provider "{name}", {uuid}: Object action create failed because: {why}'
    )


def _cannot_update(one: LockedProvider, why: str, action: str = "update") -> InvalidValue:
    return InvalidValue(f"Unable to save resource provider {one.uuid}: Object action {action} failed because: {why}")
