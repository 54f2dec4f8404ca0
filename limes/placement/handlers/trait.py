"""Traits: all names, and the traits of a provider."""

from limes.placement.call import Answer, Call, transactional
from limes.placement.errors import InvalidValue, Missing, provider_missing
from limes.placement.objects import resource_provider
from limes.placement.objects import trait as traits
from limes.placement.objects.trait import Trait
from limes.placement.schemas import resource_provider as schema

_BAD_NAME = (
    "The trait is invalid. A valid trait must be no longer than 255 characters, start with the prefix"
    ' "CUSTOM_" and use following characters: "A"-"Z", "0"-"9" and "_"'
)


def list_all(call: Call) -> Answer:
    """GET /traits?name=...&associated=..."""
    query = call.query(schema.TRAITS_QUERY)
    names, prefix = _name_filter(query["name"]) if "name" in query else (None, None)
    associated = _associated_filter(query["associated"]) if "associated" in query else None
    selected = traits.select(call.engine, names=names, prefix=prefix, associated=associated)
    return Answer(document={"traits": [trait.name for trait in selected]}, last_modified=call.latest(selected))


def show(call: Call) -> Answer:
    """GET /traits/{name}: 204 if the trait exists."""
    return Answer(status=204, last_modified=traits.get(call.engine, call.params["name"]).updated)


def create(call: Call) -> Answer:
    """PUT /traits/{name}: 201 if it is new, 204 if it existed."""
    name = call.params["name"]
    if schema.TRAIT_NAME.problem(name) is not None:
        raise InvalidValue(_BAD_NAME)

    is_new, trait = call.transaction(lambda: traits.ensure(call.engine, name, call.now))
    return Answer(status=201 if is_new else 204, location=f"/traits/{name}", last_modified=trait.updated)


@transactional
def delete(call: Call) -> Answer:
    """DELETE /traits/{name}."""
    trait = traits.get(call.engine, call.params["name"])
    if not trait.name.startswith("CUSTOM_"):
        raise InvalidValue(f"Cannot delete standard trait {trait.name}.")
    traits.delete(call.engine, trait.name)
    return Answer(status=204)


def list_of_provider(call: Call) -> Answer:
    """GET /resource_providers/{uuid}/traits."""
    try:
        provider_id, generation = resource_provider.identify(call.engine, call.params["uuid"])
    except Missing:
        raise provider_missing(call.params["uuid"]) from None
    return _answer(call, traits.of_provider(call.engine, provider_id), generation)


def replace_of_provider(call: Call) -> Answer:
    """PUT /resource_providers/{uuid}/traits. The generation counts up only if the traits change."""
    body = call.body(schema.PUT_TRAITS)

    def work() -> tuple[list[Trait], int]:
        provider = resource_provider.lock(call.engine, call.params["uuid"])
        provider.check_generation(body["resource_provider_generation"], resource_provider.STALE)
        new_traits = traits.check_exist(call.engine, body["traits"])
        if not traits.replace_of_provider(call.engine, provider.id, new_traits):
            return new_traits, provider.generation
        return new_traits, resource_provider.next_generation(call.engine, provider.id, call.now)

    return _answer(call, *call.transaction(work))


@transactional
def delete_of_provider(call: Call) -> Answer:
    """DELETE /resource_providers/{uuid}/traits. The generation counts up only if there were any."""
    provider = resource_provider.lock(call.engine, call.params["uuid"])
    if traits.replace_of_provider(call.engine, provider.id, []):
        resource_provider.next_generation(call.engine, provider.id, call.now)
    return Answer(status=204)


def _answer(call: Call, shown: list[Trait], generation: int) -> Answer:
    document = {"traits": [trait.name for trait in shown], "resource_provider_generation": generation}
    return Answer(document=document, last_modified=call.latest(shown))


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


def _associated_filter(value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise InvalidValue('The query parameter "associated" only accepts "true" or "false"')
    return value.lower() == "true"
