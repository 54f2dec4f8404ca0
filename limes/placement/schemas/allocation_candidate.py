"""The parameters of `GET /allocation_candidates` at each microversion."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from limes.placement.schemas.common import object_of, versioned

_NUMBER = "([1-9][0-9]*)?$"
_WORD = "([a-zA-Z0-9_-]{1,64})?$"
_STRING = {"type": "string"}
_LISTED = {"type": ["string"]}
_LIMIT = {"type": ["integer", "string"], "pattern": "^[1-9][0-9]*$", "minimum": 1, "minLength": 1}


def problem(version: int, params: Mapping[str, str]) -> str | None:
    """Returns what is wrong with the parameters at a microversion from 1.10, or None. All values are strings."""
    if _is_known_good(version, tuple(params), params.get("limit"), params.get("group_policy")):
        return None
    return _query(version).problem(params)


@lru_cache(maxsize=1024)
def _is_known_good(version: int, names: tuple[str, ...], limit: str | None, group_policy: str | None) -> bool:
    """Cached, since the schema's verdict depends on nothing else, and most queries have one of a few forms."""
    params = dict.fromkeys(names, "")
    if limit is not None:
        params["limit"] = limit
    if group_policy is not None:
        params["group_policy"] = group_policy
    return _query(version).problem(params) is None


def _plain(version: int) -> dict[str, Any]:
    properties: dict[str, Any] = {"resources": _STRING}
    if version >= 16:
        properties["limit"] = _LIMIT
    if version >= 17:
        properties["required"] = _LISTED
    if version >= 21:
        properties["member_of"] = _LISTED
    return object_of(properties, ["resources"])


def _granular(version: int) -> dict[str, Any]:
    properties: dict[str, Any] = {"limit": _LIMIT, "group_policy": {"type": "string", "enum": ["none", "isolate"]}}
    if version >= 35:
        properties["root_required"] = _LISTED
    if version >= 36:
        properties["same_subtree"] = _LISTED
    names = ["resources", "required", "member_of"]
    if version >= 31:
        names.append("in_tree")
    suffix = _WORD if version >= 33 else _NUMBER
    document = object_of(properties)
    document["patternProperties"] = {f"^{name}{suffix}": _STRING for name in names}
    return document


_query = versioned(
    lambda since: _plain(since) if since < 25 else _granular(since), *(10, 16, 17, 21, 25, 31, 33, 35, 36)
)
