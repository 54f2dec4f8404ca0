"""What is used: of a provider, by a project, and our extensions: by project and group of providers, and limits on what
a project may use of a class, over all providers."""

from collections import Counter
from typing import Any
from urllib.parse import urlencode

import orjson
from msgspec import structs

from limes.placement import errors, schemas
from limes.placement.call import Answer, Call
from limes.placement.objects import quota as quotas
from limes.placement.objects import usage, vocabulary
from limes.placement.objects import usage as usages
from limes.placement.search.values import invalid, parse_aggregates


def show_of_provider(call: Call) -> Answer:
    """GET /resource_providers/{uuid}/usages."""
    generation, used = usages.of_provider(call.engine, call.params["uuid"])
    document = {"resource_provider_generation": generation, "usages": used}
    return Answer(document=document, last_modified=call.now)


def show_of_project(call: Call) -> Answer:
    """GET /usages?project_id=...: from 1.38 by consumer type, with the number of consumers."""
    # the policy must judge the value that is used: the last one, if there are several
    call.authorize(call.parameters().get("project_id", ""))
    query = call.query(schemas.usages_query(call.version))
    owner = (query["project_id"], query.get("user_id"))
    if call.version < 38:
        document: dict[str, Any] = usages.of_project(call.engine.primary, *owner)
    else:
        document = _by_type(call, query.get("consumer_type"), *owner)
    return Answer(document={"usages": document}, last_modified=call.now)


def _by_type(call: Call, wanted_type: str | None, project_id: str, user_id: str | None) -> dict[str, Any]:
    used, counts = usages.of_project_by_type(call.engine.primary, project_id, user_id)
    if wanted_type == "all":
        total: Counter[str] = Counter()
        for amounts in used.values():
            total.update(amounts)
        return {"all": {**total, "consumer_count": sum(counts.values())}} if counts else {}
    by_type = {}
    for consumer_type, count in counts.items():
        name = usages.UNKNOWN if consumer_type is None else consumer_type
        if wanted_type in (None, name):
            by_type[name] = used.get(consumer_type, {}) | {"consumer_count": count}
    return by_type


def list_groups(call: Call) -> Answer:
    """GET /usage_groups?group_by=...: all figures of one answer are from the same moment."""
    query = call.query(schemas.GROUPS_QUERY)
    limit = int(query["limit"]) if "limit" in query else None
    filter_ = usage.Filter(
        usage.GroupBy(query["group_by"]), query.get("project_id"), (), _aggregates(call, query), query.get("marker")
    )

    def read() -> tuple[list[bytes], str | None]:
        page = structs.replace(filter_, class_ids=_class_ids(call, query))
        if limit is not None and page.project_id is None:
            page = structs.replace(page, up_to=usages.last_of_page(call.engine, page.after, limit))
        return _render(call, page), page.up_to

    rendered, last = call.engine.snapshot(read)
    links = b""
    if last is not None:
        following = urlencode({**query, "marker": last}, safe=",:")
        next_page = {"rel": "next", "href": f"{call.prefix}/usage_groups?{following}"}
        links = b',"usage_groups_links":' + orjson.dumps([next_page])
    return Answer(data=b'{"usage_groups":[%b]%b}' % (b",".join(rendered), links), last_modified=call.now)


def _class_ids(call: Call, query: dict[str, str]) -> tuple[int, ...]:
    names = [name for name in query.get("resource_classes", "").split(",") if name]
    ids = vocabulary.class_ids(call.engine, names)
    unknown = [name for name in names if name not in ids]
    if unknown:
        raise errors.InvalidValue(f"No such resource class {unknown[0]}.")
    return tuple(ids.values())


def _aggregates(call: Call, query: dict[str, str]) -> tuple[str, ...]:
    if "member_of" not in query:
        return ()
    aggregates = parse_aggregates([query["member_of"]], call.version)
    most = call.deps.settings.bounds.max_aggregates
    if aggregates.forbidden:
        raise invalid(f"Here 'member_of' cannot exclude aggregates. Got: {query['member_of']}")
    if len(aggregates.member_of[0]) > most:
        raise invalid(f"A query may name at most {most} aggregates.")
    return tuple(sorted(aggregates.member_of[0]))


def _render(call: Call, filter_: usage.Filter) -> list[bytes]:
    """Each group is rendered as its rows arrive, so the rows of a large answer are never all in memory."""
    most = call.deps.settings.bounds.max_usage_groups
    rendered: list[bytes] = []
    for group in usages.stream_groups(call.engine, filter_):
        if len(rendered) == most:
            raise errors.InvalidValue(
                f"The answer would have more than {most} groups: ask for fewer projects at a time with 'limit',"
                " for larger groups with 'group_by', or for fewer aggregates with 'member_of'."
            )
        rendered.append(orjson.dumps(group))
    return rendered


def show_quotas(call: Call) -> Answer:
    """GET /quotas/{project_id}: the limits, and what is used of each class that is limited or used."""
    return _answer_quotas(call, _project(call))


def replace_quotas(call: Call) -> Answer:
    """PUT /quotas/{project_id}: these limits and no others. A limit may be below what is used."""
    project_id = _project(call)
    limits = {name: quota["limit"] for name, quota in call.body(schemas.PUT_QUOTAS)["quotas"].items()}

    def work() -> None:
        ids = vocabulary.check_classes(call.engine, list(limits))
        by_class = {ids[name]: None if limit is None else int(limit) for name, limit in limits.items()}
        quotas.replace(call.engine, project_id, by_class)

    call.transaction(work)
    return _answer_quotas(call, project_id)


def delete_quotas(call: Call) -> Answer:
    """DELETE /quotas/{project_id}: nothing is limited any more."""
    project_id = _project(call)
    if not call.transaction(lambda: quotas.delete(call.engine, project_id)):
        raise errors.Missing(f"No quotas for project '{project_id}'")
    return Answer(status=204)


def _project(call: Call) -> str:
    project_id = call.params["project_id"]
    problem = schemas.PROJECT.problem(project_id)
    if problem is not None:
        raise errors.InvalidBody(f"Invalid project id: {problem}")
    return project_id


def _answer_quotas(call: Call, project_id: str) -> Answer:
    limits, used = quotas.of_project(call.engine, project_id), usages.of_project(call.engine, project_id)
    document: dict[str, Any] = {
        name: {"limit": limits.get(name), "used": used.get(name, 0)} for name in {**limits, **used}
    }
    return Answer(document={"quotas": document}, last_modified=call.now)
