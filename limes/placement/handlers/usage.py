"""What is used: of a provider, and by a project."""

from typing import Any

from limes.placement.call import Answer, Call
from limes.placement.objects import usage as usages
from limes.placement.schemas import usage as schema

_UNKNOWN = "unknown"


def show_of_provider(call: Call) -> Answer:
    """GET /resource_providers/{uuid}/usages."""
    generation, used = usages.of_provider(call.engine, call.params["uuid"])
    document = {"resource_provider_generation": generation, "usages": used}
    return Answer(document=document, last_modified=call.now)


def show_of_project(call: Call) -> Answer:
    """GET /usages?project_id=...: from 1.38 by consumer type, with the number of consumers."""
    # the policy is asked about the very value that is used, which is the last one of several
    call.authorize(call.parameters().get("project_id", ""))
    query = call.query(schema.query(call.version))
    owner = (query["project_id"], query.get("user_id"))
    if call.version < 38:
        document: dict[str, Any] = usages.of_project(call.engine, *owner)
    else:
        document = _by_type(call, query.get("consumer_type"), *owner)
    return Answer(document={"usages": document}, last_modified=call.now)


def _by_type(call: Call, wanted: str | None, project_id: str, user_id: str | None) -> dict[str, Any]:
    used, counts = usages.of_project_by_type(call.engine, project_id, user_id)
    if wanted == "all":
        total: dict[str, int] = {}
        for amounts in used.values():
            for name, amount in amounts.items():
                total[name] = total.get(name, 0) + amount
        return {"all": total | {"consumer_count": sum(counts.values())}} if counts else {}
    named = {_UNKNOWN if one is None else one: used.get(one, {}) | {"consumer_count": n} for one, n in counts.items()}
    return named if wanted is None else {key: value for key, value in named.items() if key == wanted}
