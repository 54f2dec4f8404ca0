"""What is used: of a provider, by a project, and our extension: by project and group of providers."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import orjson

from limes.placement.call import Answer, Call
from limes.placement.errors import InvalidValue
from limes.placement.objects import usage as usages
from limes.placement.objects import usage_group as groups
from limes.placement.objects import vocabulary
from limes.placement.objects.usage_group import Filter, GroupBy
from limes.placement.schemas import usage as schema
from limes.placement.search.querystring import invalid
from limes.placement.search.values import parse_aggregates

_UNKNOWN = "unknown"


def show_of_provider(call: Call) -> Answer:
    """GET /resource_providers/{uuid}/usages."""
    generation, used = usages.of_provider(call.engine, call.params["uuid"])
    document = {"resource_provider_generation": generation, "usages": used}
    return Answer(document=document, last_modified=call.now)


def show_of_project(call: Call) -> Answer:
    """GET /usages?project_id=...: from 1.38 by consumer type, with the number of consumers."""
    # the policy must judge the value that is used: the last one, if there are several
    call.authorize(call.parameters().get("project_id", ""))
    query = call.query(schema.query(call.version))
    owner = (query["project_id"], query.get("user_id"))
    if call.version < 38:
        document: dict[str, Any] = usages.of_project(call.engine.primary, *owner)
    else:
        document = _by_type(call, query.get("consumer_type"), *owner)
    return Answer(document={"usages": document}, last_modified=call.now)


def _by_type(call: Call, wanted_type: str | None, project_id: str, user_id: str | None) -> dict[str, Any]:
    used, counts = usages.of_project_by_type(call.engine.primary, project_id, user_id)
    if wanted_type == "all":
        total: dict[str, int] = {}
        for amounts in used.values():
            for name, amount in amounts.items():
                total[name] = total.get(name, 0) + amount
        return {"all": total | {"consumer_count": sum(counts.values())}} if counts else {}
    by_type = {
        _UNKNOWN if consumer_type is None else consumer_type: used.get(consumer_type, {}) | {"consumer_count": count}
        for consumer_type, count in counts.items()
    }
    return (
        by_type if wanted_type is None else {name: amounts for name, amounts in by_type.items() if name == wanted_type}
    )


def list_groups(call: Call) -> Answer:
    """GET /usage_groups?group_by=...: all figures of one answer are from the same moment."""
    query = call.query(schema.GROUPS_QUERY)
    limit = int(query["limit"]) if "limit" in query else None
    filter_ = Filter(
        GroupBy(query["group_by"]), query.get("project_id"), (), _aggregates(call, query), query.get("marker")
    )

    def read() -> tuple[list[bytes], str | None]:
        page = replace(filter_, class_ids=_class_ids(call, query))
        if limit is not None and page.project_id is None:
            page = replace(page, up_to=groups.last_of_page(call.engine, page.after, limit))
        return _render(call, page), page.up_to

    rendered, last = call.engine.snapshot(read)
    links = b"" if last is None else b',"usage_groups_links":' + orjson.dumps(_next(call, query, last))
    return Answer(data=b'{"usage_groups":[%b]%b}' % (b",".join(rendered), links), last_modified=call.now)


def _class_ids(call: Call, query: dict[str, str]) -> tuple[int, ...]:
    names = [name for name in query.get("resource_classes", "").split(",") if name]
    ids = vocabulary.class_ids(call.engine, names)
    unknown = [name for name in names if name not in ids]
    if unknown:
        raise InvalidValue(f"No such resource class {unknown[0]}.")
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


def _render(call: Call, filter_: Filter) -> list[bytes]:
    """Each group is rendered as its rows arrive, so the rows of a large answer are never all in memory."""
    most = call.deps.settings.bounds.max_usage_groups
    rendered: list[bytes] = []
    for group in groups.stream(call.engine, filter_):
        if len(rendered) == most:
            raise InvalidValue(
                f"The answer would have more than {most} groups: ask for fewer projects at a time with 'limit',"
                " for larger groups with 'group_by', or for fewer aggregates with 'member_of'."
            )
        rendered.append(orjson.dumps(group))
    return rendered


def _next(call: Call, query: dict[str, str], last: str) -> list[dict[str, str]]:
    following = urlencode({**query, "marker": last}, safe=",:")
    return [{"rel": "next", "href": f"{call.prefix}/usage_groups?{following}"}]
