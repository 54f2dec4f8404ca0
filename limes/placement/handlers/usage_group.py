"""What is used by project and group of providers, our extension: for all projects, or for one."""

from dataclasses import replace
from urllib.parse import urlencode

import orjson

from limes.placement.call import Answer, Call
from limes.placement.errors import InvalidValue
from limes.placement.objects import resource_class
from limes.placement.objects import usage_group as groups
from limes.placement.objects.usage_group import Filter, GroupBy
from limes.placement.schemas.usage_group import QUERY
from limes.placement.search.errors import invalid
from limes.placement.search.values import parse_aggregates


def list_groups(call: Call) -> Answer:
    """GET /usage_groups?group_by=...: all figures of one answer are of the same moment."""
    query = call.query(QUERY)
    limit = int(query["limit"]) if "limit" in query else None
    asked = Filter(
        GroupBy(query["group_by"]), query.get("project_id"), (), _aggregates(call, query), query.get("marker")
    )

    def read() -> tuple[list[bytes], str | None]:
        page = replace(asked, class_ids=_class_ids(call, query))
        if limit is not None and page.project_id is None:
            page = replace(page, up_to=groups.last_of_page(call.engine, page.after, limit))
        return _render(call, page), page.up_to

    rendered, last = call.engine.snapshot(read)
    links = b"" if last is None else b',"usage_groups_links":' + orjson.dumps(_next(call, query, last))
    return Answer(data=b'{"usage_groups":[%b]%b}' % (b",".join(rendered), links), last_modified=call.now)


def _class_ids(call: Call, query: dict[str, str]) -> tuple[int, ...]:
    names = [name for name in query.get("resource_classes", "").split(",") if name]
    ids = resource_class.ids_of(call.engine, names)
    unknown = [name for name in names if name not in ids]
    if unknown:
        raise InvalidValue(f"No such resource class {unknown[0]}.")
    return tuple(ids.values())


def _aggregates(call: Call, query: dict[str, str]) -> tuple[str, ...]:
    if "member_of" not in query:
        return ()
    asked = parse_aggregates([query["member_of"]], call.version)
    most = call.deps.settings.bounds.max_aggregates
    if asked.forbidden:
        raise invalid(f"Here 'member_of' cannot exclude aggregates. Got: {query['member_of']}")
    if len(asked.member_of[0]) > most:
        raise invalid(f"A query may name at most {most} aggregates.")
    return tuple(sorted(asked.member_of[0]))


def _render(call: Call, asked: Filter) -> list[bytes]:
    """Each group is rendered when its rows come, so the rows of a large answer are never in memory together."""
    most = call.deps.settings.bounds.max_usage_groups
    rendered: list[bytes] = []
    for group in groups.stream(call.engine, asked):
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
