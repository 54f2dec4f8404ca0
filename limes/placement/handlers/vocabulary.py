"""Resource classes and traits, and the traits of a provider."""

from typing import Any

from limes.placement import schemas
from limes.placement.call import Answer, Call, transactional
from limes.placement.errors import InvalidBody, InvalidValue, Missing, NameConflict, prefixed, provider_missing
from limes.placement.objects import resource_provider, vocabulary
from limes.placement.objects.vocabulary import Name

_BAD_TRAIT = (
    "The trait is invalid. A valid trait must be no longer than 255 characters, start with the prefix"
    ' "CUSTOM_" and use following characters: "A"-"Z", "0"-"9" and "_"'
)


def list_classes(call: Call) -> Answer:
    """GET /resource_classes."""
    classes = vocabulary.all_classes(call.engine)
    document = {"resource_classes": [_class_document(one.name, call.prefix) for one in classes]}
    return Answer(document=document, last_modified=call.latest(classes))


def show_class(call: Call) -> Answer:
    """GET /resource_classes/{name}."""
    shown = vocabulary.get(call.engine, "resource_classes", call.params["name"])
    return Answer(document=_class_document(shown.name, call.prefix), last_modified=shown.updated)


def create_class(call: Call) -> Answer:
    """POST /resource_classes."""
    name = call.body(schemas.CLASS)["name"]
    if not _create_class(call, name):
        raise NameConflict(f"Conflicting resource class already exists: {name}")
    return Answer(status=201, location=f"/resource_classes/{name}")


def put_class(call: Call) -> Answer:
    """PUT /resource_classes/{name}: below 1.7 renames a class, from 1.7 makes sure that it exists."""
    name = call.params["name"]
    if call.version < 7:
        return _rename_class(call, name, call.body(schemas.CLASS)["name"])
    problem = schemas.CLASS.problem({"name": name})
    if problem is not None:
        raise InvalidBody(f"JSON does not validate: {problem}")
    return Answer(status=201 if _create_class(call, name) else 204, location=f"/resource_classes/{name}")


@transactional
def delete_class(call: Call) -> Answer:
    """DELETE /resource_classes/{name}."""
    with (
        prefixed(InvalidValue, "Error in delete resource class:"),
        prefixed(NameConflict, "Error in delete resource class:"),
    ):
        vocabulary.delete(call.engine, "resource_classes", call.params["name"])
    return Answer(status=204)


def _create_class(call: Call, name: str) -> bool:
    return call.transaction(lambda: vocabulary.create(call.engine, "resource_classes", name, call.now)) is not None


def _rename_class(call: Call, name: str, new_name: str) -> Answer:
    def work() -> None:
        vocabulary.get(call.engine, "resource_classes", name)
        if not name.startswith("CUSTOM_"):
            raise InvalidValue(f"Cannot update standard resource class {name}")
        vocabulary.rename_class(call.engine, name, new_name, call.now)

    call.transaction(work)
    return Answer(document=_class_document(new_name, call.prefix), last_modified=call.now)


def _class_document(name: str, prefix: str) -> dict[str, Any]:
    return {"name": name, "links": [{"rel": "self", "href": f"{prefix}/resource_classes/{name}"}]}


def list_traits(call: Call) -> Answer:
    """GET /traits?name=...&associated=..."""
    query = call.query(schemas.TRAITS_QUERY)
    names, prefix = _name_filter(query["name"]) if "name" in query else (None, None)
    associated = query["associated"].lower() if "associated" in query else None
    if associated not in (None, "true", "false"):
        raise InvalidValue('The query parameter "associated" only accepts "true" or "false"')
    has_provider = None if associated is None else associated == "true"
    selected = vocabulary.select_traits(call.engine, names=names, prefix=prefix, associated=has_provider)
    return Answer(document={"traits": [trait.name for trait in selected]}, last_modified=call.latest(selected))


def _name_filter(value: str) -> tuple[list[str] | None, str | None]:
    operator, colon, operand = value.partition(":")
    if colon and operator == "in":
        return operand.split(","), None
    if colon and operator == "startswith":
        return None, operand
    raise InvalidValue(
        "Badly formatted name parameter. Expected name query string parameter in form:"
        f' ?name=[in|startswith]:[name1,name2|prefix]. Got: "{value}"'
    )


def show_trait(call: Call) -> Answer:
    """GET /traits/{name}: 204 if the trait exists."""
    return Answer(status=204, last_modified=vocabulary.get(call.engine, "traits", call.params["name"]).updated)


def create_trait(call: Call) -> Answer:
    """PUT /traits/{name}: 201 if it is new, 204 if it existed."""
    name = call.params["name"]
    if schemas.TRAIT_NAME.problem(name) is not None:
        raise InvalidValue(_BAD_TRAIT)
    is_new, trait = call.transaction(lambda: vocabulary.ensure_trait(call.engine, name, call.now))
    return Answer(status=201 if is_new else 204, location=f"/traits/{name}", last_modified=trait.updated)


@transactional
def delete_trait(call: Call) -> Answer:
    """DELETE /traits/{name}."""
    vocabulary.delete(call.engine, "traits", call.params["name"])
    return Answer(status=204)


def list_of_provider(call: Call) -> Answer:
    """GET /resource_providers/{uuid}/traits."""
    try:
        provider_id, generation = resource_provider.identify(call.engine, call.params["uuid"])
    except Missing:
        raise provider_missing(call.params["uuid"]) from None
    return _answer(call, vocabulary.traits_of(call.engine, provider_id), generation)


def replace_of_provider(call: Call) -> Answer:
    """PUT /resource_providers/{uuid}/traits. The generation counts up only if the traits change."""
    body = call.body(schemas.PUT_TRAITS)

    def work() -> tuple[list[Name], int]:
        provider = resource_provider.lock(call.engine, call.params["uuid"])
        provider.check_generation(body["resource_provider_generation"], resource_provider.STALE)
        new_traits = vocabulary.check_traits(call.engine, body["traits"])
        if not vocabulary.replace_traits(call.engine, provider.id, new_traits):
            return new_traits, provider.generation
        return new_traits, resource_provider.next_generation(call.engine, provider.id, call.now)

    return _answer(call, *call.transaction(work))


@transactional
def delete_of_provider(call: Call) -> Answer:
    """DELETE /resource_providers/{uuid}/traits. The generation counts up only if there were any."""
    provider = resource_provider.lock(call.engine, call.params["uuid"])
    if vocabulary.replace_traits(call.engine, provider.id, []):
        resource_provider.next_generation(call.engine, provider.id, call.now)
    return Answer(status=204)


def _answer(call: Call, shown: list[Name], generation: int) -> Answer:
    document = {"traits": [trait.name for trait in shown], "resource_provider_generation": generation}
    return Answer(document=document, last_modified=call.latest(shown))
