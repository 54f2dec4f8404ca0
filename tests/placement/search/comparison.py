"""Comparing upstream's candidates with ours.

Where upstream is known to be wrong, ours is not measured by it:

- Where several groups ask for one resource class, it adds to amounts that it kept from combinations tried before. So
  amounts come out too high, or a candidate is missing because they seem to exceed the capacity.
- A candidate that is served by sharing providers alone is remembered for one of its roots only, so that combinations
  with other groups are missing. There ours may have more, all of them with a sharing provider in them.
"""

import json
import re
from collections import Counter
from typing import Any


def amounts(request: Any) -> dict[Any, Any]:
    allocations = request["allocations"]
    if isinstance(allocations, list):
        return {one["resource_provider"]["uuid"]: one["resources"] for one in allocations}
    return {uuid: one["resources"] for uuid, one in allocations.items()}


def spelled(document: Any) -> Counter[Any]:
    return Counter(
        json.dumps(
            [amounts(request), {suffix: sorted(uuids) for suffix, uuids in request.get("mappings", {}).items()}],
            sort_keys=True,
        )
        for request in document["allocation_requests"]
    )


def sums_of(document: Any) -> list[Any]:
    return [
        sum((Counter(resources) for resources in amounts(request).values()), Counter())
        for request in document["allocation_requests"]
    ]


def asked_for(query: str) -> Counter[Any]:
    wanted = Counter()
    for part in query.split("&"):
        key, _, value = part.partition("=")
        if key.startswith("resources"):
            wanted.update({name: int(amount) for name, amount in (item.split(":") for item in value.split(","))})
    return wanted


def summaries(document: Any) -> Any:
    for one in document["provider_summaries"].values():
        if "traits" in one:
            one["traits"] = sorted(one["traits"])
    return document["provider_summaries"]


def check_candidates(sharing: set[str], query: str, theirs: Any, ours: Any) -> None:
    """Raises AssertionError where the documents differ for another reason. `sharing`: the UUIDs that share."""
    if any(found != asked_for(query) for found in sums_of(theirs)):
        return
    missing, more = spelled(theirs) - spelled(ours), spelled(ours) - spelled(theirs)
    assert not missing
    if more:
        assert all(found == asked_for(query) for found in sums_of(ours))
        grouped = any(part.startswith("resources") and part[9] != "=" for part in query.split("&"))
        assert asks_twice(query) or (grouped and all(sharing & set(json.loads(text)[0]) for text in more))
        return
    assert summaries(ours) == summaries(theirs)


def asks_twice(query: str) -> bool:
    names = re.findall(r"([A-Z_]+):\d", query)
    return len(set(names)) < len(names)
