"""Project quotas, our extension: limits on what a project may use of a class, over all providers."""

from typing import Any

from limes.placement.call import Answer, Call
from limes.placement.errors import InvalidBody, Missing
from limes.placement.objects import quota as quotas
from limes.placement.objects import usage, vocabulary
from limes.placement.schemas import usage as schema
from limes.placement.schemas.common import OWNER, Schema

_PROJECT = Schema(OWNER)


def show(call: Call) -> Answer:
    """GET /quotas/{project_id}: the limits, and what is used of each class that is limited or used."""
    project_id = _project(call)
    return _answer(call, project_id)


def replace(call: Call) -> Answer:
    """PUT /quotas/{project_id}: these limits and no others. A limit may be below what is used."""
    project_id = _project(call)
    body = call.body(schema.PUT_QUOTAS)
    limits = {name: quota["limit"] for name, quota in body["quotas"].items()}

    def work() -> None:
        ids = vocabulary.check_classes(call.engine, list(limits))
        limits_by_class = {ids[name]: None if limit is None else int(limit) for name, limit in limits.items()}
        quotas.replace(call.engine, project_id, limits_by_class)

    call.transaction(work)
    return _answer(call, project_id)


def delete(call: Call) -> Answer:
    """DELETE /quotas/{project_id}: nothing is limited any more."""
    project_id = _project(call)
    if not call.transaction(lambda: quotas.delete(call.engine, project_id)):
        raise Missing(f"No quotas for project '{project_id}'")
    return Answer(status=204)


def _project(call: Call) -> str:
    project_id = call.params["project_id"]
    problem = _PROJECT.problem(project_id)
    if problem is not None:
        raise InvalidBody(f"Invalid project id: {problem}")
    return project_id


def _answer(call: Call, project_id: str) -> Answer:
    limits, used = quotas.of_project(call.engine, project_id), usage.of_project(call.engine, project_id)
    document: dict[str, Any] = {
        name: {"limit": limits.get(name), "used": used.get(name, 0)} for name in {**limits, **used}
    }
    return Answer(document={"quotas": document}, last_modified=call.now)
