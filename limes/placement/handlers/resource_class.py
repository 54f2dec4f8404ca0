"""Resource classes."""

from typing import Any

from limes.placement.call import Answer, Call, transactional
from limes.placement.errors import Duplicate, InvalidBody, InvalidValue
from limes.placement.objects import resource_class as classes
from limes.placement.schemas import resource_provider as schema


def list_all(call: Call) -> Answer:
    """GET /resource_classes."""
    all_classes = classes.all_of(call.engine)
    document = {"resource_classes": [_document_of(resource_class.name, call.prefix) for resource_class in all_classes]}
    return Answer(document=document, last_modified=call.latest(all_classes))


def show(call: Call) -> Answer:
    """GET /resource_classes/{name}."""
    resource_class = classes.get(call.engine, call.params["name"])
    return Answer(document=_document_of(resource_class.name, call.prefix), last_modified=resource_class.updated)


def create(call: Call) -> Answer:
    """POST /resource_classes."""
    name = call.body(schema.CLASS)["name"]
    if not call.transaction(lambda: classes.create(call.engine, name, call.now)):
        raise Duplicate(f"Conflicting resource class already exists: {name}")
    return Answer(status=201, location=f"/resource_classes/{name}")


def put(call: Call) -> Answer:
    """PUT /resource_classes/{name}: below 1.7 renames a class, from 1.7 makes sure that it exists."""
    return _ensure(call) if call.version >= 7 else _rename(call)


@transactional
def delete(call: Call) -> Answer:
    """DELETE /resource_classes/{name}."""
    name = classes.get(call.engine, call.params["name"]).name
    if not name.startswith("CUSTOM_"):
        raise InvalidValue(f"Error in delete resource class: Cannot delete standard resource class {name}.")
    classes.delete(call.engine, name)
    return Answer(status=204)


def _ensure(call: Call) -> Answer:
    name = call.params["name"]
    problem = schema.CLASS.problem({"name": name})
    if problem is not None:
        raise InvalidBody(f"JSON does not validate: {problem}")
    is_new = call.transaction(lambda: classes.create(call.engine, name, call.now))
    return Answer(status=201 if is_new else 204, location=f"/resource_classes/{name}")


def _rename(call: Call) -> Answer:
    name = call.params["name"]
    new_name = call.body(schema.CLASS)["name"]

    def work() -> None:
        if not classes.get(call.engine, name).name.startswith("CUSTOM_"):
            raise InvalidValue(f"Cannot update standard resource class {name}")
        classes.rename(call.engine, name, new_name, call.now)

    call.transaction(work)
    return Answer(document=_document_of(new_name, call.prefix), last_modified=call.now)


def _document_of(name: str, prefix: str) -> dict[str, Any]:
    return {"name": name, "links": [{"rel": "self", "href": f"{prefix}/resource_classes/{name}"}]}
