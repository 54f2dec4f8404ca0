"""Types and defaults of settings as people say them: `list of texts`, `whole number from 1 to 256`, `5 years`."""

import re
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import yaml
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from limes.validation.durations import is_duration, say_duration
from limes.validation.sections import ListenAddress, Moment, Name, ResourcePath

_LARGEST_BOUND = 10**9
"""Bounds from here on only say that a number fits into a column."""
_PLAIN: Mapping[Any, str] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    SecretStr: "text",
    Path: "path",
    datetime: "time",
    re.Pattern: "regular expression",
    Any: "anything",
}
_NAMED = {
    id(typing.get_args(kind)[1]): words
    for kind, words in ((Name, "name"), (ListenAddress, "`HOST:PORT`"), (Moment, "time"), (ResourcePath, "text"))
}
"""Types that are told from others by the function that reads them."""


def say_type(field: FieldInfo) -> str:
    """Returns what a setting may be."""
    if is_duration(field):
        return "duration"
    return _say(field.annotation, field.metadata)


def say_default(field: FieldInfo) -> str:
    """Returns the default as it is written in the file, without marks of Markdown; empty where there is none."""
    value = field.get_default(call_default_factory=True)
    if value is None or value in ((), {}, ""):
        return ""
    return say_duration(value) if is_duration(field) else _in_yaml(value)


def say_size(field: FieldInfo) -> str:
    """Returns a default number of bytes in larger units, such as `10 MiB`; empty for other settings."""
    value = field.default
    if "ytes" not in (field.description or "") or not isinstance(value, int) or value < 2**10 or value % 2**10:
        return ""
    return f"{value // 2**20} MiB" if value % 2**20 == 0 else f"{value // 2**10} KiB"


def _say(annotation: Any, metadata: Sequence[Any] = ()) -> str:
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        named = next((_NAMED[id(check)] for check in parts[1:] if id(check) in _NAMED), None)
        return named or _say(parts[0], [*parts[1:], *metadata])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(_say(part, metadata) for part in parts if part is not type(None)))
    if origin is typing.Literal:
        return _choice([str(part) for part in parts])
    if origin is tuple:
        return f"list of {_plural(_say(parts[0]))}"
    if origin is dict:
        return _mapping(parts[1])
    return _say_plain(origin or annotation, metadata)


def _say_plain(kind: Any, metadata: Sequence[Any]) -> str:
    named = next((_NAMED[id(check)] for check in metadata if id(check) in _NAMED), None)
    if named is not None:
        return named
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return "section"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choice([str(one.value) for one in kind if one.value])
    word = _PLAIN.get(kind, "text")
    return " ".join([word, *_bounds(metadata)]) if kind in (int, float) else word


def _mapping(values: Any) -> str:
    inner = _say(values)
    if inner == "anything":
        return "keys with values"
    return f"names with {_plural(inner)}" if not inner.startswith("names with ") else f"names, each with {inner}"


def _bounds(metadata: Sequence[Any]) -> Iterator[str]:
    flat = [inner for one in metadata for inner in (one.metadata if isinstance(one, FieldInfo) else [one])]
    for bound in flat:
        if isinstance(bound, Gt):
            yield f"above {bound.gt}"
        if isinstance(bound, Ge):
            yield f"from {bound.ge}"
        if isinstance(bound, Le) and float(str(bound.le)) < _LARGEST_BOUND:
            yield f"to {bound.le}"


def _choice(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _plural(words: str) -> str:
    """`texts` for `text`, `whole numbers from 1` for `whole number from 1`; choices and mappings stay as they are."""
    if words.startswith(("`", "list", "names")):
        return words.replace("list of", "lists of", 1)
    return re.sub(r"(^|(?<= or ))((?:whole |regular )?\w+)", r"\1\2s", words)


def _in_yaml(value: Any) -> str:
    if isinstance(value, re.Pattern):
        return str(value.pattern)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, tuple):
        value = list(value)
    if isinstance(value, Path):
        value = str(value)
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...")
