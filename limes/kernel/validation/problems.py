"""What pydantic finds wrong, in words for an operator: where, what was given, and what would be right."""

import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from pydantic import BaseModel, ValidationError

from limes.kernel.redaction import TELLING_KEY, redact

Location = tuple[int | str, ...]

_LONGEST_VALUE = 60
_MAPPING = "expected keys with values"
_MESSAGES: Mapping[str, str] = {
    "missing": "missing",
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float", "int_parsing_size"), "expected a whole number"),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), "expected a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "expected true or false"),
    "string_type": "expected a text",
    **dict.fromkeys(("list_type", "tuple_type"), "expected a list"),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), _MAPPING),
    "greater_than": "expected more than {gt:g}",
    "greater_than_equal": "expected at least {ge:g}",
    "less_than": "expected less than {lt:g}",
    "less_than_equal": "expected at most {le:g}",
    "string_too_long": "expected at most {max_length} characters",
    "string_pattern_mismatch": "expected something that matches {pattern}",
    "literal_error": "expected {expected}",
    "enum": "expected {expected}",
    **dict.fromkeys(
        ("datetime_parsing", "datetime_from_date_parsing", "datetime_type"),
        "expected a time such as 2030-01-01T00:00:00Z",
    ),
}
"""By pydantic's type of the error, with the values of its context."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns a hint at the nearest of the known names, to be put at the end of a message, or nothing."""
    import difflib  # rarely needed

    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""


def describe_problems(
    error: ValidationError, model: type[BaseModel], prefix: str = "", sources: Mapping[str, str] | None = None
) -> list[str]:
    """Returns one line for each problem of a document that is not valid for the model. `prefix` begins each path.
    `sources` says which environment variable a setting came from, by its path. Values are shown unless they may be
    secrets."""
    lines = []
    for item in error.errors():
        path = _path(item["loc"], prefix)
        message = _message(item, model)
        source = (sources or {}).get(path)
        where = f"{path} (from the environment variable {source})" if source else path
        lines.append(f"{where}: {message}" if where else message)
    return lines


def _path(location: Location, prefix: str) -> str:
    path = prefix
    for part in location:
        if part != "[key]":  # pydantic's way to say that it is the key that is wrong
            path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _message(item: Any, model: type[BaseModel]) -> str:
    kind, location = item["type"], item["loc"]
    if kind == "extra_forbidden":
        known = {key for owner in _models_at(model, location[:-1]) for key in keys_of(owner)}
        return f"unknown key{did_you_mean(str(location[-1]), known)}"
    if kind == "string_too_short" and item["ctx"]["min_length"] == 1:
        return "must not be empty"
    template = _MESSAGES.get(kind)
    if template is None:
        message = item["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    else:
        context = item.get("ctx", {})
        message = template.format(
            **{key: value if isinstance(value, str | int | float) else str(value) for key, value in context.items()}
        )
    given = _given(item["input"]) if message.startswith("expected") and not _is_secret(item, model) else ""
    return f"{message}{given}"


def _given(value: Any) -> str:
    """Returns what was given instead, as YAML shows it; a list or a mapping is only named."""
    if isinstance(value, str):
        text = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}..."
        return f", not {text!r}"
    if isinstance(value, bool | None):
        return f", not {'null' if value is None else str(value).lower()}"
    if isinstance(value, int | float | date):
        return f", not {value}"
    if isinstance(value, Mapping):
        return ", not keys with values"
    return ", not a list" if isinstance(value, Sequence) else ""


def _is_secret(item: Any, model: type[BaseModel]) -> bool:
    """Returns whether the value may be one, by its key, by how the model shows it, or by its form. A text in the place
    of a mapping or a list may be a secret that was put one level too high."""
    value, location = item["input"], item["loc"]
    if not isinstance(value, str):
        return False
    if item["type"] in ("dict_type", "mapping_type", "model_type", "model_attributes_type", "list_type", "tuple_type"):
        return True
    if any(TELLING_KEY.search(str(part)) for part in location) or "@" in value or redact(value) != value:
        return True
    owners = _models_at(model, location[:-1])
    fields = [owner.model_fields[name] for owner in owners for name in owner.model_fields if name == location[-1]]
    return not all(field.repr for field in fields)


def keys_of(model: type[BaseModel]) -> Collection[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _models_at(model: type[BaseModel], location: Location) -> list[type[BaseModel]]:
    """Returns the models that may be at a place of the document; more than one where there are alternatives."""
    models = [model]
    for part in location:
        if isinstance(part, int):
            continue
        fields = [
            field for owner in models for name, field in owner.model_fields.items() if part in (name, field.alias)
        ]
        if fields:  # anything else is the name of an alternative, or a key of a mapping
            models = [inner for field in fields for inner in _models_in(field.annotation)]
    return models


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from _models_in(part)
