"""The bodies and queries of all operations, as JSON schemas; many grew with the microversions.

fastjsonschema turns them into code, which accepts a body in a twentieth of jsonschema's time. What it does not accept,
jsonschema judges, in the wording that clients and their tests know."""

import reprlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property, lru_cache
from itertools import islice
from typing import Any

import fastjsonschema
import jsonschema
from jsonschema.exceptions import best_match

from limes.placement.objects.usage import GroupBy
from limes.placement.search.values import normal_uuid

_MAX_MESSAGE = 1000
_MOST_ERRORS = 100
"""The best of this many errors is reported: a large body can have a million, and each takes time."""
_MAX_DEPTH = 30

_shortened = reprlib.Repr()
_shortened.maxlevel = 6
_shortened.maxdict = 12
_shortened.maxlist = 6
_shortened.maxstring = _shortened.maxother = 100

_formats = jsonschema.FormatChecker(formats=())


@_formats.checks("uuid")
def _is_uuid(value: object) -> bool:
    return not isinstance(value, str) or normal_uuid(value) is not None


class Schema:
    def __init__(self, document: dict[str, Any]) -> None:
        jsonschema.Draft202012Validator.check_schema(document)
        self.document = document

    @cached_property
    def _accept(self) -> Callable[[Any], object]:
        accept: Callable[[Any], object] = fastjsonschema.compile(
            self.document, formats={"uuid": _is_uuid}, use_default=False, detailed_exceptions=False
        )
        return accept

    def problem(self, instance: Any) -> str | None:
        try:
            self._accept(instance)
        except fastjsonschema.JsonSchemaValueException:
            return self._describe(instance)
        return None

    def _describe(self, instance: Any) -> str | None:
        validator = jsonschema.Draft202012Validator(self.document, format_checker=_formats)
        error = best_match(islice(validator.iter_errors(instance), _MOST_ERRORS))
        if error is None:
            return None
        where = _path(list(error.relative_schema_path)[:-1])
        # the library's wording in one line, short even if the instance is large
        return (
            f"{error.message[:_MAX_MESSAGE]}  Failed validating {error.validator!r} in schema{where}:"
            f"     {_shortened.repr(error.schema)}  On instance{_path(error.relative_path)}:"
            f"     {_shortened.repr(error.instance)}"
        )


def _path(steps: Iterable[str | int]) -> str:
    return "".join(f"[{step!r}]" for step in steps)


def oversize(document: Any, max_items: int, max_keys: int, max_values: int) -> str | None:
    """Returns what is too large in a document, or None. Checked before anything else."""
    level = [document]
    values = 0
    for _ in range(_MAX_DEPTH):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                if len(value) > max_keys:
                    return f"an object may have at most {max_keys} entries"
                below += value.values()
            elif isinstance(value, list):
                if len(value) > max_items:
                    return f"a list may have at most {max_items} entries"
                below += value
        values += len(below)
        if values > max_values:
            return f"it may have at most {max_values} values in all"
        level = below
        if not level:
            return None
    return f"it is nested deeper than {_MAX_DEPTH} levels"


UUID = {"type": "string", "format": "uuid"}
GENERATION = {"type": "integer"}
MAX_INT = 2147483647


def object_of(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    document: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        document["required"] = required
    document["additionalProperties"] = False
    return document


def all_of(properties: dict[str, Any]) -> dict[str, Any]:
    """As `object_of`; none of them may be missing."""
    return object_of(properties, list(properties))


def map_of(key: str, value: dict[str, Any], minimum: int | None = None) -> dict[str, Any]:
    """Returns the schema of an object with such values, at least `minimum` of them, and keys of the pattern `key`."""
    at_least = {} if minimum is None else {"minProperties": minimum}
    return {"type": "object", **at_least, "patternProperties": {key: value}, "additionalProperties": False}


def versioned(form_since: Callable[[int], dict[str, Any]], *changes: int) -> Callable[[int], Schema]:
    """Returns a function of the microversion. `form_since` makes the form that came with each of the microversions
    `changes`; it is compiled when it is first needed."""
    compiled = cache(lambda since: Schema(form_since(since)))
    return cache(lambda version: compiled(max(since for since in changes if since <= version)))


def growing(*steps: tuple[int, dict[str, Any]], required: list[str] | None = None) -> Callable[[int], Schema]:
    """As `versioned`, for an object with the properties of all steps up to the microversion."""

    def form(since: int) -> dict[str, Any]:
        return object_of({name: kind for step, more in steps if step <= since for name, kind in more.items()}, required)

    return versioned(form, *(step for step, _ in steps))


_STRING = {"type": "string"}
_WORD = {"type": "string", "minLength": 1, "maxLength": 255}
_OWNER = _WORD
_UUID_KEY = "^[0-9a-fA-F-]{36}$"
_CLASS_KEY = "^[A-Z0-9_]+$"

PROJECT = Schema(_OWNER)
"""The id of a project in the path."""

# -- resource classes and traits ---------------------------------------------------------------------------------------

TRAIT_NAME = Schema({**_WORD, "pattern": r"^CUSTOM_[A-Z0-9_]+\Z"})
"""The name of a custom trait."""
TRAITS_QUERY = Schema(object_of({"name": _STRING, "associated": _STRING}))

_CLASS_NAME = {"type": "string", "pattern": r"^CUSTOM\_[A-Z0-9_]+\Z", "maxLength": 255}
CLASS = Schema(all_of({"name": _CLASS_NAME}))
"""The body of POST /resource_classes, of PUT /resource_classes/{name} below 1.7; and what its URL says from 1.7."""

# -- resource providers ------------------------------------------------------------------------------------------------

_NAME = {"type": "string", "maxLength": 200}
_PARENT = {"parent_provider_uuid": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}}
post_provider = growing((0, {"name": _NAME, "uuid": UUID}), (14, _PARENT), required=["name"])
put_provider = growing((0, {"name": _NAME}), (14, _PARENT), required=["name"])
providers_query = growing(
    (0, {"name": _STRING, "uuid": UUID}),
    (3, {"member_of": _STRING}),
    (4, {"resources": _STRING}),
    (14, {"in_tree": UUID}),
    (18, {"required": _STRING}),
)


def _with_generation(name: str, value: dict[str, Any]) -> dict[str, Any]:
    return all_of({name: value, "resource_provider_generation": GENERATION})


_AGGREGATES = {"type": "array", "items": UUID, "uniqueItems": True}
put_aggregates = versioned(
    lambda since: _with_generation("aggregates", _AGGREGATES) if since >= 19 else _AGGREGATES, 0, 19
)
"""A list; from 1.19 an object with generation."""
PUT_TRAITS = Schema(_with_generation("traits", {"type": "array", "items": _WORD}))

_POSITIVE = {"type": "integer", "minimum": 1, "maximum": MAX_INT}
_INVENTORY = {
    "resource_provider_generation": GENERATION,
    "total": _POSITIVE,
    "reserved": {"type": "integer", "minimum": 0, "maximum": MAX_INT},
    "min_unit": _POSITIVE,
    "max_unit": _POSITIVE,
    "step_size": _POSITIVE,
    "allocation_ratio": {"type": "number", "minimum": 0, "maximum": 3.40282e38},
}
_CLASS = {"resource_class": {"type": "string", "pattern": _CLASS_KEY}}
POST_INVENTORY = Schema(object_of({**_CLASS, **_INVENTORY}, ["resource_class", "total"]))
PUT_INVENTORY = Schema(object_of(_INVENTORY, ["resource_provider_generation", "total"]))
_INVENTORIES = map_of(_CLASS_KEY, object_of(_INVENTORY, ["total"]))
_ALL_INVENTORY = all_of({"resource_provider_generation": GENERATION, "inventories": _INVENTORIES})
"""That of one provider, as in PUT and in the reshaper."""
PUT_INVENTORIES = Schema(_ALL_INVENTORY)

# -- allocations -------------------------------------------------------------------------------------------------------

# no maximum: more than any inventory can give is a conflict, not a malformed body
_RESOURCES = map_of(_CLASS_KEY, {"type": "integer", "minimum": 1}, 1)
_TYPE = {"type": "string", "pattern": "^[A-Z0-9_]+$", "minLength": 1, "maxLength": 255}
_MAPPINGS = {
    "type": "object",
    "minProperties": 1,
    "patternProperties": {"^[a-zA-Z0-9_-]{0,64}$": {"type": "array", "minItems": 1, "items": UUID}},
}
"""By suffix of the group. They are ignored, so any other keys are allowed."""
_LIST = {
    "type": "array",
    "minItems": 1,
    "items": all_of({"resource_provider": all_of({"uuid": UUID}), "resources": _RESOURCES}),
}


def _claim(version: int, *, may_be_empty: bool) -> dict[str, Any]:
    """Returns one consumer's part: by provider, with owner, generation (1.28), mappings (1.34) and type (1.38)."""
    of_provider = object_of({"generation": {"type": "integer"}, "resources": _RESOURCES}, ["resources"])
    properties: dict[str, Any] = {
        "allocations": map_of(_UUID_KEY, of_provider, 0 if may_be_empty else 1),
        "project_id": _OWNER,
        "user_id": _OWNER,
    }
    if version >= 28:
        properties["consumer_generation"] = {"type": ["integer", "null"]}
    if version >= 34:
        properties["mappings"] = _MAPPINGS
    if version >= 38:
        properties["consumer_type"] = _TYPE
    return object_of(properties, [name for name in properties if name != "mappings"])


def _put_allocations(since: int) -> dict[str, Any]:
    if since >= 12:
        return _claim(since, may_be_empty=since >= 28)
    return all_of({"allocations": _LIST, **({"project_id": _OWNER, "user_id": _OWNER} if since >= 8 else {})})


def _by_consumer(since: int, minimum: int) -> dict[str, Any]:
    return map_of(_UUID_KEY, _claim(since, may_be_empty=True), minimum)


def _reshape(since: int) -> dict[str, Any]:
    return all_of({"inventories": map_of(_UUID_KEY, _ALL_INVENTORY, 1), "allocations": _by_consumer(since, 0)})


put_allocations = versioned(_put_allocations, 0, 8, 12, 28, 34, 38)
post_allocations = versioned(lambda since: _by_consumer(since, 1), 13, 28, 34, 38)
post_reshape = versioned(_reshape, 30, 34, 38)

# -- allocation candidates ---------------------------------------------------------------------------------------------

_LISTED = {"type": ["string"]}
_LIMIT = {"type": ["integer", "string"], "pattern": "^[1-9][0-9]*$", "minimum": 1, "minLength": 1}
_plain_candidates = growing(
    (10, {"resources": _STRING}),
    (16, {"limit": _LIMIT}),
    (17, {"required": _LISTED}),
    (21, {"member_of": _LISTED}),
    required=["resources"],
)


def _granular(since: int) -> dict[str, Any]:
    properties: dict[str, Any] = {"limit": _LIMIT, "group_policy": {"type": "string", "enum": ["none", "isolate"]}}
    if since >= 35:
        properties["root_required"] = _LISTED
    if since >= 36:
        properties["same_subtree"] = _LISTED
    names = ["resources", "required", "member_of", *(["in_tree"] if since >= 31 else [])]
    suffix = "([a-zA-Z0-9_-]{1,64})?$" if since >= 33 else "([1-9][0-9]*)?$"
    return object_of(properties) | {"patternProperties": {f"^{name}{suffix}": _STRING for name in names}}


_granular_candidates = versioned(_granular, 25, 31, 33, 35, 36)


def candidates_problem(version: int, params: Mapping[str, str]) -> str | None:
    """Returns what is wrong with the parameters at a microversion from 1.10, or None. All values are strings."""
    if _is_known_good(version, tuple(params), params.get("limit"), params.get("group_policy")):
        return None
    return (_plain_candidates if version < 25 else _granular_candidates)(version).problem(params)


@lru_cache(maxsize=1024)
def _is_known_good(version: int, names: tuple[str, ...], limit: str | None, group_policy: str | None) -> bool:
    """Cached, since the schema's verdict depends on nothing else, and most queries have one of a few forms."""
    given = {"limit": limit, "group_policy": group_policy}
    params = dict.fromkeys(names, "") | {name: value for name, value in given.items() if value is not None}
    return (_plain_candidates if version < 25 else _granular_candidates)(version).problem(params) is None


# -- usages, usage groups and quotas -----------------------------------------------------------------------------------

_USED_TYPE = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[A-Z0-9_]+$|^all$|^unknown$"}
usages_query = growing(
    (0, {"project_id": _OWNER, "user_id": _OWNER}), (38, {"consumer_type": _USED_TYPE}), required=["project_id"]
)
GROUPS_QUERY = Schema(
    object_of(
        {
            "group_by": {"enum": [choice.value for choice in GroupBy]},
            "project_id": _OWNER,
            "resource_classes": {"type": "string", "pattern": "^[A-Z0-9_]+(,[A-Z0-9_]+)*$"},
            "member_of": {"type": "string", "minLength": 1},
            "limit": {"type": "string", "pattern": "^[1-9][0-9]{0,8}$"},
            "marker": _OWNER,
        },
        ["group_by"],
    )
)
_QUOTA = object_of(
    {
        # one schema instead of two alternatives, because errors in alternatives are reported without their place
        "limit": {"type": ["integer", "null"], "minimum": 0, "maximum": 2**63 - 1},
        "used": {"type": "integer"},
    },
    ["limit"],
)
PUT_QUOTAS = Schema(all_of({"quotas": map_of(_CLASS_KEY, _QUOTA)}))
"""`used` is ignored: clients may send what they got."""
