"""Resource providers: the list with all its filters, which is read from the index, and one at a time."""

from collections.abc import Mapping, Sequence
from json.encoder import encode_basestring
from typing import Any

import orjson

from limes.placement import schemas
from limes.placement.call import Answer, Call, transactional
from limes.placement.errors import CannotDeleteParent, DuplicateName, InvalidValue, Missing, ProviderInUse
from limes.placement.handlers.allocation import bounds_of
from limes.placement.objects import resource_provider
from limes.placement.objects import resource_provider as providers
from limes.placement.search import provider_list, values
from limes.placement.search.model import Cloud, Provider
from limes.placement.search.pieces import Piece

_LINKS = (("self", 0), ("inventories", 0), ("usages", 0), ("aggregates", 1), ("traits", 6), ("allocations", 11))
_AT_ONCE = 1000
_PLACES = Provider(0, "@uuid@", "", 0)
"""A provider whose document has a mark where its UUID belongs."""


def document_of(provider: Provider, version: int, prefix: str) -> dict[str, Any]:
    """A provider as clients see it: links came with later microversions, and from 1.14 the tree shows."""
    url = f"{prefix}/resource_providers/{provider.uuid}"
    document: dict[str, Any] = {
        "uuid": provider.uuid,
        "name": provider.name,
        "generation": provider.generation,
        "links": [
            {"rel": rel, "href": url if rel == "self" else f"{url}/{rel}"} for rel, since in _LINKS if version >= since
        ],
    }
    if version >= 14:
        document["parent_provider_uuid"] = provider.parent_uuid
        document["root_provider_uuid"] = provider.root_uuid
    return document


def list_providers(call: Call) -> Answer:
    """The providers that match the query."""
    pairs = values.parse_pairs(call.req.query_string)
    problem = schemas.providers_query(call.version).problem(dict(pairs))
    if problem is not None:
        raise values.invalid(problem)
    cloud = call.deps.index.current()
    request = provider_list.parse_providers(pairs, call.version, cloud, bounds_of(call.deps.settings.bounds))
    matching = provider_list.matching_providers(request, cloud)
    data, updated = render_list(matching, cloud, call.version, call.prefix)
    return Answer(data=data, last_modified=updated or call.now)


def render_list(matching: Sequence[Provider], cloud: Cloud, version: int, prefix: str) -> tuple[bytes, float]:
    """The body with these providers of the cloud, each equal to `document_of`, and when the last one was updated; 0 if
    there is none."""
    if len(matching) == len(cloud.by_id):
        parts = [_render_piece(piece, version, prefix) for piece in cloud.by_id.pieces()]
    else:
        starts = range(0, len(matching), _AT_ONCE)
        parts = [_render_items(matching[start : start + _AT_ONCE], version, prefix) for start in starts]
    texts = [text for text, _ in parts] or [b""]
    # joined in one step: copying a list of some thousand providers takes as long as finding its pieces
    texts[0] = b'{"resource_providers":[' + texts[0]
    texts[-1] += b"]}"
    return b",".join(texts), max((updated for _, updated in parts), default=0.0)


def _render_piece(piece: Piece[int, Provider], version: int, prefix: str) -> tuple[bytes, float]:
    """As `_render_items`, once for each state of the piece: clients list all providers again and again, in one
    microversion, and few of them change in between."""
    kind = (version, prefix)
    if piece.made is None or piece.made[0] != kind:
        piece.made = (kind, _render_items(list(piece.values()), version, prefix))
    rendered: tuple[bytes, float] = piece.made[1]
    return rendered


def _render_items(providers: Sequence[Provider], version: int, prefix: str) -> tuple[bytes, float]:
    """Returns their documents, and when the last of them was updated. Only what differs is written into each one, which
    takes a tenth of the time of making them one by one."""
    # in pieces between which the provider's UUID belongs
    links = orjson.dumps({"links": document_of(_PLACES, version, prefix)["links"]}).decode()[1:-1].split(_PLACES.uuid)
    family = _family if version >= 14 else lambda provider: ""
    texts = [
        f'{{"uuid":"{(uuid := provider.uuid)}","name":{encode_basestring(provider.name)},'
        f'"generation":{provider.generation},{uuid.join(links)}{family(provider)}}}'
        for provider in providers
    ]
    return ",".join(texts).encode(), max(provider.updated_at for provider in providers)


def _family(provider: Provider) -> str:
    parent, root = provider.parent_uuid, provider.root_uuid
    if parent is None:
        return f',"parent_provider_uuid":null,"root_provider_uuid":"{root}"'
    return f',"parent_provider_uuid":"{parent}","root_provider_uuid":"{root}"'


def show(call: Call) -> Answer:
    """GET /resource_providers/{uuid}."""
    return _answer(call, providers.get(call.engine, call.params["uuid"]))


def create(call: Call) -> Answer:
    """POST /resource_providers."""
    body = call.body(schemas.post_provider(call.version))
    name = body["name"]
    uuid = values.normal_uuid(body["uuid"]) if "uuid" in body else call.deps.ids.uuid()
    assert uuid is not None
    if not name:
        raise _cannot_create(name, uuid, "name is required")
    parent_uuid = _parent_uuid(body)
    if parent_uuid == uuid:
        hint = "Please set parent provider UUID to None if there is no parent."
        raise _cannot_create(name, uuid, f"parent provider UUID cannot be same as UUID. {hint}")

    def work() -> Provider:
        tree = providers.lock_trees(call.engine, parent_uuid) if parent_uuid else {}
        parent = tree.get(parent_uuid) if parent_uuid else None
        if parent_uuid and parent is None:
            raise _cannot_create(name, uuid, "parent provider UUID does not exist.")
        new_id = providers.insert(call.engine, uuid, name, parent, call.now)
        if new_id is None:
            kind, taken = ("uuid", uuid) if providers.find_holder(call.engine, name, uuid) == uuid else ("name", name)
            raise DuplicateName(f"Conflicting resource provider {kind}: {taken} already exists.")
        if parent is None:
            return Provider(new_id, uuid, name, new_id, updated_at=call.now, root_uuid=uuid)
        root = next(provider for provider in tree.values() if provider.id == parent.root_id)
        new = Provider(new_id, uuid, name, root.id, parent.id, updated_at=call.now)
        new.root_uuid, new.parent_uuid = root.uuid, parent.uuid
        return new

    provider = call.transaction(work)
    location = f"/resource_providers/{provider.uuid}"
    if call.version < 20:
        return Answer(status=201, location=location)
    document = document_of(provider, call.version, call.prefix)
    return Answer(document=document, location=location, last_modified=provider.updated_at)


def update(call: Call) -> Answer:
    """PUT /resource_providers/{uuid}: another name, and from 1.14 a parent; from 1.37 another parent, or none."""
    uuid = call.params["uuid"]
    providers.identify(call.engine, uuid)
    body = call.body(schemas.put_provider(call.version))
    name = body["name"]

    def work() -> Provider:
        moving = "parent_provider_uuid" in body
        new_parent_uuid = _parent_uuid(body)
        concerned = [uuid, new_parent_uuid] if new_parent_uuid else [uuid]
        tree = providers.lock_trees(call.engine, *concerned) if moving else {}
        provider = tree.get(uuid) if moving else providers.find_and_lock(call.engine, uuid)
        if provider is None:
            raise Missing(f"No resource provider with uuid {uuid} found")
        if moving:
            _move(call, provider, new_parent_uuid, tree)
        if providers.find_holder(call.engine, name) not in (None, uuid):
            raise DuplicateName(f"Conflicting resource provider {name} already exists.")
        providers.rename(call.engine, provider.id, name, call.now)
        return providers.get(call.engine, uuid)

    return _answer(call, call.transaction(work))


@transactional
def delete(call: Call) -> Answer:
    """DELETE /resource_providers/{uuid}."""
    uuid = call.params["uuid"]
    tree = providers.lock_trees(call.engine, uuid)
    provider = tree.get(uuid)
    if provider is None:
        raise Missing(f"No resource provider with uuid {uuid} found for delete")
    if any(other.parent_id == provider.id for other in tree.values()):
        raise CannotDeleteParent(f"Unable to delete parent resource provider {uuid}: It has child resource providers.")
    if providers.has_allocations(call.engine, provider.id):
        raise ProviderInUse(f"Unable to delete resource provider {uuid}: Resource provider has allocations.")
    providers.delete(call.engine, provider.id, call.now)
    return Answer(status=204)


def show_aggregates(call: Call) -> Answer:
    """GET /resource_providers/{uuid}/aggregates."""
    provider_id, generation = providers.identify(call.engine, call.params["uuid"])
    return _answer_aggregates(call, providers.aggregates_of(call.engine, provider_id), generation)


def replace_aggregates(call: Call) -> Answer:
    """PUT /resource_providers/{uuid}/aggregates: from 1.19 with the generation, which counts up."""
    providers.identify(call.engine, call.params["uuid"])
    body = call.body(schemas.put_aggregates(call.version))
    guarded = call.version >= 19
    uuids = list(
        dict.fromkeys(values.aggregate_name(uuid) or uuid for uuid in (body["aggregates"] if guarded else body))
    )

    def work() -> int:
        provider = providers.lock(call.engine, call.params["uuid"])
        if guarded:
            provider.check_generation(body["resource_provider_generation"], providers.STALE)
        providers.replace_aggregates(call.engine, provider.id, uuids)
        if guarded:
            return providers.next_generation(call.engine, provider.id, call.now)
        providers.touch(call.engine, provider.id, call.now)
        return provider.generation

    return _answer_aggregates(call, uuids, call.transaction(work))


def _answer_aggregates(call: Call, uuids: list[str], generation: int) -> Answer:
    guard = {"resource_provider_generation": generation} if call.version >= 19 else {}
    return Answer(document={"aggregates": uuids, **guard}, last_modified=call.now)


def _move(
    call: Call,
    provider: resource_provider.LockedProvider,
    new_parent_uuid: str | None,
    tree: dict[str, resource_provider.LockedProvider],
) -> None:
    parent = tree.get(new_parent_uuid) if new_parent_uuid else None
    if new_parent_uuid is not None and parent is None:
        raise _cannot_update(provider, "parent provider UUID does not exist.", action="create")
    parent_id = parent.id if parent else None
    if parent_id == provider.parent_id:
        return
    if call.version < 37 and provider.parent_id is not None:
        verb = "un-parenting" if parent is None else "re-parenting"
        raise _cannot_update(provider, f"{verb} a provider is not currently allowed.")
    if parent is not None and parent.id in providers.subtree_ids(provider.id, tree.values()):
        raise _cannot_update(provider, "creating loop in the provider tree is not allowed.")
    providers.move(call.engine, provider, parent, tree.values(), call.now)


def _answer(call: Call, provider: Provider) -> Answer:
    return Answer(document=document_of(provider, call.version, call.prefix), last_modified=provider.updated_at)


def _parent_uuid(body: Mapping[str, Any]) -> str | None:
    parent = body.get("parent_provider_uuid")
    return None if parent is None else values.normal_uuid(parent)


def _cannot_create(name: str, uuid: str, why: str) -> InvalidValue:
    return InvalidValue(
        f'Unable to create resource provider "{name}", {uuid}: Object action create failed because: {why}'
    )


def _cannot_update(provider: resource_provider.LockedProvider, why: str, action: str = "update") -> InvalidValue:
    return InvalidValue(
        f"Unable to save resource provider {provider.uuid}: Object action {action} failed because: {why}"
    )
