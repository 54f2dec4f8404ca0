"""The page `docs/configuration.md`, made from the models, so that it cannot lack a setting. Types and defaults are
there as people say them: `list of texts`, `whole number from 1 to 256`, `5 years`."""

import re
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import yaml
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from limes.app.settings import root
from limes.app.settings.load import OVERRIDES
from limes.kernel.validation.durations import is_duration, say_duration
from limes.kernel.validation.sections import ListenAddress, Moment, Name, ResourcePath, documented_fields

_HEAD = """# Configuration

One YAML file: the one that `--config` or `LIMES_CONFIG` names, or else `/etc/limes/limes.yaml`, or else `limes.yaml` in
the current folder. `limes config init` writes a short one to start from; `config/limes.yaml` shows all keys in use.
`limes config check` reports everything that is wrong at once, and warns of entries that have no effect, such as a
behaviour for a resource that does not exist. Unknown keys are errors. Keys that the original Limes has too mean the
same here.

| type | is written as |
|---|---|
| duration | a number of seconds, or one with a unit: `30s`, `5m`, `2 hours`, `7 days`, `1 year` (365 days) |
| path | a path; a relative one counts from the folder of the configuration file |
| regular expression | a pattern in Python's syntax, such as `^iaas-.*$` |
| time | a date and a time: `2030-01-01T00:00:00Z` |
| name | letters, digits, `-`, `_` and `.`, beginning with a letter or digit |
| list of texts, list of names | a YAML list: `[one, two]` |
| names with texts, names with numbers | a YAML mapping: `{name: value}` |
| section, list of sections | the keys in the rows below it, such as `cors.max_age` for `cors: {max_age: 600}` |

A default of `-` means that the setting has no value.

`limes config options` writes this page; a test compares it with the code.
"""
_COLUMNS = ("key", "type", "default", "meaning")
_PLUGINS = {
    "discovery": "The [plugins for discovery](plugins.md#shipped-plugins) are [`list`](plugins.md#list),"
    " [`keystone`](plugins.md#keystone) and [`static`](plugins.md#static).",
    "services": "[Backend plugins](plugins.md) explains plugins in general. Those for services are"
    " [`cinder`](plugins/cinder.md), [`compute`](plugins/compute.md), [`dns`](plugins/dns.md),"
    " [`liquid`](plugins/liquid.md), [`loadbalancing`](plugins/loadbalancing.md), [`manila`](plugins/manila.md),"
    " [`network`](plugins/network.md), [`object-store`](plugins/object-store.md),"
    " [`placement`](plugins.md#placement), [`sharev2`](plugins/sharev2.md), [`static`](plugins.md#static) and"
    " [`volumev2`](plugins/volumev2.md).",
    "capacitors": "The plugins for capacity are [`cinder`](plugins/cinder.md), [`liquid`](plugins/liquid.md),"
    " [`manila`](plugins/manila.md), [`manual`](plugins.md#manual), [`nova`](plugins/nova.md),"
    " [`placement`](plugins.md#placement), [`prometheus`](plugins/prometheus.md), [`sharev2`](plugins/sharev2.md) and"
    " [`volumev2`](plugins/volumev2.md).",
}
"""What follows the description of a section whose entries name plugins."""
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
"""Types that are recognised by the function that reads them."""


class Row(NamedTuple):
    """What a table says of a setting, as Markdown."""

    key: str
    type: str
    default: str
    meaning: str


def say_type(field: FieldInfo) -> str:
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
        return _named(parts[1:]) or _say(parts[0], [*parts[1:], *metadata])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(_say(part, metadata) for part in parts if part is not type(None)))
    if origin is typing.Literal:
        return _choice([str(part) for part in parts])
    if origin is tuple:
        return f"list of {_plural(_say(parts[0]))}"
    if origin is dict:
        inner = _say(parts[1])
        if inner == "anything":
            return "keys with values"
        return f"names, each with {inner}" if inner.startswith("names with ") else f"names with {_plural(inner)}"
    return _say_plain(origin or annotation, metadata)


def _say_plain(kind: Any, metadata: Sequence[Any]) -> str:
    if named := _named(metadata):
        return named
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return "section"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choice([str(one.value) for one in kind if one.value])
    word = _PLAIN.get(kind, "text")
    return " ".join([word, *_bounds(metadata)]) if kind in (int, float) else word


def _named(metadata: Sequence[Any]) -> str | None:
    return next((_NAMED[id(check)] for check in metadata if id(check) in _NAMED), None)


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


def render_page() -> str:
    lines = [_HEAD]
    for name, field in documented_fields(root.Settings).items():
        model = _model_of(field.annotation)
        text = _clean(field.description or (model.__doc__ if model else "") or "")
        if model is None:
            shown = _default(field)
            default = shown if shown == "required" else "no default" if shown == "-" else f"default: {shown}"
            text += f" Type: {say_type(field)}; {default}."
        lines += [f"## `{name}`", "", text, ""]
        if name in _PLUGINS:
            lines += [_PLUGINS[name], ""]
        if model is not None:
            rows = (f"| {' | '.join(row)} |" for row in rows_of_model(model))
            lines += [f"| {' | '.join(_COLUMNS)} |", "|---|---|---|---|", *rows, ""]
    lines += ["## Environment", "", "These go before the file:", ""]
    lines += [f"- `{variable}`: `{'.'.join(path)}`" for variable, (path, _) in sorted(OVERRIDES.items())]
    lines += [
        "- `LIMES_DB_HOSTNAME`, `_PORT`, `_NAME`, `_USERNAME`, `_CONNECTION_OPTIONS`: the original's way to name a"
        " PostgreSQL database; together they make `database.url`",
        "- `LIMES_UI_CLIENT_SECRET_*`: `ui.sign_in_with[].client_secret` of the provider with this id",
        "- `LIMES_DEBUG`: `true` means `logging.level: DEBUG`",
        "- `OS_*`: the login at Keystone, where `identity.keystone` names none",
    ]
    return "\n".join(lines) + "\n"


def all_rows() -> Iterator[Row]:
    """A row for each setting, with its section, without Markdown in key, type and default."""
    for row in rows_of_model(root.Settings):
        key, kind, default, meaning = (text.replace("\\|", "|") for text in row)
        yield Row(key.strip("`"), kind.replace("`", ""), default.strip("`"), meaning)


def rows_of_model(model: type[BaseModel], prefix: str = "") -> Iterator[Row]:
    """Yields one row for each key, with those of the models within."""
    for name, field in documented_fields(model).items():
        key = f"{prefix}{field.alias or name}"
        inner = _model_of(field.annotation)
        text = _clean(field.description or (inner.__doc__ if inner else "") or "")
        default = "" if inner and not field.is_required() else _default(field)
        yield Row(f"`{key}`", say_type(field), default, text)
        if inner is not None:
            mark = "[]" if typing.get_origin(field.annotation) is tuple else ""
            yield from rows_of_model(inner, f"{key}{mark}.")


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """The model in an annotation: itself, or the items of its list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in typing.get_args(annotation) if (model := _model_of(part))), None)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    shown, size = say_default(field), say_size(field)
    return f"`{shown}`{f' ({size})' if size else ''}" if shown else "-"


def _clean(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip()).replace("|", "\\|")
