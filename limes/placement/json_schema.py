"""JSON schemas, compiled once, with the wording of the jsonschema library: clients and their tests know it."""

import reprlib
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from typing import Any

import jsonschema
from jsonschema.exceptions import best_match

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
        self._validator = jsonschema.Draft202012Validator(document, format_checker=_formats)

    def problem(self, instance: Any) -> str | None:
        if self._validator.is_valid(instance):
            return None
        error = best_match(islice(self._validator.iter_errors(instance), _MOST_ERRORS))
        if error is None:
            return "invalid"
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
